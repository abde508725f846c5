"""Finding compilers, the object cache, and headers for libclang."""

from __future__ import annotations

import ctypes
import os
import stat
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tmigrate.diagnostics import ToolchainError
from tmigrate.tilelang.runtime import compilers, headers
from tmigrate.tilelang.runtime.cache import cache_folder, cached, trim
from tmigrate.tilelang.runtime.compilers import Compiler, Compilers
from tmigrate.tilelang.runtime.objects import CUnit, compile_c, compile_many

EXPORTED = '__attribute__((visibility("default"))) '
ANSWER = EXPORTED + "int answer(void) { return 42; }\nint hidden(void) { return 1; }\n"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of this test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("TMIGRATE_CACHE", str(folder))
    monkeypatch.delenv("TMIGRATE_CC", raising=False)
    monkeypatch.delenv("TMIGRATE_CXX", raising=False)
    return folder


def script(folder: Path, name: str, body: str) -> Path:
    """An executable shell script."""
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def hide_system_compilers(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Leave only the programs of ``folder`` on the path."""
    folder.mkdir(exist_ok=True)
    monkeypatch.setenv("PATH", str(folder))


def zig() -> Compilers:
    """The pair of the ziglang package."""
    pytest.importorskip("ziglang")
    return next(pair for pair in compilers.usable_pairs() if pair.c.kind == "zig")


def test_a_compiler_without_headers_is_passed_over(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ziglang")
    fails = 'case "$1" in --version) echo "gcc 99";; *) echo "math.h: No such file" >&2; exit 1;; esac'
    for name in ("gcc", "g++"):
        script(tmp_path / "bin", name, fails)
    hide_system_compilers(monkeypatch, tmp_path / "bin")
    found = compilers.find_compilers()
    assert (found.c.kind, found.cxx.kind) == ("zig", "zig")


def test_no_compiler_at_all_names_the_remedy(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_system_compilers(monkeypatch, tmp_path / "empty")
    monkeypatch.setattr(compilers, "zig_folder", lambda: None)
    with pytest.raises(ToolchainError) as caught:
        compilers.find_compilers()
    assert caught.value.diagnostic.code == "TM5001"
    assert "tmigrate[compiler]" in caught.value.diagnostic.remedy


def test_the_environment_chooses_the_c_compiler(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = zig().c.command
    monkeypatch.setenv("TMIGRATE_CC", " ".join(command))
    assert compilers.find_compilers().c.command == command


@pytest.mark.parametrize("command", ["/no/such/compiler", "false"])
def test_a_wrong_choice_is_an_error_not_a_fallback(
    cache: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("TMIGRATE_CC", command)
    with pytest.raises(ToolchainError, match="TMIGRATE_CC"):
        compilers.find_compilers()


def test_a_remembered_compiler_is_tried_again_when_its_headers_go(cache: Path, tmp_path: Path) -> None:
    header = tmp_path / "math.h"
    body = (
        f'[ -e {header} ] || exit 1\nwhile [ "$1" != -MF ]; do shift; done\necho "probe.o: {header}" > "$2"'
    )
    program = script(tmp_path / "bin", "cc", body)
    compiler = Compiler((str(program),), "gcc", "c", "cc 1", "identity")
    header.write_text("")
    assert compilers.works(compiler)
    header.unlink()
    assert not compilers.works(compiler)
    header.write_text("")
    assert compilers.works(compiler)


def test_a_compiler_that_hangs_is_stopped(cache: Path, tmp_path: Path) -> None:
    compiler = Compiler(
        (str(script(tmp_path / "bin", "cc", "exec sleep 60")),), "gcc", "c", "cc 1", "identity"
    )
    with pytest.raises(ToolchainError, match="did not finish within"):
        compilers.run_compiler(compiler, ["-c", "x.c"], timeout=0.2)


def test_zig_announces_the_build_of_its_library_once(cache: Path, tmp_path: Path) -> None:
    told: list[str] = []

    @contextmanager
    def tell(message: str) -> Iterator[None]:
        told.append(message)
        yield

    program = str(script(tmp_path / "bin", "zig", "exit 0"))
    compiler = Compiler((program, "c++"), "zig", "c++", "zig 0", "identity")
    before = compilers.announce
    compilers.set_announcer(tell)
    try:
        compilers.run_compiler(compiler, ["-c", "a.cpp"])
        assert told == []
        compilers.run_compiler(compiler, ["a.cpp", "-o", "a"])
        compilers.run_compiler(compiler, ["b.cpp", "-o", "b"])
        assert len(told) == 1
        compilers.run_compiler(compiler, ["-shared", "-fPIC", "b.cpp", "-o", "b.so"])
        assert len(told) == 2
    finally:
        compilers.set_announcer(before)


def test_links_that_wait_for_the_build_of_zigs_library_do_not_announce_it_again(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    started = threading.Barrier(2)

    @contextmanager
    def tell(message: str) -> Iterator[None]:
        told.append(message)
        yield

    @contextmanager
    def locked(name: str) -> Iterator[None]:
        started.wait(timeout=10)  # both found the library missing
        with lock:
            yield

    lock = threading.Lock()
    compiler = Compiler((str(script(tmp_path / "bin", "zig", "exit 0")), "c++"), "zig", "c++", "zig 0", "id")
    monkeypatch.setattr(compilers, "_announcer", tell)
    monkeypatch.setattr(compilers, "locked", locked)
    with ThreadPoolExecutor(2) as pool:
        links = [pool.submit(compilers.run_compiler, compiler, [f"{n}.cpp", "-o", n]) for n in ("a", "b")]
        assert [link.result().returncode for link in links] == [0, 0]
    assert len(told) == 1


def test_an_object_exports_what_it_marks_and_nothing_else(cache: Path) -> None:
    library = ctypes.CDLL(str(compile_c(ANSWER, name="answer")))
    assert library.answer() == 42
    assert not hasattr(library, "hidden")


def test_an_object_calls_its_own_functions_not_the_programs(cache: Path) -> None:
    """Two objects with a helper of one name: each must reach its own (``-Bsymbolic``)."""
    source = (
        EXPORTED
        + "int helper(void) {{ return {0}; }}\n"
        + EXPORTED
        + "int call{0}(void) {{ return helper(); }}\n"
    )
    first = ctypes.CDLL(str(compile_c(source.format(1), name="a", flags=("-O0",))), mode=ctypes.RTLD_GLOBAL)
    second = ctypes.CDLL(str(compile_c(source.format(2), name="b", flags=("-O0",))), mode=ctypes.RTLD_GLOBAL)
    assert (first.call1(), second.call2()) == (1, 2)


def test_the_cache_answers_for_equal_sources_only(cache: Path, tmp_path: Path) -> None:
    include = tmp_path / "include"
    include.mkdir()
    (include / "value.h").write_text("#define VALUE 1\n")
    source = '#include "value.h"\n' + EXPORTED + "int value(void) { return VALUE; }\n"
    first = compile_c(source, name="value", include_folders=(include,))
    stamp = first.stat().st_ino
    assert compile_c(source, name="value", include_folders=(include,)) == first
    assert first.stat().st_ino == stamp
    assert compile_c(source, name="value", include_folders=(include,), flags=("-O1",)) != first
    (include / "value.h").write_text("#define VALUE 2\n")
    changed = compile_c(source, name="value", include_folders=(include,))
    assert ctypes.CDLL(str(changed)).value() == 2


def test_many_processes_may_build_the_same_object(cache: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        built = set(pool.map(lambda _: compile_c(ANSWER, name="answer"), range(8)))
    assert len(built) == 1
    assert os.listdir(cache / "objects") == [built.pop().name]


def test_many_units_come_back_in_order(cache: Path) -> None:
    units = [CUnit(EXPORTED + f"int value(void) {{ return {i}; }}\n", f"unit{i}") for i in range(3)]
    assert [ctypes.CDLL(str(path)).value() for path in compile_many(units)] == [0, 1, 2]


def test_a_compile_error_shows_the_compilers_lines(cache: Path) -> None:
    with pytest.raises(ToolchainError) as caught:
        compile_c("int f(void) {\n  return undeclared_name;\n}\n", name="bad")
    assert caught.value.diagnostic.code == "TM5002"
    assert "bad.c:2:" in caught.value.diagnostic.message
    assert "undeclared_name" in caught.value.diagnostic.message


def test_zig_compiles_for_this_cpu(cache: Path) -> None:
    path = compile_c(ANSWER, name="answer", flags=("-O3", "-march=native"), compiler=zig().c)
    assert ctypes.CDLL(str(path)).answer() == 42


def parse_errors(flags: list[str], source: str) -> list[str]:
    """What libclang says about a CUDA source with these headers."""
    from clang import cindex

    args = [*headers.CUDA_FLAGS, *flags]
    unit = cindex.Index.create().parse("k.cu", args=args, unsaved_files=[("k.cu", source)])
    return [d.spelling for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]


def test_libclang_parses_the_systems_headers(cache: Path) -> None:
    assert (
        parse_errors(
            headers.builtin_include_flags(), headers.PROBE + "std::vector<double> v(3, std::exp(1.0));"
        )
        == []
    )


def test_libclang_parses_zigs_headers_where_the_system_has_none(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ziglang")
    hide_system_compilers(monkeypatch, tmp_path / "empty")
    flags = headers.builtin_include_flags()
    assert not [flag for flag in flags if flag.startswith("/usr/")]
    assert parse_errors(flags, headers.PROBE + "std::string s = std::to_string(std::max(1, 2));") == []
    assert parse_errors(flags, "#include <no_such_header>\n") != []


def test_the_cache_keeps_what_was_used_last(cache: Path) -> None:
    folder = cache_folder("programs")
    ages = {"old": 9000, "older": 9500, "oldest": 9900, "new": 10}
    for name, age in ages.items():
        (folder / name).write_bytes(bytes(100))
        os.utime(folder / name, (time.time() - age, time.time() - age))
    assert cached(folder / "oldest") and not cached(folder / "missing")
    trim("programs", most_bytes=200)
    assert {path.name for path in folder.iterdir()} == {"new", "oldest"}
    trim("programs", most_bytes=0)  # both were used within the hour
    assert {path.name for path in folder.iterdir()} == {"new", "oldest"}
