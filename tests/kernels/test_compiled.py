"""The disk cache of compiled loops."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from onlinear.kernels.compiled import CacheFiles, kept


def test_processes_that_compile_for_different_types_at_once_never_swap_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = (CacheFiles(str(tmp_path), "loop", "stamp") for _ in range(2))
    with monkeypatch.context() as before_the_other_wrote:
        before_the_other_wrote.setattr(CacheFiles, "_load_index", lambda self: {})
        mine.save("code for integers", 1)
        index = (tmp_path / "loop.nbi").read_bytes()
        theirs.save("code for floats", 2.0)
    assert mine.load("code for floats") == 2.0
    (tmp_path / "loop.nbi").write_bytes(index)  # the order in which two processes write is anyone's guess
    assert theirs.load("code for integers") == 1
    theirs.save("code for floats", 3.0)
    assert (mine.load("code for integers"), mine.load("code for floats")) == (1, 3.0)


def test_what_is_kept_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def double(x: float) -> float:
        return x + x

    first, second = kept(numba.njit(double)), kept(numba.njit(double))
    assert (first(1), first(1.5)) == (2, 3.0)
    assert (second(1), second(1.5)) == (2, 3.0)
    assert sum(second.stats.cache_hits.values()) == 2


def test_a_second_process_reads_machine_code_without_what_only_compiling_needs(tmp_path: Path) -> None:
    (tmp_path / "rows.svm").write_text("1 2:0.5 1:1e-400\n-1 3:123456789012345678901e-19\n")
    program = """
import sys
from numba.core.runtime import rtsys
import onlinear
(block,) = onlinear.open_stream("rows.svm", features=3)
print(block.X.toarray().tolist(), rtsys._init, "numba.np.arrayobj" in sys.modules)
"""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    first, second = (
        subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True)
        for _ in range(2)
    )
    rows = "[[0.0, 0.5, 0.0], [0.0, 0.0, 12.345678901234567]]"
    assert (first.stdout, second.stdout) == (f"{rows} True True\n", f"{rows} False False\n")
