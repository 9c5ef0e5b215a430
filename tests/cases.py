"""What the tests learn: losses and rules by name, small data of every kind, and both ways to learn it."""

from __future__ import annotations

import hashlib
import zlib
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

import naive
from onlinear import registry
from onlinear.data.batch import Batch, Rows, rows_of
from onlinear.data.rows import DenseRows
from onlinear.data.targets import Labels, Numbers, Signs
from onlinear.learning.configuration import Settings
from onlinear.learning.learner import Learner
from onlinear.rules import Constant, Optimal, Pegasos, Power

CLASSES = 3
PLAIN = Settings()

#: parameters unlike the defaults, so that a forgotten one shows
LOSS_PARAMS: dict[str, dict[str, float]] = {
    "hinge": {"margin": 0.7},
    "squared_hinge": {"margin": 1.3},
    "huber": {"epsilon": 0.4},
    "quantile": {"quantile": 0.8},
    "epsilon_insensitive": {"epsilon": 0.2},
    "squared_epsilon_insensitive": {"epsilon": 0.2},
    "crammer_singer": {"margin": 0.6},
}
RULE_PARAMS: dict[str, dict[str, Any]] = {
    "perceptron": {"rate": 0.3},
    "sgd": {"schedule": Power(0.3, 0.4)},
    "adagrad": {"rate": 0.2, "epsilon": 1e-3},
    "importance_aware": {"rate": 0.2},
    "normalised": {"rate": 0.4},
    "ftrl": {"alpha": 0.3, "beta": 0.5, "l1": 0.05, "l2": 0.1},
    "pa1": {"C": 0.2},
    "pa2": {"C": 0.2},
    "arow": {"r": 0.6},
    "second_order": {"a": 0.7},
    "diagonal_second_order": {"a": 0.7},
    "newton": {"a": 2.0},
    "diagonal_newton": {"a": 2.0},
}
SCHEDULES = (Constant(0.05), Power(0.3, 0.4), Pegasos(0.5), Optimal(0.1, 30.0))
NAMES = {Constant: "constant", Power: "power", Pegasos: "pegasos", Optimal: "optimal"}


def loss_of(name: str) -> Any:
    return registry.LOSSES[name](**LOSS_PARAMS.get(name, {}))


def rule_of(name: str) -> Any:
    return registry.RULES[name](**RULE_PARAMS.get(name, {}))


#: up to here half of the entries are zero; of wider rows see :func:`long_rows`
FEW_FEATURES = 20


def long_rows(rng: np.random.Generator, rows: int, features: int) -> np.ndarray:
    """Rows with entries in up to 400 columns, the last one among them.

    One row is empty, one has a single entry, and the others have lengths on both sides of 64, where the sums of a
    sparse row begin to be added up side by side, with every rest of four.
    """
    columns = np.append(rng.choice(features - 1, min(features, 400) - 1, replace=False), features - 1)
    lengths = np.append([0, 1, *range(62, 73)], np.linspace(73, min(len(columns), 240), max(0, rows - 13)).astype(int))
    X = np.zeros((rows, features))
    for row, length in zip(X, rng.permutation(lengths[:rows]), strict=True):
        row[rng.choice(columns, length, replace=False)] = rng.normal(size=length)
    return X


class Data(NamedTuple):
    """Rows with their targets: the numbers of classes, or -1 and +1, or real numbers."""

    X: np.ndarray
    y: np.ndarray
    importance: np.ndarray
    classes: int  # 0 for one output

    def sparse(self, dtype: Any = np.float64) -> scipy.sparse.csr_matrix:
        return scipy.sparse.csr_matrix(self.X.astype(dtype))


def data_for(loss: str, rows: int = 30, features: int = 11, seed: int = 0, **kinds: bool) -> Data:
    """Rows half of whose entries are zero, learnable but not separable, some of them of importance 0.

    11 features: eight lanes of a dot product and a rest.
    """
    rng = np.random.default_rng([seed, zlib.crc32(loss.encode())])
    X = rng.normal(size=(rows, features)) * (rng.random((rows, features)) < 0.5)
    if features > FEW_FEATURES:
        X = long_rows(rng, rows, features)
    truth = rng.normal(size=(features, CLASSES))
    noise = rng.normal(size=(rows, CLASSES))
    importance = rng.choice([0.0, 0.5, 1.0, 2.5], size=rows, p=[0.1, 0.3, 0.3, 0.3])
    if kinds.get("plain"):
        importance = np.ones(rows)
    mixed = X @ truth + noise
    several = loss in registry.SEVERAL or kinds.get("against_the_rest", False)
    if several:
        return Data(X, mixed.argmax(axis=1), importance, CLASSES)
    if loss in registry.BINARY:
        return Data(X, np.where(mixed[:, 0] > 0.3, 1.0, -1.0), importance, 0)
    return Data(X, mixed[:, 0].copy(), importance, 0)  # a view of a column is another type to compile for


def targets_of(data: Data, loss: str) -> Any:
    if data.classes:
        return Labels(data.y.astype(np.int64), 0, data.classes)
    return Signs(data.y) if loss in registry.BINARY else Numbers(data.y)


def batch_of(data: Data, loss: str, kind: str = "dense", dtype: Any = np.float64) -> Batch:
    X = data.sparse(dtype) if kind == "sparse" else data.X.astype(dtype)
    return Batch(rows_of(X), targets_of(data, loss), data.importance)


def cut(batch: Batch, start: int, stop: int) -> Batch:
    """Rows ``start`` to ``stop`` as a batch of their own."""
    rows: Rows
    if isinstance(batch.rows, DenseRows):
        rows = DenseRows(batch.rows.values[start:stop])
    else:
        first, last = batch.rows.starts[start], batch.rows.starts[stop]
        rows = batch.rows._replace(
            starts=batch.rows.starts[start : stop + 1] - first,
            columns=batch.rows.columns[first:last],
            values=batch.rows.values[first:last],
        )
    targets = batch.targets._replace(values=batch.targets.values[start:stop])
    return Batch(rows, targets, batch.importance[start:stop], batch.names)


def learner_for(
    loss: Any, rule: Any, data: Data, settings: Any = PLAIN, *, compiled: bool = False, **more: Any
) -> Learner:
    loss = loss_of(loss) if isinstance(loss, str) else loss
    rule = rule_of(rule) if isinstance(rule, str) else rule
    more.setdefault("outputs", max(1, data.classes))
    return Learner(loss, rule, features=data.X.shape[1], settings=settings, compiled=compiled, **more)


class Bits(NamedTuple):
    """The whole state of a learner, the table in one orientation: digests, for tables may be large."""

    table: bytes
    bias: bytes
    counters: bytes
    matrix: bytes
    history: bytes


def bits_of(learner: Learner) -> Bits:
    """To compare to the bit: -0.0 differs from 0.0, and NaN equals itself."""
    table = learner.table
    arrays = (table.cells_by_output, table.bias, learner.counters.array, table.matrix)
    history = b"".join(np.ascontiguousarray(mark).tobytes() for mark in learner.counters.history)
    return Bits(*(hashlib.blake2b(np.ascontiguousarray(array)).digest() for array in arrays), history)


def naively(loss: Any, rule: Any, data: Data, settings: Settings = PLAIN) -> naive.Learned:
    """The same as ``learner_for(...).learn(...)``, by the obvious code."""
    loss = loss_of(loss) if isinstance(loss, str) else loss
    rule = rule_of(rule) if isinstance(rule, str) else rule
    params = rule._asdict()
    if "schedule" in params:
        schedule = params["schedule"]
        params["schedule"] = (NAMES[type(schedule)], schedule._asdict())
    loss_name = registry.name_of(loss, registry.LOSSES)
    rule_name = registry.name_of(rule, registry.RULES)
    assert loss_name is not None
    assert rule_name is not None
    return naive.learn(
        loss_name,
        rule_name,
        data.X,
        data.y,
        data.importance,
        loss_params=loss._asdict(),
        rule_params=params,
        classes=data.classes,
        settings=naive.Settings(**settings._asdict()),
    )
