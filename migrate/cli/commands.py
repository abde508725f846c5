"""The commands: each collects its options, calls the pipeline and prints what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tmigrate import __version__
from tmigrate.cli.options import (
    ProgramCommand,
    input_paths,
    parsing_options,
    program_arguments,
    reporting_options,
    running_options,
)

if TYPE_CHECKING:
    from tmigrate.options import ConvertOptions, Listener
    from tmigrate.results import InputResult

Step = Callable[["Sequence[str | Path]", "ConvertOptions", "Listener"], "list[InputResult]"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tmigrate")
def tmigrate() -> None:
    """Move CUDA kernels to a readable tile DSL in Python, and prove each conversion.

    Exit status: 0 all verified (with --no-run: all converted), 1 something less, 2 wrong use.
    """


@tmigrate.command(cls=ProgramCommand)
@input_paths
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Write here.")
@click.option("--no-run", is_flag=True, help="Execute nothing of the input (for untrusted input).")
@click.option("--patch", is_flag=True, help="A diff of the launch sites; not in this version (TM5042).")
@parsing_options
@running_options
@reporting_options
def convert(paths: tuple[Path, ...], no_run: bool, as_json: bool, **options: Any) -> int:
    """Convert CUDA sources, and verify each kernel against its original.

    Writes NAME_tile.py, NAME_thread.py, NAME_tile.cert.json and test_NAME_tile.py beside each input.
    """
    from tmigrate import pipeline

    return _work(pipeline.convert, "converting", paths, as_json, execute=not no_run, **options)


@tmigrate.command(cls=ProgramCommand)
@input_paths
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Where the outputs are.")
@parsing_options
@running_options
@reporting_options
def verify(paths: tuple[Path, ...], as_json: bool, **options: Any) -> int:
    """Verify converted kernels again, as they stand on the disk now."""
    from tmigrate import pipeline

    return _work(pipeline.verify, "verifying", paths, as_json, **options)


@tmigrate.command()
@input_paths
@parsing_options
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, help="Inputs at a time.  [default: 1]")
@reporting_options
def assess(paths: tuple[Path, ...], as_json: bool, **options: Any) -> int:
    """Say what would convert and what would be refused; executes and writes nothing."""
    from tmigrate import pipeline

    return _work(pipeline.assess, "assessing", paths, as_json, execute=False, **options)


@tmigrate.command(cls=ProgramCommand)
@input_paths
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Where the outputs are.")
@parsing_options
@click.option("--debug", is_flag=True, help="Show the traceback of an internal error.")
def run(paths: tuple[Path, ...], **options: Any) -> int:
    """Build a CUDA program, of one or several files, with its kernels regenerated, and run it.

    The kernels are those of the outputs beside it, or in DIR; converted anew where there are none.
    The exit status is the program's.
    """
    from tmigrate import pipeline
    from tmigrate.progress import announce_slow_steps

    announce_slow_steps()
    return pipeline.run(paths, _options(**options))


@tmigrate.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@reporting_options
def status(paths: tuple[Path, ...], as_json: bool, debug: bool) -> int:
    """List certificates, and which are stale: the input changed since, or an output was edited.

    Exit status 1 if any is stale.
    """
    from tmigrate.certificate_status import certificate_states, print_states, states_to_json

    states = certificate_states(paths or (Path("."),))
    if as_json:
        _print_json(states_to_json(states))
    else:
        print_states(states)
    return int(any(not state.current for state in states))


@tmigrate.command()
@reporting_options
def doctor(as_json: bool, debug: bool) -> int:
    """Say what this machine has: compilers, headers, packages, GPU, and what tmigrate will use."""
    from tmigrate.cli.doctor import examine, print_examination

    found = examine()
    if as_json:
        _print_json(found.to_json())
    else:
        print_examination(found)
    return 0 if found.usable else 1


@tmigrate.command()
@click.argument("code", required=False)
@reporting_options
def explain(code: str | None, as_json: bool, debug: bool) -> int:
    """Explain a diagnostic code with an example; without CODE, list all."""
    from tmigrate.cli.explain import explain_code, list_codes

    if code is None:
        list_codes(as_json)
    else:
        explain_code(code, as_json)
    return 0


def _options(*, verify_time: float = 60.0, **options: Any) -> ConvertOptions:
    from tmigrate.options import ConvertOptions

    return ConvertOptions(verify_seconds=verify_time, arguments=program_arguments(), **options)


def _work(step: Step, doing: str, paths: Sequence[Path], as_json: bool, **options: Any) -> int:
    """Run a step of the pipeline over the inputs, print its results, and give the exit status."""
    from tmigrate.progress import progress
    from tmigrate.rendering import print_diagnostics, print_results
    from tmigrate.results import exit_status, report_to_json

    chosen = _options(**options)
    with progress(doing) as listener:
        results = step(paths, chosen, listener)
    if as_json:
        _print_json(report_to_json(results))
    else:
        print_diagnostics(diagnostic for result in results for diagnostic in result.diagnostics)
        print_results(results)
    return exit_status(results, executed=chosen.execute)


def _print_json(value: dict[str, Any]) -> None:
    import json

    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
