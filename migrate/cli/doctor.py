"""``tmigrate doctor``: what this machine has, and what tmigrate will use of it."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click

from tmigrate import __version__
from tmigrate.diagnostics import ToolchainError
from tmigrate.tilelang.runtime.cache import cache_folder
from tmigrate.tilelang.runtime.compilers import Compilers, find_compilers, usable_pairs
from tmigrate.tilelang.runtime.headers import builtin_include_flags

_GPU_PACKAGES = ("cupy-cuda13x", "cupy-cuda12x", "nvidia-cuda-nvrtc", "torch")

_TESTED = "tested: convert, verify, run"
_SUPPORT = {
    ("linux", "x86_64"): _TESTED,
    ("linux", "aarch64"): _TESTED,
    ("darwin", "arm64"): "supported: convert, verify, run",
}


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found; ``usable`` says whether ``convert`` can verify here."""

    platform: str
    support: str
    cpu: str
    threads: int
    compilers: tuple[Compilers, ...]
    used: Compilers | None
    used_fault: str
    header_flags: tuple[str, ...]
    header_fault: str
    packages: dict[str, str | None]
    gpu: tuple[str, ...]
    cache: str

    @property
    def usable(self) -> bool:
        """Whether there are compilers, headers for libclang, and libclang itself."""
        return self.used is not None and not self.header_fault and self.packages["libclang"] is not None

    def to_json(self) -> dict[str, Any]:
        """The object that ``doctor --json`` prints."""
        return {
            "version": 1,
            "tmigrate": __version__,
            "python": platform.python_version(),
            "platform": self.platform,
            "support": self.support,
            "cpu": self.cpu,
            "threads": self.threads,
            "compilers": [_pair_to_json(pair) for pair in self.compilers],
            "used": _pair_to_json(self.used) if self.used else None,
            "headers": list(self.header_flags),
            "packages": self.packages,
            "gpu": list(self.gpu),
            "cache": self.cache,
            "problems": [fault for fault in (self.used_fault, self.header_fault) if fault],
            "usable": self.usable,
        }


def examine() -> Examination:
    """Look at this machine; compiles two trivial files per compiler the first time."""
    used, used_fault = _used()
    flags, header_fault = _headers()
    system, machine = sys.platform, platform.machine()
    return Examination(
        platform=f"{platform.system()} {machine}",
        support=_SUPPORT.get((system, machine), "not supported; on Windows, use WSL"),
        cpu=_cpu_name(),
        threads=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        compilers=tuple(usable_pairs()),
        used=used,
        used_fault=used_fault,
        header_flags=flags,
        header_fault=header_fault,
        packages={name: _release(name) for name in ("libclang", "numpy", "ziglang", *_GPU_PACKAGES)},
        gpu=_gpus(),
        cache=str(cache_folder()),
    )


def _used() -> tuple[Compilers | None, str]:
    try:
        return find_compilers(), ""
    except ToolchainError as error:
        return None, str(error)


def _headers() -> tuple[tuple[str, ...], str]:
    try:
        return tuple(builtin_include_flags()), ""
    except ToolchainError as error:
        return (), str(error)
    except ImportError as error:
        return (), f"libclang cannot be loaded: {error}"


def _release(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu_name() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name"))
    return next(names, platform.machine())


def _gpus() -> tuple[str, ...]:
    """The NVIDIA GPUs that the driver shows; no library is loaded for it."""
    found = []
    for file in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        for line in file.read_text(errors="replace").splitlines():
            if line.startswith("Model:"):
                found.append(line.partition(":")[2].strip())
    return tuple(found)


def _pair_to_json(pair: Compilers) -> dict[str, str]:
    return {
        "c": " ".join(pair.c.command),
        "c_version": pair.c.version,
        "cxx": " ".join(pair.cxx.command),
        "cxx_version": pair.cxx.version,
    }


def print_examination(found: Examination) -> None:
    """Print one line a finding."""
    rows = [
        ("tmigrate", f"{__version__}, Python {platform.python_version()}"),
        ("platform", f"{found.platform} ({found.support})"),
        ("CPU", f"{found.cpu}, {found.threads} threads"),
    ]
    rows += [("compilers", _describe(pair)) for pair in found.compilers]
    rows.append(("used", _describe(found.used) if found.used else f"none: {found.used_fault}"))
    rows.append(("headers", found.header_fault or _header_origin(found.header_flags)))
    rows += [(name, release or "not installed") for name, release in found.packages.items()]
    rows.append(("GPU", ", ".join(found.gpu) or "none; originals run under the emulator on the CPU"))
    rows.append(("cache", found.cache))
    for name, text in rows:
        click.echo(f"{name:18}{text}")
    click.echo("\nReady." if found.usable else "\nNot ready: see above.")


def _describe(pair: Compilers) -> str:
    return f"{pair.c.version}; {pair.cxx.version}" if pair.c.version != pair.cxx.version else pair.c.version


def _header_origin(flags: tuple[str, ...]) -> str:
    folders = [second for first, second in zip(flags, flags[1:], strict=False) if first == "-isystem"]
    return f"libclang parses those of {folders[0]} and {len(folders) - 1} more folders"
