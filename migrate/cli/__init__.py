"""The command ``tmigrate``.

``main`` imports little: ``tmigrate --help`` must answer at once, so commands import what they need.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tmigrate.diagnostics import TmigrateError, UsageError


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 all verified, 1 something less, 2 wrong use or a failure."""
    sys.exit(status_of(list(sys.argv[1:] if arguments is None else arguments)))


def status_of(arguments: list[str]) -> int:
    """The exit status of ``tmigrate`` with these arguments; a person's mistake never shows a traceback."""
    from tmigrate.cli.commands import tmigrate

    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    debug = "--debug" in own
    try:
        return int(tmigrate.main(args=arguments, prog_name="tmigrate", standalone_mode=False) or 0)
    except TmigrateError as error:
        if debug and not isinstance(error, UsageError):
            raise
        _show(error, as_json="--json" in own)
        return 2
    except BrokenPipeError:  # `tmigrate ... | head`
        sys.stderr.close()
        return 1
    except Exception as error:
        return _other_failure(error, debug)


def _show(error: TmigrateError, *, as_json: bool) -> None:
    """Print the diagnostics of a command that could not start; under ``--json`` as one object, too."""
    from tmigrate.rendering import print_diagnostics

    print_diagnostics(error.diagnostics)
    if as_json:
        import json

        from tmigrate.results import diagnostic_to_json, report_to_json

        found = [diagnostic_to_json(diagnostic) for diagnostic in error.diagnostics]
        print(json.dumps({**report_to_json([]), "diagnostics": found}, indent=2, ensure_ascii=False))


def _other_failure(error: Exception, debug: bool) -> int:
    import click

    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.ClickException):
        error.show()
        return 2
    if isinstance(error, click.Abort):  # Ctrl-C
        print("interrupted", file=sys.stderr)
        return 130
    if debug:
        raise error
    first_line = (str(error).splitlines() or [""])[0]
    print(f"error TM5030: internal error: {type(error).__name__}: {first_line}", file=sys.stderr)
    print("  help: run again with --debug for the traceback, and report it", file=sys.stderr)
    return 2
