"""What every test may rely on."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import hypothesis

# What one worker has compiled the others need not. Set before Numba is loaded.
os.environ["NUMBA_CACHE_DIR"] = str(Path(__file__).parent.parent / ".pytest_cache" / "numba")

# Under nohup a hangup is ignored, by the commands that are tested as well.
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Examples are drawn from the test itself, not from the clock: a red test stays red.
hypothesis.settings.register_profile("onlinear", deadline=None, derandomize=True, database=None, print_blob=False)
hypothesis.settings.load_profile("onlinear")


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", "compiles: waits for the compiler (seconds, then cached)")
