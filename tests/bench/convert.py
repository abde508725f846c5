"""Time of `tmigrate convert --no-run` as whole commands, one a file, over a folder of CUDA programs.

    python tests/bench/convert.py FOLDER [TABLE] [--write docs/bench/convert.md] [--repeats 3] [--only NAME]

TABLE is an acceptance table (tests/acceptance/programs.py), read for its sources and options; without it each
`.cu` file is a program.  The anchor of the same run is `python -c pass`, the least that any Python command
takes.  Each figure is the median of the repeats, with bytecode on the disk as an installation has it; the
last lines are the median over files, the most, and `tmigrate --help`.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "acceptance"))
from programs import Program, read_table
from scratch import prepare
from setting import setting


class Taken(NamedTuple):
    """Seconds of one command: wall time, and CPU time of it and its children."""

    wall: float
    cpu: float


class Command(NamedTuple):
    """One command to measure, and the exit statuses with which it did its work."""

    name: str
    words: list[str]
    folder: Path
    statuses: tuple[int, ...]


def main() -> None:
    options = parse()
    tool = shlex.split(options.tool)
    with TemporaryDirectory(prefix="tmigrate-bench-") as scratch:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(scratch) / "bytecode")
        commands = conversions(options, tool, Path(scratch))
        measure(commands[0])  # writes the bytecode
        lines = ["| file | wall s | CPU s |", "|---|---|---|"]
        times = []
        for command in commands:
            times.append(median_of(command, options.repeats))
            lines.append(f"| {command.name} | {times[-1].wall:.2f} | {times[-1].cpu:.2f} |")
            print(lines[-1], flush=True)
        here = Path(scratch)
        helped = median_of(Command("--help", [*tool, "--help"], here, (0,)), 10)
        anchor = median_of(Command("python -c pass", [sys.executable, "-c", "pass"], here, (0,)), 10)
    walls, cpus = [t.wall for t in times], [t.cpu for t in times]
    lines += [
        f"| **median of {len(times)}** | {statistics.median(walls):.2f} | {statistics.median(cpus):.2f} |",
        f"| **most** | {max(walls):.2f} | {max(cpus):.2f} |",
        f"| `tmigrate --help`, median of 10 | {helped.wall:.3f} | {helped.cpu:.3f} |",
        f"| anchor: `python -c pass`, median of 10 | {anchor.wall:.3f} | {anchor.cpu:.3f} |",
    ]
    print("\n".join(lines[-4:]))
    if options.write:
        options.write.write_text(heading(options) + "\n".join(lines) + "\n")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="the folder with the programs")
    parser.add_argument("table", type=Path, nargs="?", help="an acceptance table of programs and options")
    parser.add_argument("--write", type=Path, help="also write the table, with a heading, to this file")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each command")
    parser.add_argument("--only", default="", help="programs whose name holds this")
    parser.add_argument("--tool", default=f"{shlex.quote(sys.executable)} -m tmigrate", help="the command")
    return parser.parse_args()


def conversions(options: argparse.Namespace, tool: list[str], scratch: Path) -> list[Command]:
    """One command a program, each in a scratch copy, as the acceptance script makes them."""
    found: list[Command] = []
    for number, program in enumerate(programs(options)):
        place = scratch / str(number)
        folder, sources = prepare(options.folder, program, place / "source")
        words = [*tool, "convert", "--no-run", "-o", str(place / "out"), *program.flags]
        words += [word for define in program.defines for word in ("-D", define)]
        words += [word for include in program.includes for word in ("-I", include)]
        # 1: some kernel was refused, which takes its time as well.
        found.append(Command(program.name, [*words, *sources], folder, (0, 1)))
    if not found:
        sys.exit(f"no program in '{options.folder}' matches")
    return found


def programs(options: argparse.Namespace) -> list[Program]:
    if options.table:
        listed = read_table(options.table)
    else:
        with TemporaryDirectory() as folder:
            table = Path(folder) / "table.tsv"
            files = sorted(options.folder.rglob("*.cu"))
            table.write_text("\n".join(["program", *(str(f.relative_to(options.folder)) for f in files)]))
            listed = read_table(table)
    return [program for program in listed if options.only in program.name]


def median_of(command: Command, repeats: int) -> Taken:
    taken = [measure(command) for _ in range(repeats)]
    return Taken(statistics.median(t.wall for t in taken), statistics.median(t.cpu for t in taken))


def measure(command: Command) -> Taken:
    """Run once; a command that fails ends the benchmark, for its time means nothing."""
    before, begin = cpu_of_children(), time.perf_counter()
    done = subprocess.run(command.words, cwd=command.folder, capture_output=True, text=True)
    taken = Taken(time.perf_counter() - begin, cpu_of_children() - before)
    if done.returncode not in command.statuses:
        sys.exit(f"{shlex.join(command.words)}: exit status {done.returncode}\n{done.stderr}")
    return taken


def cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def heading(options: argparse.Namespace) -> str:
    words: Sequence[str] = [options.folder.name, *([options.table.name] if options.table else [])]
    return f"""# Time of a conversion

`python tests/bench/convert.py {" ".join(words)}`: `tmigrate convert --no-run` on each program, as a whole
command; medians of {options.repeats} runs.

{setting()}
"""


if __name__ == "__main__":
    main()
