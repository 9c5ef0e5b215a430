"""The command line, run here, which is quick, or as a process of its own, as users do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

import onlinear
from onlinear.cli import app

PLAIN = {"COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1", "TERM": "dumb"}


class Ended(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


def run_here(*words: Any, stdin: bytes = b"") -> Ended:
    """A command in this process; an error that it does not catch is raised."""
    found = CliRunner().invoke(app, list(map(str, words)), stdin, PLAIN, catch_exceptions=False, prog_name="onlinear")
    return Ended(found.exit_code, found.stdout, found.stderr)


def source_folder() -> str:
    """Where the package is that is tested."""
    return str(Path(onlinear.__file__).parent.parent)


def process(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
    """A command as a process of its own, which is under way."""
    env = os.environ | PLAIN | {"PYTHONPATH": source_folder()}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-m", "onlinear", *map(str, words)], env=env, **pipes | options)


def run_apart(*words: Any, stdin: bytes | None = None, **options: Any) -> Ended:
    """A command as a process of its own, to its end."""
    if stdin is not None:
        options["stdin"] = subprocess.PIPE
    with process(*words, **options) as command:
        out, err = command.communicate(stdin, timeout=300)
    return Ended(command.returncode, (out or b"").decode(), (err or b"").decode())
