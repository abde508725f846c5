#!/usr/bin/env python3
"""Put a folder of CUDA programs through ``tmigrate`` and write a table of what came of it.

    python tests/acceptance/run.py FOLDER TABLE [-o OUT] [--stages convert,run] [--only 'red*'] [--break]

TABLE has one row a program (``programs.py`` describes its columns).  Every stage runs in a child process
under limits of time and memory, in a scratch copy of the program.  OUT receives ``acceptance.md``,
``acceptance.json``, and per program the outputs and what each stage printed.

Exit status: 0; 1 where tmigrate crashed (a traceback, a signal, an internal error, no JSON), or where a
kernel broken on purpose went unnoticed; 2 where the table or the command line is wrong.
"""

from __future__ import annotations

import argparse
import fnmatch
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from limits import Limits
from programs import Program, TableError, read_table
from scratch import prepare
from stages import STAGES, Bench, run_stage
from tables import Record, exit_status, summary, write_tables

DEFAULT_STAGES = ("convert", "verify", "run")


def main(words: Sequence[str] | None = None) -> int:
    """The script; returns its exit status."""
    options = _parse(words)
    try:
        programs = read_table(options.table)
        if not options.folder.is_dir():
            raise TableError(f"'{options.folder}' is not a folder")
    except (TableError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    wanted = [p for p in programs if any(fnmatch.fnmatch(p.name, pattern) for pattern in options.only)]
    if not wanted:
        print(f"{options.table}: no program matches {' '.join(options.only)}", file=sys.stderr)
        return 2

    options.out.mkdir(parents=True, exist_ok=True)
    title = f"{options.table.stem}: {len(wanted)} of {len(programs)} programs"
    records: list[Record] = []
    for number, program in enumerate(wanted, 1):
        record = Record(program)
        records.append(record)
        _work(record, options)
        write_tables(records, options.out, title)  # after each, so that an interrupted run leaves its part
        print(f"[{number}/{len(wanted)}] {program.name}: {summary(record)}", flush=True)
    print(f"written: {options.out / 'acceptance.md'}, {options.out / 'acceptance.json'}")
    return exit_status(records)


def _work(record: Record, options: argparse.Namespace) -> None:
    program: Program = record.program
    place = options.out.resolve() / re.sub(r"[^\w.+-]", "_", program.name)
    place.mkdir(exist_ok=True)
    try:
        folder, sources = prepare(options.folder, program, place / "scratch")
    except TableError as error:
        record.mistake = str(error)
        return
    bench = Bench(
        tool=tuple(shlex.split(options.tool)),
        folder=folder,
        sources=sources,
        outputs=place,
        limits=Limits(options.time, int(options.memory * 2**30)),
        verify_seconds=options.verify_time,
        break_value=options.broken or "",
    )
    for stage in options.stages:
        record.stages[stage] = run_stage(stage, program, bench, record.verified)


def _parse(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py", description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("folder", type=Path, help="the top folder; nothing in it is changed")
    add("table", type=Path, help="the table of programs, .tsv or .csv")
    add("-o", "--out", type=Path, default=Path("build/acceptance"), help="[%(default)s]")
    add("--only", action="append", metavar="PATTERN", help="programs of this name, e.g. 'red*'")
    add("--stages", default=",".join(DEFAULT_STAGES), help=f"of {','.join(STAGES)} [%(default)s]")
    add("--tool", default="tmigrate", help="the command to test [%(default)s]")
    add("--time", type=float, default=400.0, metavar="S", help="a stage may take [%(default)s]")
    add("--verify-time", type=float, default=60.0, metavar="S", help="passed on [%(default)s]")
    add("--memory", type=float, default=8.0, metavar="GIB", help="a stage may use [%(default)s]")
    add(
        "--break",
        dest="broken",
        nargs="?",
        const="1",
        metavar="VALUE",
        help="also run with a kernel made wrong on purpose: PASS must become FAIL, or verify must notice",
    )
    options = parser.parse_args(words)
    options.only = options.only or ["*"]
    options.stages = options.stages.split(",")
    unknown = [stage for stage in options.stages if stage not in STAGES]
    if unknown:
        parser.error(f"no stage '{unknown[0]}'; there are: {', '.join(STAGES)}")
    if options.broken and "broken" not in options.stages:
        options.stages.append("broken")
    if "broken" in options.stages:
        options.broken = options.broken or "1"
    options.stages.sort(key=STAGES.index)
    return options


if __name__ == "__main__":
    sys.exit(main())
