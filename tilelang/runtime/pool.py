"""The thread pool of the CPU back end, and the services that a launch asks of its surroundings.

The pool is C (``targets/cpu/runtime/tm_pool.c``), built once and loaded here; regenerated objects reach it
through the pointers of ``tm_services`` and link nothing.
"""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from functools import lru_cache

from tmigrate.tilelang.runtime.objects import RUNTIME_HEADERS
from tmigrate.tilelang.runtime.toolchain import FAITHFUL_FLAGS, compile_c

Body = CFUNCTYPE(None, c_void_p, c_int64, c_int64)
"""``body(data, begin, end)``: works on indices ``begin`` to ``end - 1``."""

Extent = CFUNCTYPE(c_size_t, c_void_p, c_void_p)
Parallel = CFUNCTYPE(None, c_void_p, c_int64, Body, c_void_p)
Report = CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p, c_int, POINTER(c_uint32), POINTER(c_uint32))


class Services(ctypes.Structure):
    """``tm_services`` of ``tm_abi.h``; ``print`` is variadic and comes from C alone, as a bare address."""

    limit: c_int  # kept alive here where `context` points to it
    _fields_ = [
        ("context", c_void_p),
        ("print", c_void_p),
        ("extent", Extent),
        ("parallel", Parallel),
        ("report", Report),
    ]


@lru_cache(maxsize=1)
def load_pool() -> ctypes.CDLL:
    """The pool's library; its C interface is ``tm_pool.h``."""
    source = (RUNTIME_HEADERS / "tm_pool.c").read_text()
    path = compile_c(source, name="tm_pool", flags=FAITHFUL_FLAGS, libraries=("pthread",))
    library = ctypes.CDLL(str(path))
    library.tm_pool_parallel.argtypes = [c_void_p, c_int64, Body, c_void_p]
    library.tm_pool_parallel.restype = None
    library.tm_pool_set_threads.argtypes = [c_int]
    library.tm_pool_set_threads.restype = None
    library.tm_pool_threads.restype = c_int
    library.tm_pool_services.restype = POINTER(Services)
    library.tm_pool_flush.restype = None
    return library


def set_threads(count: int) -> None:
    """How many threads work on a launch, the calling one included; 0 means the machine's default.

    The default is ``$TMIGRATE_THREADS``, else the number of processors that this process may use.
    """
    load_pool().tm_pool_set_threads(count)


def thread_count() -> int:
    """How many threads work on a launch."""
    return int(load_pool().tm_pool_threads())


def flush() -> None:
    """Write out what kernels have printed; the order against Python's own output is the caller's matter."""
    load_pool().tm_pool_flush()


def default_services(threads: int | None = None) -> Services:
    """Services for a launch: print to stdout, report to stderr, the pool's ``parallel``, extents unknown.

    ``threads`` bounds what this launch may use (at most :func:`thread_count`).  Keep the result alive for as
    long as the launch runs.
    """
    services = Services.from_buffer_copy(load_pool().tm_pool_services().contents)
    if threads is not None:
        services.limit = c_int(threads)
        services.context = ctypes.addressof(services.limit)
    return services
