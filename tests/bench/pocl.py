"""OpenCL kernels on one thread of the CPU by PoCL, an optional anchor.

    pip install pyopencl pocl-binary-distribution

Work groups run on a thread of PoCL's own, so CPU time has to be that of the process.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

for variable in ("POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT"):  # older and newer versions
    os.environ[variable] = "1"
os.environ.setdefault("PYOPENCL_NO_CACHE", "1")

BATCH = 8
"""Launches enqueued at once: what one costs on the host hardly counts then."""

OPTIONS = ("", "-cl-fast-relaxed-math")
"""Ways to compile: the faster counts."""


class Pocl:
    """PoCL's device on this machine; `version` tells PoCL's and LLVM's."""

    def __init__(self) -> None:
        """Raises LookupError, with the reason, where there is none."""
        try:
            import pyopencl
        except ImportError as error:
            raise LookupError("pyopencl is not installed") from error
        self._cl: Any = pyopencl
        found = [p for p in pyopencl.get_platforms() if "Portable Computing Language" in p.name]
        if not found or not found[0].get_devices():
            raise LookupError("PoCL is not installed")
        device = found[0].get_devices()[0]
        if device.max_compute_units != 1:
            raise LookupError(f"PoCL uses {device.max_compute_units} threads")
        self.version = " ".join(found[0].version.replace(",", " ").split()[2:])
        self._context = pyopencl.Context([device])
        self._queue = pyopencl.CommandQueue(self._context)

    def prepare(
        self, text: str, options: str, grid: tuple[int, ...], block: tuple[int, ...], arguments: list[Any]
    ) -> tuple[Callable[[], None], Callable[[], list[Any]]]:
        """A call that launches `kernel void k` BATCH times, and one that reads the arguments back."""
        cl = self._cl
        kernel = cl.Program(self._context, text).build(options=[options]).k
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        passed = [self._passed(a, flags) for a in arguments]
        size = tuple(g * b for g, b in zip(grid, block, strict=True))

        def run() -> None:
            kernel.set_args(*passed)  # which does not keep the buffers alive, this function does
            for _ in range(BATCH):
                cl.enqueue_nd_range_kernel(self._queue, kernel, size, block)
            self._queue.finish()

        def read() -> list[Any]:
            results = []
            for argument, one in zip(arguments, passed, strict=True):
                results.append(argument)
                if isinstance(argument, np.ndarray):
                    results[-1] = np.empty_like(argument)
                    cl.enqueue_copy(self._queue, results[-1], one)
            return results

        return run, read

    def _passed(self, argument: Any, flags: int) -> Any:
        if isinstance(argument, np.ndarray):
            return self._cl.Buffer(self._context, flags, hostbuf=argument)
        return np.int32(argument) if isinstance(argument, int) else np.float32(argument)
