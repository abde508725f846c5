"""Operations on whole tensors: one module per family in `operations/`, found by name when first needed."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from tmigrate.tilelang.tensors import operations
from tmigrate.tilelang.tensors.operation import OPERATIONS

for _module in sorted(m.name for m in pkgutil.iter_modules(operations.__path__)):
    import_module(f"{operations.__name__}.{_module}")

__all__ = ["OPERATIONS"]
