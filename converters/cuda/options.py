"""What the caller chooses about a conversion, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass, field

from tmigrate.diagnostics import Diagnostic, Severity
from tmigrate.locations import Location
from tmigrate.tilelang.ir.module import Module


@dataclass(frozen=True, slots=True)
class FrontEndOptions:
    """How a CUDA file is read.

    `defines` holds ``NAME`` or ``NAME=VALUE``; `instantiate` holds kernel instances that no launch of the
    file reaches, as in ``scale<float, 4>``; `flags` are further arguments of clang.
    """

    include_folders: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    standard: str = "c++17"
    instantiate: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchSite:
    """One ``kernel<<<grid, block, shared, stream>>>``: where it stands and its texts in the source."""

    location: Location
    grid: str
    block: str
    shared: str = ""
    stream: str = ""


@dataclass(slots=True)
class KernelRecord:
    """One kernel of the file: an instance of a template, or a plain definition.

    `name` is its name in the IR, `definition` its qualified name in C++ (one for all instances of a
    template), `symbol` the mangled name that launches know ("" for a template without instances).
    """

    name: str
    definition: str
    symbol: str
    location: Location
    diagnostics: list[Diagnostic] = field(default_factory=list)
    launches: list[LaunchSite] = field(default_factory=list)
    source_lines: int = 0
    assumptions: list[str] = field(default_factory=list)

    @property
    def refused(self) -> bool:
        """Whether a diagnostic kept the kernel from being converted."""
        return any(d.severity is Severity.ERROR for d in self.diagnostics)

    @property
    def status(self) -> str:
        return "refused" if self.refused else "converted"


@dataclass(slots=True)
class FrontEndResult:
    """A converted file: the module holds what converted, `kernels` every kernel, in the source's order.

    `diagnostics` are the file's own (clang's errors); those of a kernel stand in its record.
    """

    module: Module
    kernels: list[KernelRecord] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    flags: tuple[str, ...] = ()
