"""The acceptance script, against a stand-in for tmigrate whose behaviour the source's text chooses."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[1] / "acceptance" / "run.py"
sys.path.insert(0, str(SCRIPT.parent))

from generators import generate  # noqa: E402
from programs import Cut, InputFile, TableError, read_table  # noqa: E402
from scratch import prepare  # noqa: E402

FAKE = """
import json, os, subprocess, sys, time
from pathlib import Path
words = sys.argv[1:]
program_args = words[words.index("--") + 1:] if "--" in words else []
own = words[: words.index("--")] if "--" in words else words
source = next(word for word in own if word.endswith(".cu"))
text = Path(source).read_text()
broken = bool(os.environ.get("TMIGRATE_RUN_BREAK"))
stage = own[0]
if stage == "run":
    counts = {"_Z1kPf": {"lifted": 3, "thread": 1, "missing": 0}, "_Z1jPf": {"lifted": 2, "thread": 0}}
    Path(os.environ["TMIGRATE_RUN_COUNTS"]).write_text(json.dumps({"kernels": counts}))
    print("arguments", *program_args)
    if "dies" in text:
        sys.exit(128 + 11)
    wrong = "program wrong" in text or (broken and "weak" not in text)
    print("FAIL" if wrong else "PASS")
    sys.exit(0)
if "traceback" in text:
    raise RuntimeError("a fault of the tool")
if "silent" in text:
    sys.exit(0)
if "hang" in text:
    subprocess.Popen(["sleep", "77"], start_new_session=True)
    print(os.getpid(), file=sys.stderr, flush=True)
    time.sleep(60)
if "hog" in text:
    hoard = bytearray(300 * 2**20)
    for i in range(0, len(hoard), 4096):
        hoard[i] = 1
    time.sleep(60)
if "usage" in text:
    print("error TM5020: cannot write", file=sys.stderr)
    sys.exit(2)
def kernel(name, status, level, code=None):
    return {"name": name, "location": source + ":1:1", "status": status, "level": level, "code": code,
            "reason": "because" if code else None}
bad = "internal" in text
kernels = [kernel("k", "verified", "loop"), kernel("j", "verified", "thread")]
if "refuses" in text:
    kernels[1] = kernel("j", "refused", None, "TM2001")
if stage == "verify" and (("moody" in text) or (broken and "deaf" not in text)):
    kernels[0] = kernel("k", "converted", "loop", "TM4001")
diagnostics = [{"code": "TM5030", "message": "internal error: KeyError", "severity": "error"}] if bad else []
entry = {"path": source, "kind": "cuda", "status": "verified", "kernels": kernels, "diagnostics": diagnostics}
print(json.dumps({"version": 1, "inputs": [entry]}))
"""


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A folder of programs: top/common/size.h, top/apps/NAME/main.cu."""
    (tmp_path / "top" / "common").mkdir(parents=True)
    (tmp_path / "top" / "common" / "size.h").write_text("#define SIZE 4096\n")
    return tmp_path / "top"


def add_program(top: Path, name: str, text: str = "") -> None:
    (top / "apps" / name).mkdir(parents=True)
    (top / "apps" / name / "main.cu").write_text(text)


def accept(top: Path, rows: list[str], *options: str) -> tuple[int, dict[str, Any], str, Path]:
    """Run the script over rows of (program, args); its status, its JSON, its Markdown and its folder."""
    fake, table, out = top.parent / "fake.py", top.parent / "table.tsv", top.parent / "out"
    fake.write_text(FAKE)
    table.write_text("\n".join(["program\targs\tcuts", *rows]) + "\n")
    tool = f"{sys.executable} -S {fake}"
    words = [sys.executable, str(SCRIPT), str(top), str(table), "-o", str(out), "--tool", tool, *options]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if not (out / "acceptance.json").exists():
        return done.returncode, {}, done.stderr, out
    report = json.loads((out / "acceptance.json").read_text())
    return done.returncode, report, (out / "acceptance.md").read_text(), out


def test_counts_states_levels_launches_and_verdicts(top: Path) -> None:
    add_program(top, "good")
    add_program(top, "partly", "// refuses; program wrong")
    rows = ["apps/good\t7 'two words'", "apps/partly"]
    status, report, markdown, out = accept(top, rows)
    assert status == 0
    totals = report["totals"]
    assert totals["statuses"] == {"verified": 3, "converted": 0, "refused": 1}
    assert totals["levels"] == {"thread": 1, "loop": 2, "tensor": 0}
    assert totals["codes"] == {"TM2001": 1}
    assert totals["verdicts"] == {"PASS": 1, "FAIL": 1}
    assert totals["launches"] == {"lifted": 10, "thread": 2}
    assert totals["programs_all_verified"] == totals["programs_all_verified_and_pass"] == 1
    assert set(totals["seconds"]) == {"convert", "verify", "run"}
    assert (out / "apps_good" / "run.out").read_text().startswith("arguments 7 two words\n")
    row = next(line for line in markdown.splitlines() if line.startswith("| apps/partly"))
    assert [cell.strip() for cell in row.split("|")][2:11] == [*"2101", "0", "1", "0", "TM2001", "yes"]
    assert "| apps/partly | j | main.cu:1:1 | refused | TM2001 | because |" in markdown


@pytest.mark.parametrize(
    ("text", "detail"),
    [("traceback", "RuntimeError"), ("silent", "not JSON"), ("internal", "internal error: KeyError")],
)
def test_a_crash_of_the_tool_is_a_gate(top: Path, text: str, detail: str) -> None:
    add_program(top, "bad", text)
    add_program(top, "good")
    status, report, _, _ = accept(top, ["apps/bad", "apps/good"], "--stages", "convert")
    assert status == 1
    assert report["programs"][0]["faults"] == ["convert: crash"]
    assert detail in report["programs"][0]["stages"]["convert"]["detail"]
    assert report["programs"][1]["faults"] == []


def test_a_refused_input_is_no_crash(top: Path) -> None:
    add_program(top, "bad", "usage")
    status, report, _, _ = accept(top, ["apps/bad"], "--stages", "convert")
    assert (status, report["totals"]["codes"], report["totals"]["faults"]) == (0, {"TM5020": 1}, 0)


def test_time_is_limited_and_descendants_are_ended(top: Path) -> None:
    add_program(top, "slow", "hang")
    began = time.monotonic()
    status, report, _, out = accept(top, ["apps/slow"], "--stages", "convert", "--time", "1")
    assert time.monotonic() - began < 20
    assert (status, report["programs"][0]["faults"]) == (0, ["convert: time"])
    tool = int((out / "apps_slow" / "convert.err").read_text())
    assert not Path(f"/proc/{tool}").exists()
    assert not [pid for pid in _sleepers() if os.getpgid(pid) == pid]


def _sleepers() -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cmdline").read_bytes() == b"sleep\x0077\x00":
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="memory is watched through /proc")
def test_memory_is_limited(top: Path) -> None:
    add_program(top, "large", "hog")
    _, report, _, _ = accept(top, ["apps/large"], "--stages", "convert", "--memory", "0.2")
    assert report["programs"][0]["faults"] == ["convert: memory"]


def test_verify_that_disagrees_with_convert_is_shown(top: Path) -> None:
    add_program(top, "app", "moody")
    _, report, markdown, _ = accept(top, ["apps/app"])
    assert report["totals"]["verify_disagrees"] == 1
    assert "| NO |" in markdown


@pytest.mark.parametrize(
    ("text", "broken", "expected"),
    [("", "FAIL", 0), ("weak", "caught by verify", 0), ("weak deaf", "NOT CAUGHT", 1)],
)
def test_a_kernel_broken_on_purpose_must_be_noticed(top: Path, text: str, broken: str, expected: int) -> None:
    add_program(top, "app", text)
    status, report, _, _ = accept(top, ["apps/app"], "--stages", "convert,run", "--break")
    assert report["programs"][0]["verdict"] == "PASS"
    assert (status, report["programs"][0]["broken"]) == (expected, broken)


def test_a_program_that_fails_anyway_says_nothing_when_broken(top: Path) -> None:
    add_program(top, "app", "program wrong")
    status, report, _, _ = accept(top, ["apps/app"], "--stages", "convert,run", "--break")
    assert (status, report["programs"][0]["broken"]) == (0, None)


def test_a_program_that_dies_has_no_verdict(top: Path) -> None:
    add_program(top, "app", "dies")
    status, report, _, _ = accept(top, ["apps/app"], "--stages", "run")
    assert (status, report["programs"][0]["verdict"]) == (0, "signal 11")


def test_a_mistake_in_the_table_is_not_a_result(top: Path) -> None:
    add_program(top, "app")
    rows = ["apps/app\t\tmain.cu: absent => present"]
    status, report, markdown, _ = accept(top, rows)
    assert status == 2
    assert "'absent' does not occur in 'main.cu'" in report["programs"][0]["mistake"]
    assert "does not occur" in markdown
    assert accept(top, ["apps/app"], "--only", "other*")[0] == 2


def test_tables_are_read_and_their_mistakes_named(tmp_path: Path) -> None:
    table = tmp_path / "t.tsv"
    header = "program\tname\tsources\targs\tdefines\tincludes\tcuts\tinputs\texpect"
    cuts = "x.cu: a: 1; => b: 2; ;; y.cu: gone =>"
    row = f"a/b\tab small\tx.cu y.cu\t-n '3 4'\t-DN=5 M\t-I../c\t{cuts}\tf.bin: bytes 9\t^ok$"
    table.write_text(f"# a comment\n{header}\n\n{row}\n")
    (program,) = read_table(table)
    assert (program.name, program.sources, program.args) == ("ab small", ("x.cu", "y.cu"), ("-n", "3 4"))
    assert (program.defines, program.includes) == (("N=5", "M"), ("../c",))
    assert program.cuts == (Cut("x.cu", "a: 1;", "b: 2;"), Cut("y.cu", "gone", ""))
    assert program.inputs == (InputFile("f.bin", "bytes", (9,)),)
    assert program.expect.search("no\nok\n") and not program.expect.search("not ok")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("program\tsize\na\t1\n", "names the columns"),
        ("program\tcuts\na\tx.cu: only this\n", "a cut is 'FILE: OLD => NEW'"),
        ("program\tinputs\na\tx.bin\n", "an input file is"),
        ("program\targs\na\t1\na\t2\n", "two rows are called 'a'"),
        ("program\targs\na\t'open\n", "No closing quotation"),
        ("program\na\tb\n", "2 fields for 1 columns"),
    ],
)
def test_a_wrong_table_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "t.tsv").write_text(text)
    with pytest.raises(TableError, match=message):
        read_table(tmp_path / "t.tsv")


def test_cuts_and_inputs_never_reach_the_original(top: Path, tmp_path: Path) -> None:
    add_program(top, "app", '#include "../../common/size.h"\nint a = 1; int b = 1;\n')
    add_program(top, "neighbour", "untouched")
    (tmp_path / "t.csv").write_text(
        textwrap.dedent("""\
        program,cuts,inputs
        apps/app,"main.cu: = 1; => = 2; ;; ../../common/size.h: 4096 => 61",data/g.mtx: mtx 5 7 2
        """)
    )
    (program,) = read_table(tmp_path / "t.csv")
    folder, sources = prepare(top, program, tmp_path / "scratch")
    assert sources == ("main.cu",)
    assert "int a = 2; int b = 2;" in (folder / "main.cu").read_text()
    assert (folder / "../../common/size.h").read_text() == "#define SIZE 61\n"
    assert (folder / "../neighbour/main.cu").read_text() == "untouched"
    assert (folder / "data/g.mtx").read_text().startswith("%%MatrixMarket")
    assert (top / "common/size.h").read_text() == "#define SIZE 4096\n"
    assert "= 1;" in (top / "apps/app/main.cu").read_text()
    assert not (top / "apps/app/data").exists()


def test_a_cut_outside_of_the_top_folder_is_refused(top: Path, tmp_path: Path) -> None:
    add_program(top, "app")
    (tmp_path / "t.tsv").write_text("program\tcuts\napps/app\t../../../t.tsv: a => b\n")
    (program,) = read_table(tmp_path / "t.tsv")
    with pytest.raises(TableError, match="outside of the top folder"):
        prepare(top, program, tmp_path / "scratch")


def test_a_single_file_is_a_program(top: Path, tmp_path: Path) -> None:
    add_program(top, "app", "one")
    (top / "apps/app/helper.h").write_text("two")
    (tmp_path / "t.tsv").write_text("program\napps/app/main.cu\n")
    (program,) = read_table(tmp_path / "t.tsv")
    folder, sources = prepare(top, program, tmp_path / "scratch")
    assert sources == ("main.cu",)
    assert (folder / "helper.h").is_symlink() and not (folder / "main.cu").is_symlink()


def test_generated_files_hold_what_their_formats_say(tmp_path: Path) -> None:
    file = tmp_path / "x"
    generate(file, "bmp", (5, 3))
    data = file.read_bytes()
    assert data[:2] == b"BM" and struct.unpack_from("<I", data, 2) == (len(data),) == (54 + 3 * 16,)
    assert struct.unpack_from("<iiHH", data, 18) == (5, 3, 1, 24)
    generate(file, "mtx", (9, 6, 2))
    lines = file.read_text().splitlines()
    assert [int(word) for word in lines[1].split()] == [9, 6, len(lines) - 2]
    assert all(1 <= int(line.split()[0]) <= 9 and 1 <= int(line.split()[1]) <= 6 for line in lines[2:])
    generate(file, "egr", (11, 4))
    words = struct.unpack(f"<{len(file.read_bytes()) // 4}i", file.read_bytes())
    nodes, edges = words[:2]
    starts, flat = words[2 : 3 + nodes], words[3 + nodes :]
    assert (nodes, starts[0], starts[-1], len(flat)) == (11, 0, edges, edges)
    pairs = {(node, other) for node in range(nodes) for other in flat[starts[node] : starts[node + 1]]}
    assert pairs and pairs == {(b, a) for a, b in pairs}
    with pytest.raises(ValueError, match="takes WIDTH HEIGHT"):
        generate(file, "ppm", (1,))
    with pytest.raises(ValueError, match="no generator 'jpg'"):
        generate(file, "jpg", (1, 2))
