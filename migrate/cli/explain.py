"""``tmigrate explain``: what a diagnostic code means, with an example."""

from __future__ import annotations

import json
from difflib import get_close_matches

import click

from tmigrate.codes import Code, all_codes
from tmigrate.diagnostics import Diagnostic, UsageError


def list_codes(as_json: bool) -> None:
    """Print every code with its title."""
    codes = all_codes().values()
    if as_json:
        click.echo(json.dumps({"version": 1, "codes": [_to_json(entry) for entry in codes]}, indent=2))
        return
    for entry in codes:
        click.echo(f"{entry.code}  {entry.title}")


def explain_code(name: str, as_json: bool) -> None:
    """Print one code; raises UsageError (TM5040) with the nearest codes where there is none of that name."""
    table = all_codes()
    entry = table.get(name.upper())
    if entry is None:
        raise _unknown(name, table)
    if as_json:
        click.echo(json.dumps({"version": 1, "codes": [_to_json(entry)]}, indent=2))
        return
    click.echo(f"{entry.code}: {entry.title}\n\n{click.wrap_text(entry.meaning, 90)}")
    for heading, example in (("Instead of", entry.bad), ("write", entry.good)):
        if example:
            indented = "\n".join(f"    {line}".rstrip() for line in example.splitlines())
            click.echo(f"\n{heading}:\n\n{indented}")


def _unknown(name: str, table: dict[str, Code]) -> UsageError:
    digits = name.upper().removeprefix("TM").translate(str.maketrans("OIL", "011"))
    asked = f"TM{digits}"
    longer = [code for code in table if code.startswith(asked)]
    near = (longer or get_close_matches(asked, table, n=3, cutoff=0.6))[:3]
    remedy = f"did you mean {' or '.join(near)}?" if near else "`tmigrate explain` lists all codes"
    return UsageError(Diagnostic("TM5040", f"'{name}' is not a diagnostic code", remedy=remedy))


def _to_json(entry: Code) -> dict[str, str]:
    return {
        "code": entry.code,
        "title": entry.title,
        "meaning": entry.meaning,
        "bad": entry.bad,
        "good": entry.good,
    }
