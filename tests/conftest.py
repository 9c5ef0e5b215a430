"""What every test may rely on."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path
from typing import Any

import hypothesis

# What one worker has compiled the others need not. Set before Numba is loaded.
os.environ["NUMBA_CACHE_DIR"] = str(Path(__file__).parent.parent / ".pytest_cache" / "numba")

# Thousands of collected tests and whatever Numba translates are objects that stay: Python's garbage collector looks for
# them less often, a third of the time of collecting and a sixth of compiling.
gc.set_threshold(100_000, 20, 20)

# Under nohup a hangup is ignored, by the commands that are tested as well.
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Examples are drawn from the test itself, not from the clock: a red test stays red.
hypothesis.settings.register_profile("onlinear", deadline=None, derandomize=True, database=None, print_blob=False)
hypothesis.settings.load_profile("onlinear")


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", "compiles: waits for the compiler (seconds, then cached)")


def pytest_collection_finish() -> None:
    """The garbage collector leaves alone what stays to the end: all that was imported and collected."""
    gc.collect()
    gc.freeze()
