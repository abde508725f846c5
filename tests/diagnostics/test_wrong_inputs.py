"""Wrong inputs of every kind, through the whole command: a clear message and the right exit status.

Programs that misbehave are one source whose arguments choose how, so that it is built once.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tmigrate.cli import status_of
from tmigrate.verification import replay

SECONDS = 5.0  # the least time that verification gives a program
MANY = 120.0  # seconds in which every command here must be done, on a slow and busy machine

KERNEL = "__global__ void scale(float* x, int n)\n{\n    if (threadIdx.x < n) x[threadIdx.x] = 2.0f;\n}\n"


@dataclass(frozen=True)
class Said:
    """How a command ended: its exit status, its two outputs, and how long it took."""

    status: int
    out: str
    err: str
    seconds: float = 0.0

    def about(self, start: str) -> list[list[str]]:
        """The lines of each diagnostic that begins so."""
        found = [part.strip("\n").splitlines() for part in self.err.split("\n\n")]
        return [lines for lines in found if lines and lines[0].startswith(start)]


Tmigrate = Callable[..., Said]


@pytest.fixture
def tmigrate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Tmigrate:
    """The command, in an empty folder; it never shows a traceback nor takes forever."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Said:
        capfd.readouterr()
        started = time.monotonic()
        status = status_of(list(words))
        out, err = capfd.readouterr()
        seconds = time.monotonic() - started
        assert "Traceback" not in out + err
        assert seconds < MANY
        return Said(status, out, err, seconds)

    return run


def write(name: str, text: str | bytes) -> None:
    """A file in the current folder."""
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())


def files() -> set[str]:
    """All files below the current folder."""
    return {str(path) for path in Path(".").rglob("*") if path.is_file()}


# ---- sources that cannot be converted ----------------------------------------------------------------

SYNTAX = {
    "semicolon": ("__global__ void k(float* x)\n{\n    x[0] = 1.0f\n}\n", "3:16", "expected ';' after"),
    "brace": ("__global__ void k(float* x)\n{\n    x[0] = 1.0f;\n", "3:17", "expected '}'"),
    "type": ("__global__ void k(flaot* x) { x[0] = 1.0f; }\n", "1:19", "unknown type name 'flaot'"),
    "name": ("__global__ void k(float* x) { x[0] = one; }\n", "1:38", "undeclared identifier 'one'"),
    "launch": (KERNEL + "int main() { scale<<<1, 1>>(nullptr, 0); }\n", "5:40", "expected '>>>'"),
}
HEADERS = {
    "quoted": ('#include "missing.h"\n', "quoted.cu:1:10", "missing.h"),
    "system": ("#include <missing/system.h>\n", "system.cu:1:10", "missing/system.h"),
    "spaced": ("#include <cstdio>\n  #  include <cuda_missing.cuh>\n", "spaced.cu:2:14", "cuda_missing.cuh"),
    "deeper": ('#include "local.h"\n', "./local.h:3:10", "deeper.h"),
    "guarded": ('#if __CUDACC__\n#include "only_cuda.h"\n#endif\n', "guarded.cu:2:10", "only_cuda.h"),
}
PRELUDE = (
    "struct Base { __device__ virtual int f() { return 1; } };\n"
    "__device__ int again(int n) { return n < 2 ? 1 : n * again(n - 1); }\n"
    "__global__ void k(int* x)\n"
)
UNSUPPORTED = {
    "assembly": ('{\n    asm volatile("bar.sync 0;");\n    x[0] = 1;\n}', "5:5", "TM1016", "inline assembly"),
    "goto": ("{\n    int i = 0;\n    goto end;\nend:\n    x[0] = i;\n}", "6:5", "TM1012", "goto"),
    "virtual": ("{\n    Base b;\n    x[0] = b.f();\n}", "5:5", "TM1020", "virtual"),
    "recursion": ("{\n    x[0] = again(x[1]);\n}", "2:54", "TM1011", "'again' calls itself"),
    "volatile": ("{\n    volatile int* y = x;\n    y[0] = 1;\n}", "5:5", "TM1015", "volatile"),
}


def converted_at_once(folder: Path, sources: dict[str, str]) -> Said:
    """One command over many sources; a wrong one costs the others nothing."""
    for name, text in sources.items():
        (folder / f"{name}.cu").write_text(text)
    command = [sys.executable, "-m", "tmigrate", "convert", "--no-run", *(f"{name}.cu" for name in sources)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=2 * MANY)
    assert "Traceback" not in done.stdout + done.stderr
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> tuple[Said, Path]:
    """What is said of all the sources with syntax errors and missing headers, and their folder."""
    folder = tmp_path_factory.mktemp("broken")
    (folder / "local.h").write_text('#pragma once\n\n#include "deeper.h"\n')
    sources = {name: text for name, (text, _, _) in SYNTAX.items()}
    sources |= {name: text + KERNEL for name, (text, _, _) in HEADERS.items()}
    sources["many"] = (
        "__global__ void k(float* x) { x[0] = one; }\n__global__ void l(float* x) { x[0] = two; }\n"
    )
    return converted_at_once(folder, sources), folder


@pytest.mark.parametrize("name", SYNTAX)
def test_a_syntax_error(broken: tuple[Said, Path], name: str) -> None:
    """The error is shown at its place, with the line and a caret, and nothing is written."""
    said, folder = broken
    _, place, words = SYNTAX[name]
    (shown,) = said.about(f"{name}.cu:{place}: error TM1001: ")
    assert words in shown[0] and " | " in shown[1] and shown[2].endswith("^")
    assert said.status == 1 and list(folder.glob(f"*{name}*")) == [folder / f"{name}.cu"]


def test_all_syntax_errors_of_a_file_are_shown(broken: tuple[Said, Path]) -> None:
    said, _ = broken
    assert said.about("many.cu:1:38: error TM1001: ") and said.about("many.cu:2:38: error TM1001: ")


@pytest.mark.parametrize("name", HEADERS)
def test_a_missing_header(broken: tuple[Said, Path], name: str) -> None:
    said, folder = broken
    _, place, header = HEADERS[name]
    (shown,) = said.about(f"{place}: error TM1002: ")
    assert f"'{header}' file not found" in shown[0] and any("-I" in line for line in shown)
    assert said.status == 1 and list(folder.glob(f"*{name}*")) == [folder / f"{name}.cu"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x7fELF\x02\x01\x01\0\0\0", "byte 7 is zero"),
        ("__global__ void k() {}\n".encode("utf-16"), "UTF-8"),
        (KERNEL.encode() + b"\0", "is zero"),
        (bytes(range(1, 256)) * 8, "control characters"),
        (b"\x1f\x8b\x08" + bytes((b * 37) % 255 + 1 for b in range(4000)), "control characters"),
    ],
)
def test_a_binary_file(tmigrate: Tmigrate, data: bytes, words: str) -> None:
    write("k.cu", data)
    said = tmigrate("convert", "k.cu")
    assert said.status == 2
    assert "TM5013" in said.err and "'k.cu' is not text" in said.err and words in said.err
    assert files() == {"k.cu"}


@pytest.mark.parametrize("data", [b"", b"\n", b" \t\r\n", b"\xef\xbb\xbf"])
def test_an_empty_file(tmigrate: Tmigrate, data: bytes) -> None:
    write("k.cu", data)
    said = tmigrate("convert", "--json", "k.cu")
    (found,) = json.loads(said.out)["inputs"]
    assert (said.status, found["status"], found["kernels"]) == (0, "none", [])
    assert [d["code"] for d in found["diagnostics"]] == ["TM5014"] and files() == {"k.cu"}


@pytest.mark.parametrize("name", ["empty", "text", "headers", "hidden"])
def test_a_folder_without_cuda(tmigrate: Tmigrate, name: str) -> None:
    Path("empty").mkdir()
    write("text/notes.txt", "nothing")
    write("headers/k.cuh", KERNEL)
    write("hidden/.git/k.cu", KERNEL)
    before = files()
    said = tmigrate("convert", name)
    assert said.status == 2 and "TM5012" in said.err and f"folder '{name}' has no .cu" in said.err
    assert files() == before


@pytest.fixture(scope="module")
def unsupported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Said, Path]:
    """What is said of all the sources with a kernel that cannot be converted and one that can."""
    folder = tmp_path_factory.mktemp("unsupported")
    texts = {name: f"{PRELUDE}{body}\n{KERNEL}" for name, (body, _, _, _) in UNSUPPORTED.items()}
    return converted_at_once(folder, texts), folder


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_an_unsupported_construct(unsupported: tuple[Said, Path], name: str) -> None:
    """The kernel is refused with the place; the other kernel of the file is converted all the same."""
    said, folder = unsupported
    _, place, code, words = UNSUPPORTED[name]
    (shown,) = said.about(f"{name}.cu:{place}: error {code}: ")
    assert words in shown[0] and any(line.startswith("  help: ") for line in shown)
    written = (folder / f"{name}_thread.py").read_text()
    assert "def scale(" in written and "def k(" not in written
    count = len(UNSUPPORTED)
    assert said.status == 1 and f"{count} converted, {count} refused" in said.out


# ---- programs that misbehave -------------------------------------------------------------------------

PROGRAM = r"""
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unistd.h>

// A kernel for which no launch is made up: its parameter leads to memory that holds pointers.
__global__ void scale(float** rows, int n)
{
    if (threadIdx.x < n) rows[0][threadIdx.x] *= 2.0f;
}

int recurse(int depth)
{
    volatile char frame[65536];
    frame[depth % 65536] = 1;
    return recurse(depth + 1) + frame[0];
}

void crash(const char* how)
{
    volatile int zero = 0;
    if (!strcmp(how, "segfault")) *(volatile int*)8 = 1;
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "exit")) exit(3);
    if (!strcmp(how, "assert")) assert(zero == 1);
    if (!strcmp(how, "throw")) throw zero;
    if (!strcmp(how, "divide")) exit(7 / zero);
}

void hang(const char* how)
{
    if (!strcmp(how, "loop")) for (volatile int i = 0;; i++) {}
    if (!strcmp(how, "sleep")) for (;;) sleep(1000);
    if (!strcmp(how, "fork")) { fork(); for (;;) pause(); }
    if (!strcmp(how, "print")) for (;;) puts("and again, and again, and again, and again, and again");
}

void allocate(const char* how)
{
    const size_t piece = 1 << 28;
    if (!strcmp(how, "malloc")) while (malloc(piece)) {}
    if (!strcmp(how, "malloc")) { fputs("malloc gave nothing\n", stderr); exit(5); }
    static char* volatile kept;
    if (!strcmp(how, "new")) for (;;) kept = new char[piece];
    void* p = nullptr;
    if (!strcmp(how, "cuda")) while (cudaMalloc(&p, piece) == cudaSuccess) {}
    if (!strcmp(how, "cuda")) { fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError())); exit(6); }
    if (!strcmp(how, "recursion")) exit(recurse(0));
}

int count(const char* how)
{
    int n = 0;
    char text[80];
    if (!strcmp(how, "scanf")) return scanf("%d", &n) == 1 ? n : -1;
    if (!strcmp(how, "fgets")) return fgets(text, sizeof text, stdin) ? atoi(text) : -2;
    if (!strcmp(how, "getchar")) return getchar() == EOF ? -3 : 1;
    while (read(0, text, sizeof text) > 0) {}
    return 32;
}

int main(int argc, char** argv)
{
    const char* what = argc > 1 ? argv[1] : "";
    const char* how = argc > 2 ? argv[2] : "";
    if (!strcmp(what, "crash")) crash(how);
    if (!strcmp(what, "hang")) hang(how);
    if (!strcmp(what, "allocate")) allocate(how);
    int n = strcmp(what, "read") ? 32 : count(how);
    if (n <= 0) { fprintf(stderr, "no count on the standard input\n"); return -n; }
    float** rows;
    cudaMallocManaged(&rows, sizeof(float*));
    cudaMallocManaged(&rows[0], 64 * sizeof(float));
    for (int i = 0; i < 64; i++) rows[0][i] = i;
    scale<<<1, 64>>>(rows, n);
    cudaDeviceSynchronize();
    if (!strcmp(what, "after")) crash(how);
    return rows[0][31] == 62 && rows[0][32] == 32 ? 0 : 1;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the program that misbehaves as its arguments ask."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "misbehaves.cu").write_text(PROGRAM)
    return folder


def misbehave(folder: Path, what: str, how: str) -> Said:
    """Convert the program with these arguments, in a process of its own."""
    command = [sys.executable, "-m", "tmigrate", "convert", "misbehaves.cu", "-o", f"{what}-{how}"]
    command += ["--verify-time", str(SECONDS), "--", what, how]
    started = time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=2 * MANY)
    assert "Traceback" not in done.stdout + done.stderr
    return Said(done.returncode, done.stdout, done.stderr, time.monotonic() - started)


def not_verified(said: Said, *words: str) -> None:
    """The kernel stays ``converted``, with a warning that says how the program ended."""
    warning = "misbehaves.cu: warning TM4106: the program "
    assert said.status == 1 and warning in said.err, said
    for word in words:
        assert word in said.err.split(warning)[1].splitlines()[0]
    assert "converted" in said.out and "1 verified" not in said.out


def test_a_program_that_behaves(program: Path) -> None:
    """The others fail because they misbehave, not because of anything else."""
    said = misbehave(program, "behave", "well")
    assert said.status == 0 and "1 verified" in said.out and said.err == ""


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("segfault", ["crashed with SIGSEGV"]),
        ("abort", ["crashed with SIGABRT"]),
        ("exit", ["exited with status 3"]),
        ("assert", ["crashed with SIGABRT", "Assertion `zero == 1' failed"]),
        ("throw", ["crashed with SIGABRT", "throw"]),
        ("divide", ["crashed with SIGFPE"]),
    ],
)
def test_a_program_that_crashes(program: Path, how: str, words: list[str]) -> None:
    not_verified(misbehave(program, "crash", how), *words)


def test_a_program_that_crashes_after_its_launches(program: Path) -> None:
    """What was compared before counts, and the crash is told."""
    said = misbehave(program, "after", "abort")
    assert said.status == 0 and "1 launch, " in said.out
    assert "warning TM4106: the program crashed with SIGABRT" in said.err


@pytest.fixture(scope="module")
def hangs(program: Path) -> dict[str, Said]:
    """Programs that hang, side by side: each takes all of its time."""
    misbehave(program, "crash", "exit")  # built once, not four times at once
    ways = ["loop", "sleep", "fork", "print"]
    with ThreadPoolExecutor(4) as pool:
        return dict(zip(ways, pool.map(lambda how: misbehave(program, "hang", how), ways), strict=True))


@pytest.mark.parametrize("how", ["loop", "sleep", "fork"])
def test_a_program_that_hangs(hangs: dict[str, Said], how: str) -> None:
    not_verified(hangs[how], "did not end within 5 s")
    assert hangs[how].seconds < MANY


def test_a_program_that_prints_without_end(hangs: dict[str, Said]) -> None:
    not_verified(hangs["print"], "wrote more than it may")


def test_nothing_of_a_program_that_hangs_is_left(hangs: dict[str, Said]) -> None:
    """Neither the program nor the child that it forked."""
    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if b"\0hang\0fork" in _read(path)]
    assert left == []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("malloc", ["exited with status 5", "malloc gave nothing"]),
        ("new", ["ran out of memory"]),
        ("cuda", ["exited with status 6", "out of memory"]),
        ("recursion", ["crashed with SIGSEGV"]),
    ],
)
def test_a_program_that_allocates_without_end(program: Path, how: str, words: list[str]) -> None:
    not_verified(misbehave(program, "allocate", how), *words)


def test_the_memory_of_a_program_is_bounded_by_the_machines() -> None:
    installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 4 << 30 <= replay.memory_bound() <= max(4 << 30, installed // 2)


@pytest.mark.parametrize(("how", "status"), [("scanf", 1), ("fgets", 2), ("getchar", 3)])
def test_a_program_that_reads_its_standard_input(program: Path, how: str, status: int) -> None:
    """It is empty, whatever the command's own is."""
    said = misbehave(program, "read", how)
    not_verified(said, f"exited with status {status}", "no count on the standard input")
    assert "its standard input is empty" in said.err


def test_a_program_that_waits_for_its_standard_input(program: Path) -> None:
    """It meets the end at once and goes on."""
    said = misbehave(program, "read", "all")
    assert said.status == 0 and "1 verified" in said.out


# ---- outputs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("file", "'file' is not a folder"),
        ("file/below", "'file' is not a folder"),
        ("/proc/out", "'/proc/out'"),
        ("x" * 300, "File name too long"),
        ("loop/out", "'loop/out'"),
    ],
)
def test_an_output_place_that_cannot_be_written(tmigrate: Tmigrate, place: str, words: str) -> None:
    write("k.cu", KERNEL)
    write("file", "mine\n")
    Path("loop").symlink_to("loop")
    before = files()
    said = tmigrate("convert", "--no-run", "k.cu", "-o", place)
    assert said.status == 2 and "TM5020" in said.err and words in said.err and "-o" in said.err
    assert files() == before and Path("file").read_text() == "mine\n"


@pytest.mark.parametrize("name", ["k_tile.py", "test_k_tile.py", "k_tile.cert.json", "k_thread.py/folder"])
def test_a_name_that_is_taken(tmigrate: Tmigrate, name: str) -> None:
    """Nothing is written, neither to this name nor to the others."""
    write("k.cu", KERNEL)
    write(name, "mine\n")
    name = name.removesuffix("/folder")
    before = files()
    said = tmigrate("convert", "--no-run", "k.cu")
    assert said.status == 2 and "TM5021" in said.err and f"'{name}' exists" in said.err
    assert files() == before and all(Path(f).read_text() == "mine\n" for f in before - {"k.cu"})


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where a kernel was converted."""
    folder = tmp_path_factory.mktemp("outputs")
    assert converted_at_once(folder, {"k": KERNEL}).status == 0
    return folder


@pytest.fixture
def converted(tmigrate: Tmigrate, outputs: Path) -> Tmigrate:
    """The command, in a copy of that folder."""
    shutil.copytree(outputs, ".", dirs_exist_ok=True)
    return tmigrate


def edit(name: str, old: str, new: str) -> str:
    """Replace a text of a file, as a person does; the file's new text."""
    text = Path(name).read_text()
    assert text.count(old) == 1
    Path(name).write_text(text.replace(old, new))
    return text.replace(old, new)


@pytest.mark.parametrize("name", ["k_tile.py", "k_thread.py", "test_k_tile.py"])
def test_an_edited_output_is_kept(converted: Tmigrate, name: str) -> None:
    Path(name).write_text("# my own\n" + Path(name).read_text())
    edited = Path(name).read_text()
    said = converted("convert", "--no-run", "k.cu")
    assert said.status == 0 and Path(name).read_text() == edited
    assert f"{name}: warning TM5023: '{name}' was edited" in said.err and "tmigrate verify" in said.err
    assert f"wrote {name}" not in said.out
    stale = converted("status", ".")
    assert stale.status == 1 and f"output {name} was edited" in stale.out


@pytest.mark.parametrize("name", ["k_tile.py", "k_thread.py"])
def test_an_edited_output_of_a_changed_input_is_merged(converted: Tmigrate, name: str) -> None:
    edit(name, "from __future__", "# my own\nfrom __future__")
    edit("k.cu", "2.0f", "3.0f")
    said = converted("convert", "--no-run", "k.cu")
    assert said.status == 0 and "TM5023" in said.err and "merged" in said.err
    assert "# my own\n" in Path(name).read_text() and "= 3.0" in Path(name).read_text()


@pytest.mark.parametrize("name", ["k_tile.py", "k_thread.py"])
def test_changes_on_both_sides_conflict(converted: Tmigrate, name: str) -> None:
    """Both stand in the file, which stays as it is until a person chose; it cannot be verified so."""
    edit(name, "= 2.0", "= 5.0")
    edit("k.cu", "2.0f", "3.0f")
    said = converted("convert", "--no-run", "k.cu")
    marked = Path(name).read_text()
    assert said.status == 1 and f"{name}: warning TM5022" in said.err
    assert "= 5.0" in marked and "= 3.0" in marked and "<<<<<<< yours\n" in marked
    again = converted("convert", "--no-run", "k.cu")
    assert again.status == 1 and "earlier conflict" in again.err and Path(name).read_text() == marked
    judged = converted("verify", "k.cu")
    assert judged.status == 1 and f"{name}:" in judged.err and "<<<<<<< yours" in judged.err


def test_a_deleted_certificate_is_written_again(converted: Tmigrate) -> None:
    """Edits are still known by the copies in .tmigrate, and kept."""
    Path("k_tile.cert.json").unlink()
    edited = edit("k_thread.py", "= 2.0", "= 5.0")
    said = converted("convert", "--no-run", "k.cu")
    assert said.status == 0 and "TM5023" in said.err
    assert Path("k_tile.cert.json").exists() and Path("k_thread.py").read_text() == edited


def test_deleted_copies_are_replaced_by_the_certificates_hashes(converted: Tmigrate) -> None:
    shutil.rmtree(".tmigrate")
    edit("k_thread.py", "= 2.0", "= 5.0")
    said = converted("convert", "--no-run", "k.cu")
    assert said.status == 1 and "k_thread.py: warning TM5022" in said.err
    assert "= 5.0" in Path("k_thread.py").read_text() and "= 2.0" in Path("k_thread.py").read_text()


def test_without_copies_and_certificate_an_output_is_nobodys(converted: Tmigrate) -> None:
    shutil.rmtree(".tmigrate")
    Path("k_tile.cert.json").unlink()
    edited = edit("k_thread.py", "= 2.0", "= 5.0")
    said = converted("convert", "--no-run", "k.cu")
    assert said.status == 2 and "TM5021" in said.err
    assert Path("k_thread.py").read_text() == edited and not Path("k_tile.cert.json").exists()


@pytest.mark.parametrize("edited", ["def scale(:\n", "scale = 3 +\n", "def other(x: Ptr[f33]): pass\n"])
def test_an_edit_that_is_not_the_language(converted: Tmigrate, edited: str) -> None:
    """``verify`` shows its place in the edited file."""
    text = Path("k_thread.py").read_text()
    Path("k_thread.py").write_text(text + edited)
    said = converted("verify", "k.cu")
    assert said.status == 1 and said.about(f"k_thread.py:{len(text.splitlines()) + 1}:")
    assert "error TM2" in said.err
