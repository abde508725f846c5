"""Which C and C++ compilers this machine has, and which of them work.

Order: ``$TMIGRATE_CC``/``$TMIGRATE_CXX``, gcc/g++, clang/clang++, then the ``ziglang`` package.  A compiler
without headers (a slim container has ``gcc`` and an empty ``/usr/include``) is found by compiling two
trivial files, and passed over.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from tmigrate.diagnostics import Diagnostic, ToolchainError
from tmigrate.tilelang.runtime.cache import cache_folder, content_key, locked, write_atomically

Announcer = Callable[[str], AbstractContextManager[object]]
"""Called with a sentence before a slow step; the step runs inside the context it returns."""

_PROBES = {
    "c": "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\nint probe(void) { return 0; }\n",
    "c++": "#include <vector>\n#include <cmath>\nint probe() { return std::vector<int>(1)[0]; }\n",
}
_PAIRS = (("gcc", "gcc", "g++"), ("clang", "clang", "clang++"))


@dataclass(frozen=True, slots=True)
class Compiler:
    """One driver: ``command`` starts it; ``identity`` changes whenever its output might."""

    command: tuple[str, ...]
    kind: str  # "gcc", "clang" or "zig"
    language: str  # "c" or "c++"
    version: str
    identity: str

    def spell(self, flag: str) -> str:
        """``flag``, a gcc spelling, as this compiler wants it."""
        if flag == "-march=native" and (self.kind == "zig" or platform.machine() in ("arm64", "aarch64")):
            return "-mcpu=native"
        return flag

    def environment(self) -> dict[str, str]:
        """The environment to start ``command`` in: zig keeps its built libraries in our cache."""
        if self.kind != "zig":
            return dict(os.environ)
        folder = str(cache_folder("zig"))
        return {**os.environ, "ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder}


@dataclass(frozen=True, slots=True)
class Compilers:
    """The drivers in use."""

    c: Compiler
    cxx: Compiler


def find_compilers() -> Compilers:
    """The compilers that will be used; raises ToolchainError (TM5001) where none works."""
    asked = (os.environ.get("TMIGRATE_CC", ""), os.environ.get("TMIGRATE_CXX", ""))
    return _find(*asked, os.environ.get("PATH", ""), str(cache_folder()))


@lru_cache(maxsize=8)
def _find(asked_c: str, asked_cxx: str, path: str, cache: str) -> Compilers:
    c = _asked_compiler(asked_c, "c") if asked_c else None
    cxx = _asked_compiler(asked_cxx, "c++") if asked_cxx else None
    if c and cxx:
        return Compilers(c, cxx)
    for found in usable_pairs():
        return Compilers(c or found.c, cxx or found.cxx)
    message = "no C and C++ compiler works on this machine"
    raise ToolchainError(Diagnostic("TM5001", message, remedy='pip install "tmigrate[compiler]"'))


def _asked_compiler(command: str, language: str) -> Compiler:
    words = shlex.split(command)
    where = shutil.which(words[0])
    variable = "TMIGRATE_CC" if language == "c" else "TMIGRATE_CXX"
    if where is None:
        raise ToolchainError(Diagnostic("TM5001", f"${variable} names '{words[0]}', which is not a program"))
    compiler = _describe((where, *words[1:]), language)
    if not works(compiler):
        message = f"${variable} names '{command}', which does not compile a file with standard headers"
        remedy = f"name another compiler, or unset ${variable}"
        raise ToolchainError(Diagnostic("TM5001", message, remedy=remedy))
    return compiler


def usable_pairs() -> Iterator[Compilers]:
    """Every pair of drivers that works, the preferred first."""
    for _, c_name, cxx_name in _PAIRS:
        c_path, cxx_path = shutil.which(c_name), shutil.which(cxx_name)
        if not c_path or not cxx_path:
            continue
        pair = Compilers(_describe((c_path,), "c"), _describe((cxx_path,), "c++"))
        if works(pair.c) and works(pair.cxx):
            yield pair
    zig = zig_folder()
    if zig is not None:
        program = str(zig / "zig")
        target = _zig_target()
        yield Compilers(
            _describe((program, "cc", *target), "c"),
            _describe((program, "c++", *target), "c++"),
        )


def zig_folder() -> Path | None:
    """Where the ``ziglang`` package is installed."""
    spec = find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0])
    return folder if (folder / "zig").exists() else None


def _zig_target() -> tuple[str, ...]:
    """Zig's arguments for this machine with zig's own headers, whatever ``/usr/include`` holds.

    UBSan, which zig switches on by itself, would turn C's undefined cases into traps.
    """
    quiet = ("-fno-sanitize=undefined",)
    if sys.platform != "linux":
        return quiet
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    libc = "musl" if "musl" in multiarch else "gnu"
    return ("-target", f"{platform.machine()}-linux-{libc}", *quiet)


@lru_cache(maxsize=32)
def _describe(command: tuple[str, ...], language: str) -> Compiler:
    program = Path(command[0]).resolve()
    status = program.stat()
    is_zig = program.name.startswith("zig") or (len(command) > 1 and command[1] in ("cc", "c++"))
    answer = _ask([command[0], "version"] if is_zig else [*command, "--version"])
    first = answer.splitlines()[0].strip() if answer.strip() else "unknown version"
    kind = "zig" if is_zig else "clang" if "clang" in answer.lower() else "gcc"
    version = f"zig {first}" if is_zig else first
    identity = content_key([*command, str(program), str(status.st_size), str(status.st_mtime_ns), version])
    return Compiler(command, kind, language, version, identity)


def _ask(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def works(compiler: Compiler) -> bool:
    """Whether the compiler links a shared object from a file that includes standard headers.

    A success is remembered on disk with the headers it used, and holds as long as they exist; a failure
    is not remembered, so that installing the missing headers is enough.
    """
    if compiler.kind == "zig":
        return True  # it carries its own headers; linking C++ here would build its C++ library
    record = cache_folder("probes") / f"{compiler.identity}.json"
    if _remembered(record):
        return True
    with tempfile.TemporaryDirectory(prefix="tmigrate-probe-") as folder:
        source = Path(folder) / ("probe.c" if compiler.language == "c" else "probe.cpp")
        source.write_text(_PROBES[compiler.language])
        depends = Path(folder) / "probe.d"
        built = Path(folder) / "probe.so"
        words = ["-shared", "-fPIC", "-MD", "-MF", str(depends), str(source), "-o", str(built)]
        if run_compiler(compiler, words, timeout=60).returncode != 0 or not depends.exists():
            return False
        headers = re.findall(r"\S+", depends.read_text().replace("\\\n", " "))[1:]
    lasting = [header for header in headers if os.path.isabs(header) and folder not in header]
    write_atomically(record, json.dumps(lasting).encode())
    return True


def _remembered(record: Path) -> bool:
    try:
        headers = json.loads(record.read_text())
    except (OSError, ValueError):
        return False
    return bool(headers) and all(os.path.exists(header) for header in headers)


_announcer: Announcer = lambda message: nullcontext()  # noqa: E731


def set_announcer(announcer: Announcer) -> None:
    """Choose who is told about slow steps (the command line shows a spinner)."""
    global _announcer
    _announcer = announcer


def announce(message: str) -> AbstractContextManager[object]:
    """Tell whoever listens that a slow step begins; it runs inside the context."""
    return _announcer(message)


def run_compiler(
    compiler: Compiler,
    arguments: Sequence[str],
    *,
    timeout: float = 300.0,
    cwd: Path | None = None,
    standard_input: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the driver and return its status and output; raises ToolchainError only where it cannot finish.

    Flags are gcc's; those that the compiler spells otherwise are translated.  ``timeout`` is in seconds.
    """
    words = [compiler.spell(argument) for argument in arguments]
    if compiler.kind != "zig" or compiler.language != "c++" or _compiles_only(words):
        return _run(compiler, words, timeout, cwd, standard_input)
    return _first_link(compiler, words, timeout, cwd, standard_input)


def _compiles_only(arguments: Sequence[str]) -> bool:
    return any(a in ("-c", "-E", "-S", "-fsyntax-only", "-M", "-MM") for a in arguments)


def _run(
    compiler: Compiler, arguments: Sequence[str], timeout: float, cwd: Path | None, standard_input: str | None
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [*compiler.command, *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            cwd=cwd,
            input=standard_input,
            stdin=subprocess.DEVNULL if standard_input is None else None,
            env=compiler.environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        message = f"{compiler.version} did not finish within {timeout:.0f} s"
        raise ToolchainError(Diagnostic("TM5002", message)) from None
    except OSError as error:
        message = f"{compiler.command[0]} cannot be started: {error}"
        raise ToolchainError(Diagnostic("TM5002", message)) from None


def _first_link(
    compiler: Compiler, words: Sequence[str], timeout: float, cwd: Path | None, standard_input: str | None
) -> subprocess.CompletedProcess[str]:
    """Link C++ with zig, which builds its C++ library once for each CPU and each of -shared or not."""
    matters = ("-mcpu", "-march", "-fPIC", "-shared")
    setting = sorted(word for word in words if word.startswith(matters))
    mark = cache_folder("zig") / f"ready-{content_key([compiler.identity, *setting])}"
    if mark.exists():
        return _run(compiler, words, timeout, cwd, standard_input)
    with locked("zig"):
        if not mark.exists():  # else someone built it while this one waited for the lock
            with announce(f"Building the C++ library of {compiler.version} (once, a minute or two)"):
                done = _run(compiler, words, timeout + 900.0, cwd, standard_input)
            if done.returncode == 0:
                write_atomically(mark, b"")
            return done
    return _run(compiler, words, timeout, cwd, standard_input)
