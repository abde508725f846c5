"""Build a CUDA program for the CPU: preprocess, rewrite the launches, compile, link with the runtime."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tmigrate.diagnostics import Diagnostic, Severity, SourceError, ToolchainError
from tmigrate.locations import Location
from tmigrate.oracle.rewrite import rewrite
from tmigrate.tilelang.runtime.cache import cache_folder, cached, content_key, folder_key, locked, trim
from tmigrate.tilelang.runtime.toolchain import Compiler, find_compilers, run_compiler

RUNTIME = Path(__file__).parent / "runtime"
ARITHMETIC = ("-O2", "-fwrapv", "-ffp-contract=off", "-fno-builtin")
"""What decides the value of an expression; regenerated thread-level code is compiled alike."""

_COMMON = (
    "-fno-strict-aliasing",
    "-g1",
    "-fno-omit-frame-pointer",
    "-fno-optimize-sibling-calls",
    "-pthread",
    "-w",
)
_RUNTIME_FLAGS = ("-O2", "-g1", "-fno-omit-frame-pointer", "-pthread", "-std=c++17")
_UNDEFINED = "-fsanitize=float-cast-overflow,shift-exponent"  # reported by runtime/undefined.cpp
_SHARED_PARTS = ("launch", "memory", "device", "manifest", "reports")
_PARTS = {
    "oracle": (
        *_SHARED_PARTS,
        "fiber",
        "scheduler",
        "warp",
        "print",
        "replay",
        "variations",
        "compare",
        "shadow",
        "undefined",
        "nocheck",
    ),
    "check": (
        *_SHARED_PARTS,
        "fiber",
        "scheduler",
        "warp",
        "print",
        "replay",
        "variations",
        "compare",
        "shadow",
        "undefined",
        "check",
    ),
    "run": (*_SHARED_PARTS, "run", "nocheck"),
}
_ERROR_LINE = re.compile(
    r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:(?P<column>\d+):)? (?:fatal )?error: (?P<message>.*)$", re.M
)
_C_SUFFIXES = {".c"}
_PLAIN_CXX = {".cpp", ".cc", ".cxx", ".C"}


@dataclass(frozen=True, slots=True)
class Built:
    """A program ready to run: its executable, and how it was made."""

    executable: Path
    mode: str
    sources: tuple[Path, ...]
    key: str


def build(
    source: Path | Sequence[Path],
    flags: Sequence[str] = (),
    mode: str = "oracle",
    *,
    compiler: Compiler | None = None,
    timeout: float = 300.0,
) -> Built:
    """Build the program of ``source`` (one file, or all its translation units) into the cache.

    ``flags`` are the preprocessor's and ``-std=``, ``-l``, ``-L``; others are ignored.  Modes: ``oracle``
    emulates kernels, ``check`` also watches each access for races, bounds and initialisation, ``run`` holds
    no kernel bodies and takes regenerated kernels from a manifest.  Raises SourceError (TM4001, TM4002)
    where the program does not compile, ToolchainError where the compiler itself fails.
    """
    if mode not in _PARTS:
        raise ValueError(f"unknown mode {mode!r}")
    sources = (source,) if isinstance(source, Path) else tuple(source)
    driver = compiler or find_compilers().cxx
    own = _user_flags(flags)
    texts = [_prepare(path, own, mode, driver, timeout, unit) for unit, path in enumerate(sources)]
    runtime = _runtime_objects(mode, driver, timeout)
    compile_flags = _compile_flags(flags, mode, driver)
    link_flags = [f for f in flags if f.startswith(("-l", "-L"))]
    parts = [driver.identity, mode, *compile_flags, *link_flags, *texts, *(str(o) for o in runtime)]
    key = content_key(parts)
    executable = cache_folder("programs") / key
    if not cached(executable):
        _compile_and_link(sources, texts, compile_flags, link_flags, runtime, driver, executable, timeout)
        trim("programs")
    return Built(executable, mode, sources, key)


def include_folder() -> Path:
    """Our public CUDA headers."""
    from tmigrate import compat

    return Path(str(compat.__file__)).parent / "include"


def preprocess(path: Path, flags: Sequence[str], mode: str, compiler: Compiler, timeout: float) -> str:
    """The text after ``-E``, with line marks, in which CUDA's qualifiers survive as markers."""
    words = ["-E", "-x", "c" if path.suffix in _C_SUFFIXES else "c++", *_mode_defines(mode)]
    if path.suffix not in _C_SUFFIXES:
        words += ["-std=" + _standard(flags)]
    words += [*(f for f in flags if not f.startswith("-std=")), "-isystem", str(include_folder())]
    if path.suffix not in _C_SUFFIXES | _PLAIN_CXX:
        words += ["-include", "cuda_runtime.h"]
    done = run_compiler(compiler, [*words, "-w", str(path)], timeout=timeout)
    if done.returncode != 0:
        raise _compile_error(done.stderr, path)
    return done.stdout


def _prepare(
    path: Path, flags: Sequence[str], mode: str, compiler: Compiler, timeout: float, unit: int
) -> str:
    text = preprocess(path, flags, mode, compiler, timeout)
    if path.suffix in _C_SUFFIXES:
        return text
    return rewrite(text, keep_bodies=mode != "run", name=str(path), unit=unit)


def _mode_defines(mode: str) -> list[str]:
    if mode == "run":
        return ["-D__TMIGRATE_RUN__"]
    return ["-D__TMIGRATE_ORACLE__", *(["-D__TMIGRATE_CHECK__"] if mode == "check" else [])]


def _user_flags(flags: Sequence[str]) -> list[str]:
    """Those of the flags that the preprocessor needs, with their arguments."""
    kept: list[str] = []
    words = iter(flags)
    for word in words:
        if word in ("-I", "-D", "-U", "-include", "-isystem", "-iquote"):
            kept += [word, next(words, "")]
        elif word.startswith(("-I", "-D", "-U", "-std=", "-isystem", "-iquote")):
            kept.append(word)
    return kept


def _standard(flags: Sequence[str]) -> str:
    """C++17 or what the program asks for beyond it: our headers use C++17."""
    asked = [f.removeprefix("-std=") for f in flags if f.startswith("-std=")]
    newer = [s for s in asked if s.removeprefix("gnu++").removeprefix("c++") in ("20", "2a", "23", "2b")]
    return newer[-1] if newer else "gnu++17" if asked and asked[-1].startswith("gnu") else "c++17"


def _compile_flags(flags: Sequence[str], mode: str, compiler: Compiler) -> list[str]:
    # zig's driver would add its own thread sanitizer to the link: only the compiler inside it is asked.
    thread = ["-Xclang", "-fsanitize=thread"] if compiler.kind == "zig" else ["-fsanitize=thread"]
    checked = {"check": [_UNDEFINED, *thread], "oracle": [_UNDEFINED]}.get(mode, [])
    return [*ARITHMETIC, *_COMMON, f"-std={_standard(flags)}", *checked]


def _compile_and_link(
    sources: Sequence[Path],
    texts: Sequence[str],
    flags: Sequence[str],
    link_flags: Sequence[str],
    runtime: Sequence[Path],
    compiler: Compiler,
    executable: Path,
    timeout: float,
) -> None:
    with TemporaryDirectory(prefix="tmigrate-build-", dir=executable.parent) as folder:
        objects: list[str] = []
        for number, (path, text) in enumerate(zip(sources, texts, strict=True)):
            is_c = path.suffix in _C_SUFFIXES
            unit = Path(folder) / f"unit{number}.{'i' if is_c else 'ii'}"
            unit.write_text(text)
            words = [f for f in flags if not (is_c and f.startswith("-std="))]
            language = _preprocessed_language(compiler, is_c)
            words += ["-x", language, "-c", str(unit), "-o", str(unit.with_suffix(".o"))]
            done = run_compiler(compiler, words, timeout=timeout)
            if done.returncode != 0:
                raise _compile_error(done.stderr, path)
            objects.append(str(unit.with_suffix(".o")))
        program = Path(folder) / "program"
        # Zig builds its C++ library at the first link, a small one a fifth faster; objects stay as they are.
        words = [
            *(("-Os",) if compiler.kind == "zig" else ()),
            *objects,
            *(str(o) for o in runtime),
            "-o",
            str(program),
            "-pthread",
            "-ldl",
            "-lm",
            *link_flags,
        ]
        done = run_compiler(compiler, words, timeout=timeout)
        if done.returncode != 0:
            raise _link_error(done.stderr, sources[0])
        program.replace(executable)


def _preprocessed_language(compiler: Compiler, is_c: bool) -> str:
    """What ``-x`` says for preprocessed text; zig has no such name, and a second pass changes nothing."""
    if compiler.kind == "zig":
        return "c" if is_c else "c++"
    return "cpp-output" if is_c else "c++-cpp-output"


def _runtime_objects(mode: str, compiler: Compiler, timeout: float) -> list[Path]:
    """The runtime's objects for a mode, compiled once per compiler and text, two at a time."""
    from tmigrate import tilelang

    abi = Path(str(tilelang.__file__)).parent / "targets" / "cpu" / "runtime"
    headers = folder_key([RUNTIME, abi, include_folder()], ("*.h", "*.inc"))

    def compiled(part: str) -> Path:
        # Only the allocator differs in check mode (what fresh memory holds); other parts are shared.
        checked = ["-D__TMIGRATE_CHECK__"] if mode == "check" and part == "memory" else []
        words = [*_RUNTIME_FLAGS, "-D__TMIGRATE_ORACLE__", *checked]
        # Where the headers stand changes nothing: two installations share the objects.
        key = content_key([compiler.identity, headers, (RUNTIME / f"{part}.cpp").read_bytes(), *words])
        found = ["-isystem", str(include_folder()), "-I", str(abi)]
        return _runtime_object(part, key, [*words, *found], compiler, timeout)

    largest_first = sorted(_PARTS[mode], key=lambda part: -(RUNTIME / f"{part}.cpp").stat().st_size)
    with ThreadPoolExecutor(max_workers=2) as pool:
        return list(pool.map(compiled, largest_first))


def _runtime_object(part: str, key: str, words: Sequence[str], compiler: Compiler, timeout: float) -> Path:
    source = RUNTIME / f"{part}.cpp"
    made = cache_folder("oracle") / f"{part}-{key}.o"
    if made.exists():
        return made
    # The two builds of a program begin at once, and share most parts.
    with locked(f"oracle-{part}"), TemporaryDirectory(prefix="tmigrate-runtime-", dir=made.parent) as folder:
        if made.exists():
            return made
        out = Path(folder) / "part.o"
        done = run_compiler(compiler, [*words, "-c", str(source), "-o", str(out)], timeout=timeout)
        if done.returncode != 0:
            message = f"the oracle's runtime ({part}.cpp) does not compile: {_first_line(done.stderr)}"
            raise ToolchainError(Diagnostic("TM4003", message))
        out.replace(made)
    return made


def _first_line(text: str) -> str:
    errors = [line for line in text.splitlines() if "error" in line]
    return errors[0] if errors else text.strip().splitlines()[0] if text.strip() else "no message"


def _compile_error(text: str, path: Path) -> SourceError:
    """All errors that the compiler found, each at its place in the user's file."""
    found = [
        Diagnostic(
            "TM4002",
            match["message"],
            Location(match["file"], int(match["line"]), int(match["column"] or 0)),
            Severity.ERROR,
        )
        for match in _ERROR_LINE.finditer(text)
    ]
    return SourceError(found[:20] or [Diagnostic("TM4002", _first_line(text), Location(str(path)))])


def _link_error(text: str, path: Path) -> SourceError:
    missing = sorted(set(re.findall(r"undefined (?:reference to|symbol:?) [`'\"]?([^'`\"\n]+)", text)))
    if missing:
        message = "the program does not link: undefined " + ", ".join(missing[:5])
        remedy = "name the program's other source files, or its libraries with -l"
        return SourceError(Diagnostic("TM4002", message, Location(str(path)), remedy=remedy))
    return SourceError(
        Diagnostic("TM4002", f"the program does not link: {_first_line(text)}", Location(str(path)))
    )
