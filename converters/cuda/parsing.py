"""From a file to a clean translation unit, or to diagnostics that say why there is none."""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from clang import cindex

from tmigrate.converters.cuda.options import FrontEndOptions
from tmigrate.diagnostics import Diagnostic, Note
from tmigrate.locations import Location

CUDA_FLAGS = (
    "-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-device-only", "--cuda-gpu-arch=sm_80",
    "--cuda-path=/nonexistent", "-Xclang", "-fcuda-allow-variadic-functions",
    "-Wno-everything", "-ferror-limit=50", "-fparse-all-comments",
)  # fmt: skip

# The preprocessing record tells macros from literals: `#define NI 512` becomes a named constant.
_PARSE_OPTIONS = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD

_EXPLICIT_INSTANCE = re.compile(
    rb"^[ \t]*template\s+(?:__global__\s+void|void\s+__global__)\s+([\w:]+[ \t]*<[^;{}()]*>)", re.MULTILINE
)


@dataclass(slots=True)
class ParsedFile:
    """A translation unit and the bytes of the files it was read from."""

    path: str
    unit: cindex.TranslationUnit | None
    diagnostics: list[Diagnostic]
    flags: tuple[str, ...]
    texts: dict[str, bytes] = field(default_factory=dict)

    def text_of(self, path: str) -> bytes:
        """The bytes of a source file; empty where it cannot be read."""
        found = self.texts.get(path)
        if found is None:
            try:
                found = Path(path).read_bytes()
            except OSError:
                found = b""
            self.texts[path] = found
        return found

    def slice(self, extent: cindex.SourceRange) -> str:
        """The source text of an extent, with runs of white space joined."""
        start, end = extent.start, extent.end
        if start.file is None or end.file is None or start.file.name != end.file.name:
            return ""
        raw = self.text_of(start.file.name)[start.offset : end.offset]
        return " ".join(raw.decode("utf-8", "replace").split())


def compat_include() -> Path:
    """The folder of our CUDA headers."""
    import tmigrate.compat

    return Path(next(iter(tmigrate.compat.__path__))) / "include"


def parse(path: Path, options: FrontEndOptions) -> ParsedFile:
    """Parse with our headers; where that fails, with the machine's CUDA headers before ours.

    Where neither is clean, the diagnostics are those of the first attempt.
    """
    first = _parse(path, options, _own_headers())
    if not first.diagnostics:
        return first
    folder = real_cuda_headers()
    if folder is None or not _may_be_headers(first.diagnostics):
        return first
    second = _parse(path, options, (*_own_headers(), "-idirafter", str(folder)))
    return first if second.diagnostics else second


def _may_be_headers(found: list[Diagnostic]) -> bool:
    return any("file not found" in d.message or "unknown type name" in d.message for d in found)


@lru_cache(maxsize=1)
def real_cuda_headers() -> Path | None:
    """The include folder of a CUDA toolkit on this machine, or None."""
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    for root in roots:
        if root and (Path(root) / "include" / "cuda_runtime.h").is_file():
            return Path(root) / "include"
    return None


def _own_headers() -> tuple[str, ...]:
    from tmigrate.tilelang.runtime.toolchain import builtin_include_flags

    folder = compat_include()
    flags = builtin_include_flags()
    return ("-isystem", str(folder), *flags, "-include", str(folder / "tm_frontend.h"))


def file_flags(path: Path, options: FrontEndOptions) -> list[str]:
    """Include folders, definitions and the standard for one file."""
    found = _compile_command_flags(path)
    flags = [f"-std={options.standard}", *found]
    flags += [f"-I{folder}" for folder in options.include_folders]
    flags += [f"-D{define}" for define in options.defines]
    flags.append(f"-I{path.parent or Path('.')}")
    return [*flags, *options.flags]


def _compile_command_flags(path: Path) -> list[str]:
    """-I, -D and -isystem of the file's entry in the nearest compile_commands.json above it."""
    for folder in path.resolve().parents[:6]:
        database = folder / "compile_commands.json"
        if database.is_file():
            return _read_database(database, path.resolve())
    return []


def _read_database(database: Path, path: Path) -> list[str]:
    try:
        entries = json.loads(database.read_text())
    except (OSError, ValueError):
        return []
    for entry in entries if isinstance(entries, list) else []:
        folder = Path(str(entry.get("directory", ".")))
        if (folder / str(entry.get("file", ""))).resolve() == path:
            words = entry.get("arguments") or shlex.split(str(entry.get("command", "")))
            return list(_kept_words([str(w) for w in words], folder))
    return []


def _kept_words(words: list[str], folder: Path) -> list[str]:
    kept: list[str] = []
    position = 0
    while position < len(words):
        word = words[position]
        for option in ("-isystem", "-I", "-D"):
            if word.startswith(option):
                value = word[len(option) :]
                if not value and position + 1 < len(words):
                    position += 1
                    value = words[position]
                if option != "-D":
                    value = str((folder / value).resolve())
                kept += [option + value] if option != "-isystem" else [option, value]
                break
        position += 1
    return kept


def _parse(path: Path, options: FrontEndOptions, headers: tuple[str, ...]) -> ParsedFile:
    flags = (*CUDA_FLAGS, *file_flags(path, options), *headers)
    name = str(path)
    try:
        text = path.read_bytes()
    except OSError as error:
        fault = Diagnostic("TM1001", f"cannot read the file: {error.strerror}", Location(name))
        return ParsedFile(name, None, [fault], flags)
    if b"\0" in text:
        fault = Diagnostic("TM1001", "this is a binary file, no CUDA source", Location(name))
        return ParsedFile(name, None, [fault], flags)
    full = text + _instance_lines(text, options.instantiate)
    decoded = full.decode("utf-8", "surrogateescape")
    try:
        unsaved = [(name, decoded)] if full != text and _encodes(decoded) else None
        unit = cindex.Index.create().parse(
            name, args=list(flags), unsaved_files=unsaved, options=_PARSE_OPTIONS
        )
    except cindex.TranslationUnitLoadError:
        fault = Diagnostic("TM1001", "clang cannot read this file at all", Location(name))
        return ParsedFile(name, None, [fault], flags)
    return ParsedFile(name, unit, _errors(unit, name), flags, {name: text})


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _instance_lines(text: bytes, wanted: tuple[str, ...]) -> bytes:
    """Declarations behind the last line that make clang instantiate kernels which no launch names."""
    explicit = [m.group(1).decode("utf-8", "replace") for m in _EXPLICIT_INSTANCE.finditer(text)]
    lines = [
        f"static const void *tm_instance_{n} = (const void *)({name});"
        for n, name in enumerate([*wanted, *explicit])
    ]
    return ("\n" + "\n".join(lines) + "\n").encode() if lines else b""


# What clang calls an error and this project has a name and a remedy for.
_KNOWN: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(pattern), code, remedy)
    for pattern, code, remedy in (
        (r"'cooperative_groups[\w./]*' file not found", "TM1018",
         "use __syncthreads() for a block and *_sync functions with mask 0xffffffff for a warp"),
        (r"'(cub|thrust)/[\w./]*' file not found", "TM1024", "write the operation out in the kernel"),
        (r"'mma\.h' file not found", "TM1040", "use the plain product"),
        (r"file not found", "TM1002", "name its folder with -I, or in compile_commands.json"),
        (r"(unknown type|no template) name.* .(cudaTextureObject_t|cudaSurfaceObject_t|texture|surface).",
         "TM1017", "read the array through a pointer"),
        (r"reference to __global__ function", "TM1023", "launch it from the host"),
        (r"cannot use '(try|throw)'", "TM1022", "return an error code"),
        (r"cannot use variable-length arrays", "TM1029", "use a constant upper bound"),
        (r"reference to __host__ variable", "TM1049", "make it __constant__ or pass it as a parameter"),
        (r"(reference|call) to __host__ function", "TM1049", "mark the function __device__"),
        (r"capture host variable", "TM1048", "capture it by value"),
    )
)  # fmt: skip


def _errors(unit: cindex.TranslationUnit, name: str) -> list[Diagnostic]:
    """Clang's errors as diagnostics, each with its notes."""
    found: list[Diagnostic] = []
    for d in unit.diagnostics:
        if d.severity < cindex.Diagnostic.Error:
            continue
        notes = tuple(Note(n.spelling, _place(n.location, name)) for n in list(d.children)[:4])
        words = " ".join([d.spelling, *(n.message for n in notes)])
        known = ((code, remedy) for pattern, code, remedy in _KNOWN if pattern.search(words))
        code, remedy = next(known, ("TM1001", ""))
        found.append(Diagnostic(code, d.spelling, _place(d.location, name), remedy=remedy, notes=notes))
    return found


def _place(location: cindex.SourceLocation, name: str) -> Location:
    if location.file is None:
        return Location(name)
    return Location(location.file.name, location.line, location.column)
