"""Thread-barriers a second of the emulated original, one thread: prints one table.

    python tests/bench/oracle.py [--write docs/bench/oracle.md] [--size 2]

A thread-barrier is one thread's way through one barrier.  Kernels and timing (CPU time) stand in oracle.cu,
with the anchor: the C library's `swapcontext`, which a fiber that waits would otherwise cost.  A ratio above
1 means that a whole barrier costs less than it.  The figures are medians of seven turns.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

from setting import setting

from tmigrate.oracle import Limits, build, run

SOURCE = Path(__file__).with_suffix(".cu")
ANCHOR = "swapcontext"
GOAL = 20.0
"""Millions of thread-barriers a second, by the design; check mode has no such goal."""

LINES = {
    "rotate 256": "barrier loop, 256 threads",
    "rotate 1024": "barrier loop, 1024 threads",
    "tree": "tree reduction, 256 threads",
    "product": "tiled product, 16 x 16 threads",
}
COLUMNS = ("emulated", "during replay", "checked")


def speeds(column: str, size: int) -> dict[str, float]:
    """Millions a second by the name of the kernel: medians over the turns of one run."""
    with TemporaryDirectory() as folder:
        # During replay, launches that are not compared run like this, and each compared one's first step.
        manifest, report = Path(folder) / "manifest", Path(folder) / "report"
        manifest.write_text("tmigrate-manifest\t1\n")
        replayed = {"TMIGRATE_REPLAY": str(manifest), "TMIGRATE_REPLAY_REPORT": str(report)}
        built = build(SOURCE, ["-std=c++17"], "check" if column == "checked" else "oracle")
        environment = replayed if column == "during replay" else {}
        result = run(built, [str(size)], Limits(seconds=300), environment=environment)
    if result.status != 0 or result.reports:
        sys.exit(f"{column}: status {result.status}, {result.reports}\n{result.stderr}")
    found: defaultdict[str, list[float]] = defaultdict(list)
    for line in result.stdout.splitlines():
        name, passes, seconds = line.split("\t")
        found[name].append(float(passes) / float(seconds) / 1e6)
    return {name: statistics.median(values) for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", type=Path, help="also write the table, with a heading, to this file")
    parser.add_argument("--size", type=int, default=2, help="about this many million passes a sample")
    options = parser.parse_args()
    found = {column: speeds(column, options.size) for column in COLUMNS}
    lines = ["| kernel | " + " | ".join(f"{c}, M/s | ratio" for c in COLUMNS) + " |"]
    lines.append("|---|" + "---|---|" * len(COLUMNS))
    for name, text in {ANCHOR: "anchor: swapcontext", **LINES}.items():
        cells = (f"{found[c][name]:.1f} | {found[c][name] / found[c][ANCHOR]:.1f}" for c in COLUMNS)
        lines.append(f"| {text} | {' | '.join(cells)} |")
    least = min(found[c][name] for c in COLUMNS[:2] for name in LINES)
    lines += ["", f"Least without checking: {least:.1f} million thread-barriers a second (goal: {GOAL:.0f})."]
    print("\n".join(lines))
    if options.write:
        title = "# Thread-barriers a second of the emulated original"
        heading = f"{title}\n\n`python tests/bench/oracle.py`, one thread, medians of CPU time.\n\n"
        options.write.write_text(heading + setting() + "\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
