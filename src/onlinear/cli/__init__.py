"""The ``onlinear`` command. Each subcommand is a file beside this one and imports what it needs."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable
from typing import Annotated, NoReturn

import typer

import onlinear
from onlinear.cli.convert import convert
from onlinear.cli.demo import demo
from onlinear.cli.inspect import inspect
from onlinear.cli.measure import measure
from onlinear.cli.predict import predict
from onlinear.cli.train import train

app = typer.Typer(
    name="onlinear",
    help="Online linear learners: predict each example, then learn from it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
COMMANDS: dict[str, Callable[..., None]] = {
    "train": train,
    "predict": predict,
    "test": measure,
    "inspect": inspect,
    "convert": convert,
    "demo": demo,
}
for name, command in COMMANDS.items():
    app.command(name)(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"onlinear {onlinear.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Online linear learners: predict each example, then learn from it."""


def main() -> NoReturn:
    """Run the command line; a closed pipe or Ctrl-C ends it without a word (141, 130)."""
    if hasattr(signal, "SIGPIPE"):
        # Python ignores SIGPIPE and raises instead, even at exit, where nobody can catch it.
        # A command that writes to sockets has to ignore it again.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    gc.disable()  # no large cycles are made here, and looking for them takes a tenth of a second
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no matrices are multiplied, and threads take time to start
    try:
        app(prog_name="onlinear")
    except SystemExit as end:
        leave(end.code)
    leave(0)


def leave(code: int | str | None) -> NoReturn:
    """End at once: Python's own way out takes its time, and a thread that waits for standard input would block it."""
    if isinstance(code, str):
        print(code, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))
