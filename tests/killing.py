"""Commands that a signal strikes on their way, when they have saved so many checkpoints."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from commands import PLAIN, Ended, source_folder

#: the command line, which sends a signal to itself: whoever watches from outside may miss checkpoints while others are
#: busy on the machine, and comes too late
STRUCK = """
import os, sys, threading
from pathlib import Path

model, wanted, delay, number = Path(sys.argv.pop(1)), *map(float, (sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)))
replace, saved = os.replace, 0

def replace_and_strike(source, target, **options):
    global saved
    replace(source, target, **options)
    saved += Path(target).resolve() == model
    if saved == wanted and Path(target).resolve() == model:
        timer = threading.Timer(delay, os.kill, (os.getpid(), int(number)))
        timer.daemon = True
        timer.start()

os.replace = replace_and_strike
from onlinear.cli import main
main()
"""


def is_finished(model: Path) -> bool:
    return b'"unfinished"' not in model.read_bytes()


def run_struck(model: Path, checkpoints: int, delay: float, number: int, *words: Any) -> Ended:
    """A command to its end, which a signal may bring so many seconds after so many checkpoints of a model."""
    env = os.environ | PLAIN | {"PYTHONPATH": source_folder()}
    strike = [model.resolve(), checkpoints, delay, int(number)]
    ended = subprocess.run(
        [sys.executable, "-c", STRUCK, *map(str, strike), *map(str, words)],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=600,
    )
    return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def kill_after(model: Path, checkpoints: int, delay: float, *words: Any) -> bool:
    """Kill a command so long after so many checkpoints; False if it ended before."""
    ended = run_struck(model, checkpoints, delay, signal.SIGKILL, *words)
    assert ended.code in (0, -signal.SIGKILL), ended.err
    return ended.code != 0
