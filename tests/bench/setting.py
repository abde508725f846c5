"""Where and with what a table was measured: the lines under its heading."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from pathlib import Path

from tmigrate.tilelang.runtime.toolchain import find_compilers


def setting(*further: str) -> str:
    """Date, commit, machine and versions as a list; ``further`` are lines that one benchmark adds."""
    compilers = find_compilers()
    versions = dict.fromkeys((compilers.c.version, compilers.cxx.version))
    lines = [
        f"Date: {datetime.date.today().isoformat()}; commit: {commit()}",
        f"CPU: {cpu_model()}, {os.cpu_count()} cores, {platform.machine()}",
        f"Python {platform.python_version()}; {', '.join(versions)}",
        *further,
    ]
    return "".join(f"- {line}\n" for line in lines)


def commit() -> str:
    """The checkout's commit, with a mark where files under version control differ, but for earlier tables."""
    name = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ":/", ":(exclude,top)docs")
    return f"{name}, with changes" if name and changed else name or "unknown"


def _git(*words: str) -> str:
    here = Path(__file__).parent
    return subprocess.run(["git", *words], capture_output=True, text=True, cwd=here).stdout.strip()


def blas() -> str:
    """NumPy's version and that of its BLAS, where products are the anchor."""
    import numpy as np

    found = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"NumPy {np.__version__}, {found['name']} {found['version']}"


def cpu_model() -> str:
    """The processor's name, as the system tells it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
