"""Which files are inputs, what is wrong with the others, and inputs that end their worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tmigrate import workers
from tmigrate.diagnostics import UsageError
from tmigrate.inputs import find_inputs
from tmigrate.options import ConvertOptions, Listener
from tmigrate.results import InputResult, Status, exit_status

STEPS = """
import os, time
from tmigrate.results import InputResult
from tmigrate.diagnostics import Diagnostic, UsageError

def step(path, options):
    text = path.read_text()
    if "crash" in text:
        os.abort()
    if "hang" in text:
        time.sleep(60)
    if "allocate" in text:
        block = bytearray(16 * 2**30)
    if "recurse" in text:
        step(path, options)
    if "fault" in text:
        raise KeyError("lost")
    if "usage" in text:
        raise UsageError(Diagnostic("TM5021", "taken"))
    if "stdin" in text:
        assert os.read(0, 1) == b""
    print("noise on the standard output")
    return InputResult(path=str(path))
"""


def faults(*paths: Path) -> list[str]:
    """The codes of what is wrong with the inputs."""
    return [entry.fault.code for entry in find_inputs(paths) if entry.fault is not None]


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("k.o", b"\x7fELF\x02\x01\x01\0", "TM5013"),
        ("k.cu", b"\xff\xfei\0n\0t\0", "TM5013"),  # UTF-16
        ("k.cu", b"int x;\0", "TM5013"),
        ("k.fatbin", bytes(range(256)), "TM5013"),
        ("model.onnx", b"\x08\x07", "TM5016"),
    ],
)
def test_a_file_that_is_not_cuda_text(tmp_path: Path, name: str, data: bytes, code: str) -> None:
    (tmp_path / name).write_bytes(data)
    assert faults(tmp_path / name) == [code]


@pytest.mark.parametrize("data", [b"", b"\n", b" \t\n\n", b"\r\n"])
def test_an_empty_file_is_no_fault(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "k.cu").write_bytes(data)
    results = workers.run_inputs(
        find_inputs([tmp_path / "k.cu"]), "unused:step", ConvertOptions(), Listener()
    )
    assert [d.code for d in results[0].diagnostics] == ["TM5014"]
    assert results[0].status is Status.NONE and exit_status(results, executed=True) == 0


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.cu")
    (tmp_path / "link.cu").symlink_to("nowhere")
    assert faults(tmp_path / "fifo.cu", tmp_path / "link.cu", tmp_path / "missing.cu") == ["TM5011"] * 3


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "k.cu").open("wb") as file:
        file.truncate(2**40)
    assert faults(tmp_path / "k.cu") == ["TM5015"]


def test_folders_without_cuda(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "notes.txt").write_text("none")
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "k.cuh").write_text("__global__ void k();")
    (tmp_path / "hidden" / ".git").mkdir(parents=True)
    (tmp_path / "hidden" / ".git" / "k.cu").write_text("int x;")
    assert faults(*(tmp_path / n for n in ("empty", "text", "headers", "hidden"))) == ["TM5012"] * 4


def test_a_file_that_another_includes_is_not_an_input(tmp_path: Path) -> None:
    (tmp_path / "a" / "kernels").mkdir(parents=True)
    (tmp_path / "a" / "main.cu").write_text('  # include "kernels/k.cu"\nint main() {}\n')
    (tmp_path / "a" / "kernels" / "k.cu").write_text("__global__ void k() {}\n")
    (tmp_path / "alone.cu").write_text('// #include "a/main.cu"\n')
    found = [os.path.relpath(entry.path, tmp_path) for entry in find_inputs([tmp_path])]
    assert found == ["alone.cu", "a/main.cu"]


def test_an_input_named_twice_is_one(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("int x;\n")
    assert len(find_inputs([tmp_path / "k.cu", tmp_path, tmp_path / "." / "k.cu"])) == 1


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of misbehaving steps on the path."""
    (tmp_path / "misbehaving_steps.py").write_text(STEPS)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def work(folder: Path, texts: list[str], options: ConvertOptions | None = None) -> list[InputResult]:
    """The results of inputs with these texts."""
    for index, text in enumerate(texts):
        (folder / f"{index}.cu").write_text(text)
    inputs = find_inputs([folder / f"{index}.cu" for index in range(len(texts))])
    return workers.run_inputs(inputs, "misbehaving_steps:step", options or ConvertOptions(), Listener())


def test_what_one_input_does_costs_the_others_nothing(steps: Path) -> None:
    results = work(steps, ["good", "crash", "good", "fault", "recurse", "stdin", "good"])
    codes = [[d.code for d in result.diagnostics] for result in results]
    assert codes == [[], ["TM5031"], [], ["TM5030"], ["TM5030"], [], []]
    assert "SIGABRT" in results[1].diagnostics[0].message
    assert "KeyError" in results[3].diagnostics[0].message
    assert exit_status(results, executed=True) == 2


def test_a_hang_is_ended(steps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "CONVERT_SECONDS", 1.0)
    results = work(steps, ["hang", "good"], ConvertOptions(execute=False))
    assert [result.status for result in results] == [Status.REFUSED, Status.NONE]
    assert "within 1 s" in results[0].diagnostics[0].message


def test_a_parse_that_allocates_without_end_is_ended(steps: Path) -> None:
    results = work(steps, ["allocate", "good"], ConvertOptions(execute=False))
    assert [[d.code for d in result.diagnostics] for result in results] == [["TM5030"], []]
    assert "MemoryError" in results[0].diagnostics[0].message


def test_results_keep_the_inputs_order_with_several_workers(steps: Path) -> None:
    results = work(steps, ["good", "crash", "good", "good"], ConvertOptions(jobs=2))
    assert [Path(result.path).name for result in results] == ["0.cu", "1.cu", "2.cu", "3.cu"]


def test_an_interrupt_ends_the_command_and_its_workers(steps: Path) -> None:
    (steps / "0.cu").write_text("hang")
    (steps / "1.cu").write_text("hang")
    code = (
        "import sys; sys.path[:] = {0!r}\n"
        "from tmigrate import workers; from tmigrate.inputs import find_inputs\n"
        "from tmigrate.options import ConvertOptions, Listener\n"
        "class Tell(Listener):\n"
        "    def start(self, path): print(path, flush=True)\n"
        "inputs = find_inputs(['0.cu', '1.cu'])\n"
        "workers.run_inputs(inputs, 'misbehaving_steps:step', ConvertOptions(), Tell())\n"
    )
    command = [sys.executable, "-c", code.format(sys.path)]
    with subprocess.Popen(
        command, cwd=steps, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "0.cu\n"
        time.sleep(0.3)  # the worker is up, or coming up
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=10)
    assert said == "" and "KeyboardInterrupt" in errors


def test_wrong_use_found_by_a_worker_ends_the_command(steps: Path) -> None:
    with pytest.raises(UsageError, match="TM5021"):
        work(steps, ["good", "usage"])
