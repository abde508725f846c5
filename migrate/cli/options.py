"""Options that several commands share, and program arguments after ``--``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])

PROGRAM_ARGUMENTS = "tmigrate.program_arguments"


class ProgramCommand(click.Command):
    """A command whose words after ``--`` are the input program's own: ``tmigrate run a.cu -- -n 100``."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Take the program's words away before click sees them."""
        if "--" in args:
            cut = args.index("--")
            args, context.meta[PROGRAM_ARGUMENTS] = args[:cut], tuple(args[cut + 1 :])
        return super().parse_args(context, args)

    def collect_usage_pieces(self, context: click.Context) -> list[str]:
        """``[OPTIONS] PATHS... [-- ARGUMENTS...]``."""
        return [*super().collect_usage_pieces(context), "[-- ARGUMENTS...]"]


def program_arguments() -> tuple[str, ...]:
    """The words after ``--`` of the command that runs now."""
    found: tuple[str, ...] = click.get_current_context().meta.get(PROGRAM_ARGUMENTS, ())
    return found


def parsing_options(function: Function) -> Function:
    """``-I``, ``-D``, ``-std`` and ``--instantiate``: how the source is read."""
    folder = click.Path(path_type=Path)
    for option in (
        click.option(
            "--instantiate",
            multiple=True,
            metavar="NAME<ARGS>",
            help="Also convert this instantiation of a template, e.g. 'scale<float, 4>'.",
        ),
        click.option("-std", "standard", metavar="STD", help="The C++ standard, e.g. -std=c++17."),
        click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro."),
        click.option(
            "-I",
            "include_folders",
            multiple=True,
            type=folder,
            metavar="DIR",
            help="Search here for headers.",
        ),
    ):
        function = option(function)
    return function


def running_options(function: Function) -> Function:
    """``--verify-time``, ``--check`` and ``-j``: how verification runs."""
    for option in (
        click.option(
            "-j", "--jobs", type=click.IntRange(1), default=1, help="Inputs at a time.  [default: 1]"
        ),
        click.option(
            "--check", is_flag=True, help="Check the original in full: races, bounds, initialisation."
        ),
        click.option(
            "--verify-time",
            type=click.FloatRange(0, min_open=True),
            default=60.0,
            metavar="SECONDS",
            help="Verification's time per file; what is not done by then is 'converted'.  [default: 60]",
        ),
    ):
        function = option(function)
    return function


def reporting_options(function: Function) -> Function:
    """``--json`` and ``--debug``: how results and failures are shown."""
    for option in (
        click.option("--debug", is_flag=True, help="Show the traceback of an internal error."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else."),
    ):
        function = option(function)
    return function


def input_paths(function: Function) -> Function:
    """One path or more; whether they can be read is the pipeline's to say, for all of them at once."""
    argument = click.argument(
        "paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path)
    )
    return argument(function)
