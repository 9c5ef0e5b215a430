"""Commands that are killed on their way, when they have saved so many checkpoints."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path


def changes(path: Path, command: subprocess.Popen[bytes]) -> Iterator[int]:
    """A number each time that a file is seen to be another one, until the command ends."""
    seen, count = inode(path), 0
    while command.poll() is None:
        now = inode(path)
        if now is not None and now != seen:
            seen, count = now, count + 1
            yield count
        time.sleep(0.0005)


def inode(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def is_finished(model: Path) -> bool:
    return b'"unfinished"' not in model.read_bytes()


def kill_after(command: subprocess.Popen[bytes], model: Path, checkpoints: int, delay: float) -> bool:
    """Kill a command so long after so many checkpoints; False if it ended before."""
    with command:
        for count in changes(model, command):
            if count == checkpoints:
                time.sleep(delay)
                command.kill()
                break
        err = command.communicate()[1]
    assert command.returncode in (0, -signal.SIGKILL), err.decode()
    return command.returncode != 0
