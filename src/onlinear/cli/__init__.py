"""The ``onlinear`` command. Each subcommand is a file beside this one and imports what it needs."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

import click

import onlinear
from onlinear.cli.certify import certify, verify
from onlinear.cli.commands import Command
from onlinear.cli.convert import convert
from onlinear.cli.demo import demo
from onlinear.cli.ending import ending, interrupted_code, say
from onlinear.cli.inspect import inspect
from onlinear.cli.measure import measure
from onlinear.cli.predict import predict
from onlinear.cli.select import select
from onlinear.cli.train import train
from onlinear.system.descriptors import occupy_standard_files
from onlinear.system.pipes import waiting_text
from onlinear.system.signals import end_at_once, handle_signals

#: an option of the C library's malloc, by its number in malloc.h
M_ARENA_MAX = -8

COMMANDS: dict[str, Callable[..., None]] = {
    "select": select,
    "train": train,
    "predict": predict,
    "test": measure,
    "inspect": inspect,
    "certify": certify,
    "verify": verify,
    "convert": convert,
    "demo": demo,
}


class Commands(click.Group):
    """All commands, in the order of the table."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise SystemExit(interrupted_code(error)) from None  # click would say that it was aborted, and end with 1


def show_completion(context: click.Context, parameter: click.Parameter, shell: str | None) -> None:
    """Print the script by which a shell completes the words of the command line, and end."""
    if shell is None or context.resilient_parsing:
        return
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.command, {}, "onlinear", "_ONLINEAR_COMPLETE").source())
    context.exit()


@click.group(cls=Commands, commands={name: Command(name, command) for name, command in COMMANDS.items()})
@click.version_option(onlinear.__version__, message="onlinear %(version)s")
@click.option(
    "--show-completion",
    metavar="SHELL",
    type=click.Choice(["bash", "zsh", "fish"]),
    callback=show_completion,
    is_eager=True,
    expose_value=False,
    help="Show the script that makes bash, zsh or fish complete options and names, and exit.",
)
def app() -> None:
    """Online linear learners: predict each example, then learn from it."""


def main() -> NoReturn:
    """Run the command line; a closed pipe or a signal ends it without a word (141; 130, 143, 129)."""
    if hasattr(signal, "SIGPIPE"):
        # Python ignores SIGPIPE and raises instead, even at exit, where nobody can catch it.
        # A command that writes to sockets, or has more to do than to write, has to ignore it again.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    handle_signals(end_at_once)
    occupy_standard_files()
    sys.stdout, sys.stderr = waiting_text(sys.stdout), waiting_text(sys.stderr)
    gc.disable()  # no large cycles are made here, and looking for them takes a tenth of a second
    share_memory()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no matrices are multiplied, and threads take time to start
    try:
        with ending():  # help is written before any command begins
            app(prog_name="onlinear")
    except SystemExit as end:
        leave(end.code)
    leave(0)


def share_memory() -> None:
    """Let all threads take memory from one place, where the C library would give each its own.

    The blocks of a stream are made by one thread and freed by another: what is free in one place would lie idle there.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(M_ARENA_MAX, 1)


def leave(code: int | str | None) -> NoReturn:
    """End at once: Python's own way out takes its time, and a thread that waits for standard input would block it."""
    if isinstance(code, str):
        say(code)
    for file in (sys.stdout, sys.stderr):
        if file is not None:
            with suppress(OSError, ValueError):  # nobody is left to be told
                file.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))
