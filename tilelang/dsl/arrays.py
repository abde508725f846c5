"""Arrays of other libraries as NumPy arrays: where possible the same memory, else a copy that goes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Back = Callable[[], None]


@dataclass(slots=True)
class HostArray:
    """`array` is contiguous and in host memory; `write_back` brings what a kernel wrote to the original."""

    array: np.ndarray[Any, Any]
    write_back: Back | None = None


def is_array(value: Any) -> bool:
    """Whether a value is an array of some library."""
    if isinstance(value, np.generic):
        return False
    return isinstance(value, np.ndarray) or any(
        hasattr(value, name) for name in ("__cuda_array_interface__", "__dlpack__", "__array__")
    )


def to_host(value: Any) -> HostArray:
    """A NumPy, CuPy or PyTorch array, or anything with DLPack or `__array__`, for a kernel's use."""
    if isinstance(value, np.ndarray):
        return _contiguous(value)
    if hasattr(value, "__cuda_array_interface__") and hasattr(value, "get"):
        copied = np.ascontiguousarray(value.get())  # CuPy: device memory goes through a copy
        return HostArray(copied, lambda: value.set(copied))
    if hasattr(value, "__dlpack__"):
        shared = np.from_dlpack(value)
        return _contiguous(shared) if shared.flags.writeable else _shared_writable(value, shared)
    return _contiguous(np.asarray(value))


def _shared_writable(value: Any, shared: np.ndarray[Any, Any]) -> HostArray:
    """A read-only view (older NumPy marks DLPack's so): the object's own `numpy()` if it has one."""
    own = value.numpy() if hasattr(value, "numpy") else None
    if isinstance(own, np.ndarray) and own.flags.writeable:
        return _contiguous(own)
    return HostArray(np.array(shared), None)


def _contiguous(value: np.ndarray[Any, Any]) -> HostArray:
    if value.flags.c_contiguous and value.flags.aligned:
        return HostArray(value)
    copied = np.ascontiguousarray(value)

    def back() -> None:
        if value.flags.writeable:
            value[...] = copied

    return HostArray(copied, back)
