"""``--patch``: a diff that replaces launch sites by calls of regenerated kernels.

This version has no library of regenerated kernels that a user's own build could link, so that such a diff
would not compile.  It says so instead of writing one.
"""

from __future__ import annotations

from pathlib import Path

from tmigrate.diagnostics import Diagnostic, UsageError
from tmigrate.locations import Location


def refuse_patch(source: Path) -> None:
    """Raise UsageError (TM5042): launch sites of `source` cannot be patched yet."""
    raise UsageError(
        Diagnostic(
            "TM5042",
            "--patch is not available in this version",
            Location(str(source)),
            remedy="convert without --patch; `tmigrate run` runs the program on its regenerated kernels",
        )
    )
