"""The oracle: the original CUDA program, run on the CPU.

``build`` compiles a program against our headers (emulated, checked, or with regenerated kernels), ``run``
executes it in a limited child process.  ``runtime/REPLAY.md`` describes replay's files.
"""

from tmigrate.oracle.build import Built, build
from tmigrate.oracle.run import Limits, Place, Report, RunResult, run

__all__ = ["Built", "Limits", "Place", "Report", "RunResult", "build", "run"]
