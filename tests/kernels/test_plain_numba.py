"""Without anything that leans on Numba's insides: the same bits, made by ``numba.njit`` and ``overload`` alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from onlinear.kernels.compiler.plain import PIECES, VARIABLE, find_plain_pieces

#: prints a line for each case: what was read or learned, in bits
PROGRAM = """
import builtins, gc, hashlib, sys
gc.set_threshold(100_000, 20, 20)  # as in tests/conftest.py
import numba  # Numba itself may import its insides, and does now
import numpy as np, scipy.sparse

genuine = builtins.__import__

def guarded(name, scope=None, *rest):
    inside = name.startswith(("numba.core", "numba.cpython", "llvmlite"))
    if PLAIN and inside and (scope or {}).get("__name__", "").startswith("onlinear"):
        raise ImportError(f"{scope['__name__']} imports {name}")
    return genuine(name, scope, *rest)

PLAIN = sys.argv[1] == "plain"
builtins.__import__ = guarded
import onlinear
from onlinear.kernels.compiler.object_layout import AVAILABLE

assert PLAIN == (not AVAILABLE)
rng = np.random.default_rng(7)

def tell(name, *arrays):
    bits = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
    print(name, hashlib.sha256(bits).hexdigest()[:16], flush=True)

def tell_block(name, block):
    rows = scipy.sparse.csr_array(block.X)
    tell(name, rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data, np.asarray(block.y, dtype="U"))

def blocks(name, **options):
    for number, block in enumerate(onlinear.open_stream(name, **options)):
        tell_block(f"{name} {number}", block)

def learned(name, model, X, y):
    model.partial_fit(X[:50], y[:50], **({"classes": np.unique(y)} if hasattr(model, "predict_proba") else {}))
    model.partial_fit(X[50:], y[50:])
    tell(name, model.coef_, model.intercept_, np.array([model.loss_]))

sparse = scipy.sparse.random(120, 400, density=0.25, format="csr", random_state=3)
dense = rng.normal(size=(120, 150)).astype(np.float32)
three, two = rng.integers(0, 3, 120), rng.integers(0, 2, 120)

blocks("rows.svm", features=500)
blocks("rows.csv", target="label", bits=12)
blocks("rows.vw", bits=12)

Any = onlinear.OnlineClassifier
learned("a bank of averages, long sparse rows", Any("log_loss", "sgd", l2=1e-3, average=True), sparse, three)
learned("a bank of dense rows", Any("hinge", "pa1"), dense, three)
learned("cells, long sparse rows", Any("log_loss", "adagrad", l1=1e-3), sparse, two)
learned("a matrix", Any("perceptron", "second_order"), dense[:, :9], two)
learned("numbers", onlinear.OnlineRegressor("squared_error", "normalised"), dense, dense[:, 0])

by_dicts = Any("log_loss", "adagrad", l1=1e-3)
for row in range(60):
    start, stop = sparse.indptr[row], sparse.indptr[row + 1]
    x = {f"x{j}": float(v) for j, v in zip(sparse.indices[start:stop], sparse.data[start:stop])}
    by_dicts.learn_one(x | {"kind": "ab"[row % 2], 7: row}, int(two[row]))
tell("dicts", by_dicts.coef_, by_dicts.intercept_, np.array([by_dicts.loss_]))
"""


def write_rows(folder: Path) -> None:
    """Files with lines of all kinds: plain ones, which are read eight words at a time, and others."""
    svmlight, csv, vw = [], ["label,age,town,note"], []
    for i in range(300):
        entries = [f"{j}:{(i * j % 17) / 8 - 1}" for j in range(1, 40, 1 + i % 3)]
        svmlight.append(f"{'+1' if i % 3 else '-1'} {' '.join(entries)} 400:{i}e-3 401:0.12345678901234567890{i}")
        csv.append(f'{i % 2},{i / 7},"town ""{i % 13}""",{"?" if i % 5 else f" a, {i}".replace(",", ";")}')
        words = " ".join(f"word{k * i % 50}" for k in range(1 + i % 20))
        vw.append(f"{1 if i % 2 else -1} 2.5 'tag|text {words} size:{i}.25 |other:0.5 averyveryverylongword{i} a b")
    for name, lines in (("rows.svm", svmlight), ("rows.csv", csv), ("rows.vw", vw)):
        (folder / name).write_text("\n".join(lines) + "\n")


@pytest.mark.compiles
def test_the_plain_way_has_the_same_bits(tmp_path: Path) -> None:
    write_rows(tmp_path)

    def run(way: str, wanted: str) -> list[str]:
        environment = os.environ | {VARIABLE: wanted}
        command = [sys.executable, "-c", PROGRAM, way]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    lines = run("normal", "0")
    assert len(lines) == 9
    assert run("plain", "1") == lines


def test_which_pieces_are_plain() -> None:
    assert find_plain_pieces((0, 68), "") == find_plain_pieces((0, 68), "0") == frozenset()
    assert find_plain_pieces((0, 68), "gather, powers") == {"gather", "powers"}
    assert find_plain_pieces((0, 68), "1") == find_plain_pieces((0, 69), "") == find_plain_pieces((1, 0), "") == PIECES
    with pytest.raises(ValueError, match="there is no piece gather2"):
        find_plain_pieces((0, 68), "gather2")
