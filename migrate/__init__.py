"""tmigrate: CUDA kernels and ONNX graphs become readable tile programs, and each step is proven.

This module runs before every ``tmigrate.*`` import, so it imports nothing heavy: the API loads at first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tmigrate.api import assess, convert, verify
    from tmigrate.diagnostics import TmigrateError

__all__ = ["TmigrateError", "__version__", "assess", "convert", "verify"]


def __getattr__(name: str) -> Any:
    if name in ("assess", "convert", "verify"):
        from tmigrate import api

        return getattr(api, name)
    if name == "TmigrateError":
        from tmigrate.diagnostics import TmigrateError

        return TmigrateError
    raise AttributeError(f"module 'tmigrate' has no attribute '{name}'")
