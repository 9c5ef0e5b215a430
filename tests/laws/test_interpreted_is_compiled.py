"""Interpreted and compiled code give the same bits: what is read is what runs."""

from __future__ import annotations

import numpy as np
import pytest

from cases import bits_of
from covering import Case, bits_in_one_go, compiled_case


@compiled_case
def test_to_the_bit(case: Case) -> None:
    # where penalties and averages visit every weight, a table of 200 000 takes the interpreter a minute
    for settings in case.settings()[: 2 if case.features > 1000 else None]:
        interpreted = case._replace(compiled=False).learner(settings)
        interpreted.learn(case.batch())
        assert bits_of(interpreted) == bits_in_one_go(case, settings)
        assert interpreted.examples == int((case.data().importance > 0.0).sum())


@pytest.mark.compiles
def test_dense_and_sparse_rows_agree_to_rounding() -> None:
    dense = Case("log_loss", "adagrad", "dense", "float32", True)
    sparse = dense._replace(kind="sparse")
    one, other = dense.learner(), sparse.learner()
    one.learn(dense.batch())
    other.learn(sparse.batch())
    np.testing.assert_allclose(one.weights(), other.weights(), rtol=1e-12, atol=1e-14)
