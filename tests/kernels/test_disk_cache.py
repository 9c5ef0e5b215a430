"""The disk cache of compiled loops."""

from __future__ import annotations

import errno
import io
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core import caching

from onlinear.kernels.compiler.internals.disk_cache import CacheFiles, disk_cached, disk_cached_callback


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

    first, second = disk_cached(numba.njit(double)), disk_cached(numba.njit(double))
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


DAMAGE = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "zeros": lambda content: bytes(len(content)),
    "zeros at the end": lambda content: content[:100] + bytes(len(content) - 100),
    "garbage": lambda content: bytes(range(256)) * 10,
    "another pickle": lambda content: pickle.dumps("what is this?"),
}


def doubling() -> Any:
    def double(x: float) -> float:
        return x + x

    return disk_cached(numba.njit(double))


def hits_of(compiled: Any) -> int:
    return sum(compiled.stats.cache_hits.values())


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_file_is_compiled_and_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, damage: Callable[[bytes], bytes]
) -> None:
    """As after a power failure."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert doubling()(1.5) == 3.0
    (file,) = tmp_path.rglob(f"*{ending}")
    file.write_bytes(damage(file.read_bytes()))
    second, third = doubling(), doubling()
    assert (second(1.5), hits_of(second)) == (3.0, 0)
    assert (third(1.5), hits_of(third)) == (3.0, 1)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_a_cache_that_cannot_be_written_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def refuse(self: Any, path: str, content: bytes) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as full:
        full.setattr(CacheFiles, "_write", refuse)
        assert doubling()(1.5) == 3.0
    assert not list(tmp_path.rglob("*.nb*"))
    assert doubling()(1.5) == 3.0
    assert list(tmp_path.rglob("*.nbc"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = CacheFiles(str(tmp_path), "loop", "stamp")
    monkeypatch.setattr(caching, "open", lambda path, mode: io.FileIO("/dev/full", mode), raising=False)
    with pytest.raises(OSError, match="No space left"):
        files.save("key", 1)
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []
    assert files.load("key") is None


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And none of those that Numba would take instead."""
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", caching.CacheImpl._locator_classes[:1])
    assert doubling()(1.5) == 3.0


def test_a_callback_whose_files_are_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def add_one(x: int) -> int:
        return x + 1

    signature = numba.types.int64(numba.types.int64)
    assert disk_cached_callback(add_one, signature).ctypes(1) == 2
    for file in tmp_path.rglob("*.nb*"):
        file.write_bytes(b"")
    again, found = disk_cached_callback(add_one, signature), disk_cached_callback(add_one, signature)
    assert (again.ctypes(1), found.ctypes(1)) == (2, 2)
    assert (again.cache_hits, found.cache_hits) == (0, 1)
