"""Which room may import which: the arrows of docs/system.md, read from the source of every module."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = {
    "migrate": "tmigrate",
    "tilelang": "tmigrate.tilelang",
    "converters": "tmigrate.converters",
    "compat": "tmigrate.compat",
}
LEAVES = {"tmigrate", "tmigrate.locations", "tmigrate.diagnostics", "tmigrate.codes"}
MAY_IMPORT = {
    "tilelang": {"tmigrate.tilelang"},
    "converters": {"tmigrate.converters", "tmigrate.tilelang"},
    "compat": {"tmigrate.compat", "tmigrate.tilelang"},
}
HEAVY = {"clang", "click", "ml_dtypes", "numpy", "rich", "onnx", "z3"}


def modules(room: str) -> list[Path]:
    """The room's own modules, without those behind the links from ``migrate/``."""
    return sorted(
        file for file in (ROOT / room).rglob("*.py") if file.resolve() == ROOT / file.relative_to(ROOT)
    )


def imports(file: Path, *, top_level_only: bool = False) -> list[tuple[int, str, int]]:
    """Every import in the file: (line, module, number of leading dots)."""
    tree = ast.parse(file.read_text(), str(file))
    nodes = tree.body if top_level_only else ast.walk(tree)
    found: list[tuple[int, str, int]] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name, 0) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            # `from tmigrate import pipeline` imports tmigrate.pipeline.
            names = [f"tmigrate.{alias.name}" for alias in node.names] if base == "tmigrate" else [base]
            found += [(node.lineno, name, node.level) for name in names]
    return found


def allowed(room: str, module: str) -> bool:
    """Whether the room may import ``module``; a leaf stands for the modules below it, too."""
    if not (module == "tmigrate" or module.startswith("tmigrate.")) or module == "tmigrate.__version__":
        return True
    if (room, module) == ("converters", "tmigrate.compat"):
        return True  # the folder of the CUDA headers, as data; nothing below it
    roots = LEAVES - {"tmigrate"} | MAY_IMPORT[room]
    return any(module == root or module.startswith(root + ".") for root in roots)


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_rooms_import_only_along_the_arrows(room: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{line}: imports {module}"
        for file in modules(room)
        for line, module, _ in imports(file)
        if not allowed(room, module)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_imports_are_absolute_and_go_through_the_import_root(room: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{line}: imports {'.' * dots}{module}"
        for file in modules(room)
        for line, module, dots in imports(file)
        if dots or module.partition(".")[0] in ROOMS
    ]
    assert not wrong, "\n".join(wrong)


def test_leaf_modules_import_no_room() -> None:
    files = [ROOT / "migrate" / name for name in ("locations.py", "diagnostics.py")]
    files += sorted((ROOT / "migrate" / "codes").glob("*.py"))
    wrong = [
        f"{file.relative_to(ROOT)}:{line}: imports {module}"
        for file in files
        for line, module, _ in imports(file)
        if module.startswith("tmigrate.")
        and not any(module.startswith(leaf) for leaf in LEAVES - {"tmigrate"})
    ]
    assert not wrong, "\n".join(wrong)


def test_the_command_line_starts_without_heavy_imports() -> None:
    """``tmigrate --help`` must answer at once: what runs before a command imports click at most."""
    files = [ROOT / "migrate" / name for name in ("__init__.py", "__main__.py", "cli/__init__.py")]
    files += [ROOT / "migrate" / "cli" / name for name in ("commands.py", "options.py")]
    wrong = [
        f"{file.relative_to(ROOT)}:{line}: imports {module}"
        for file in files
        for line, module, _ in imports(file, top_level_only=True)
        if module.partition(".")[0] in HEAVY - {"click"}
    ]
    assert not wrong, "\n".join(wrong)
