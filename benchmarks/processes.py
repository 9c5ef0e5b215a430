"""Whole processes, and what they take.

A child is started by a small Python between it and us: on Linux the peak memory of a process counts that of the one
that started it, which here may have held a lot.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

LAUNCHER = """
import json, os, sys, time
began = time.perf_counter()
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
spent = time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
with open(sys.argv[1], "w") as report:
    json.dump(spent, report)
sys.exit(os.waitstatus_to_exitcode(status) % 256)
"""


class Spent(NamedTuple):
    """What a process took, in seconds and bytes, what it printed, and what it said on standard error."""

    seconds: float
    cpu: float
    peak: float
    output: str
    said: str


def python(*arguments: object) -> Spent:
    """Python with these arguments, from start to end."""
    return run([sys.executable, *map(str, arguments)])


def run(command: Sequence[str]) -> Spent:
    """A command from start to end; what it prints is shown only if it fails."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as report:
        launch = [sys.executable, "-S", "-c", LAUNCHER, report.name, *command]
        done = subprocess.run(launch, capture_output=True, text=True, env=environment())
        if done.returncode:
            printed = f"{done.stdout[-1000:]}\n{done.stderr[-2000:]}"
            raise SystemExit(f"{' '.join(command)}\nended with {done.returncode}:\n{printed}")
        seconds, cpu, peak = json.load(report)
        return Spent(seconds, cpu, peak, done.stdout, done.stderr)


def environment() -> dict[str, str]:
    """Ours, except that modules may be cached, as they are by default."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def read_through(path: Path) -> None:
    """Have the file in the memory of the operating system."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 24):
            pass
