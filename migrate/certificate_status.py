"""``tmigrate status``: which certificates still speak of the files that stand beside them.

Of a certificate, this module reads ``{"tmigrate": ..., "input": {"path": ..., "sha256": ...},
"sources": [as input], "outputs": {name: sha256}}``; paths are relative to the certificate's folder.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CERTIFICATE_SUFFIX = "_tile.cert.json"


@dataclass(frozen=True, slots=True)
class CertificateState:
    """One certificate, what it says of its input's status, and every way in which it is out of date."""

    path: str
    input: str | None
    status: str | None
    stale: tuple[str, ...]

    @property
    def current(self) -> bool:
        """Whether nothing changed since."""
        return not self.stale


def certificate_states(paths: Sequence[Path]) -> list[CertificateState]:
    """The state of every certificate that ``paths`` (folders, inputs or certificates) lead to."""
    files = dict.fromkeys(file for path in paths for file in _certificates(path))
    return [_state(file) for file in files]


def _certificates(path: Path) -> Iterator[Path]:
    if path.name.endswith(CERTIFICATE_SUFFIX):
        yield path
        return
    if not path.is_dir():
        yield path.with_name(path.stem + CERTIFICATE_SUFFIX)
        return
    for root, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(root) / name for name in sorted(names) if name.endswith(CERTIFICATE_SUFFIX))


def read_certificate(file: Path) -> dict[str, Any] | None:
    """The certificate as an object; None where it is missing or is not one."""
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and "tmigrate" in found else None


def previous_hashes(file: Path) -> dict[str, str]:
    """The outputs' hashes that the certificate stores, for ``write_outputs``; empty where there is none."""
    found = (read_certificate(file) or {}).get("outputs")
    if not isinstance(found, dict):
        return {}
    return {name: value for name, value in found.items() if isinstance(value, str)}


def _state(file: Path) -> CertificateState:
    found = read_certificate(file)
    if found is None:
        reason = "is not a certificate" if file.exists() else "does not exist"
        return CertificateState(str(file), None, None, (reason,))
    source = found.get("input")
    others = found.get("sources", [])
    inputs = [source, *(others if isinstance(others, list) else [])]
    stale = [*(change for it in inputs for change in _input_changes(file, it)), *_output_changes(file)]
    path = source.get("path") if isinstance(source, dict) else None
    status = found.get("status")
    return CertificateState(str(file), path, status if isinstance(status, str) else None, tuple(stale))


def _input_changes(file: Path, source: object) -> Iterator[str]:
    if not isinstance(source, dict) or not isinstance(source.get("path"), str):
        yield "names no input"
        return
    current = _hash(file.parent / source["path"])
    if current is None:
        yield f"input {source['path']} is missing"
    elif current != source.get("sha256"):
        yield f"input {source['path']} changed"


def _output_changes(file: Path) -> Iterator[str]:
    for name, expected in sorted(previous_hashes(file).items()):
        current = _hash(file.parent / name)
        if current is None:
            yield f"output {name} is missing"
        elif current != expected:
            yield f"output {name} was edited"


def _hash(file: Path) -> str | None:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None


def states_to_json(states: Sequence[CertificateState]) -> dict[str, Any]:
    """The object that ``status --json`` prints."""
    listed = [
        {
            "path": state.path,
            "input": state.input,
            "status": state.status,
            "current": state.current,
            "stale": list(state.stale),
        }
        for state in states
    ]
    return {"version": 1, "certificates": listed}


def print_states(states: Sequence[CertificateState]) -> None:
    """Print one line a certificate, and a closing line of counts."""
    import click

    for state in states:
        text = "current" if state.current else "stale: " + "; ".join(state.stale)
        click.echo(f"{state.path}  {state.status or '-'}  {text}")
    stale = sum(not state.current for state in states)
    click.echo(f"{len(states)} certificate{'s' if len(states) != 1 else ''}, {stale} stale")
