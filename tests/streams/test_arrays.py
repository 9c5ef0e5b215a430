"""Arrays and sparse matrices as streams."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import coo_matrix, csr_array, csr_matrix

from onlinear.data.rows import DenseRows, SparseRows
from onlinear.errors import BadInput, BadLine
from onlinear.features.blocks import Block
from onlinear.streams import tables
from onlinear.streams.stream import open_stream


def matrices(shape: tuple[int, int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) * (rng.random(shape) < 0.5), rng.integers(0, 3, shape[0])


def spread_out(block: Block) -> np.ndarray:
    """The rows of a block as an array, whatever they are."""
    if isinstance(block.rows, DenseRows):
        return block.rows.values
    starts, columns, values = block.rows
    return csr_array((values, columns.astype(np.int64), starts), (len(block), block.width)).toarray()


@given(st.integers(1, 20), st.integers(1, 5), st.integers(1, 8), st.integers(0, 9))
def test_parts_join_to_the_whole(rows: int, columns: int, most: int, seed: int) -> None:
    X, y = matrices((rows, columns), seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "MOST_ROWS", most)
        for given_as in (X, np.asfortranarray(X), csr_matrix(X), coo_matrix(X), csr_array(X)):
            blocks = list(open_stream(given_as, target=y, weight=y + 0.5))
            assert {type(block.rows) for block in blocks} == {
                DenseRows if isinstance(given_as, np.ndarray) else SparseRows
            }
            assert max(map(len, blocks)) <= most
            np.testing.assert_array_equal(np.vstack([spread_out(block) for block in blocks]), X)
            np.testing.assert_array_equal(np.concatenate([block.labels for block in blocks]), y)
            np.testing.assert_array_equal(np.concatenate([block.importance for block in blocks]), y + 0.5)
            assert {block.width for block in blocks} == {columns}
            again = [label for block in blocks for label in block.labels.tolist()]
            assert again == y.tolist()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("value", "said"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
@pytest.mark.parametrize("most", [1, 2, 10])
def test_what_is_not_finite_is_refused_with_row_and_column(
    monkeypatch: pytest.MonkeyPatch, sparse: bool, value: float, said: str, most: int
) -> None:
    monkeypatch.setattr(tables, "MOST_ROWS", most)
    X, y = matrices((6, 3), 1)
    X[2, 1] = X[2, 2] = X[4, 0] = value
    source: Any = csr_matrix(X) if sparse else X
    learned = []
    blocks = iter(open_stream(source, target=y))
    while len(learned) < 2:
        learned += next(blocks).labels.tolist()
    with pytest.raises(BadLine, match=rf"Matrix:3:2: {said} is not a finite number: mend it, or leave the row out"):
        next(blocks)
    assert learned == y[:2].tolist()

    bad: list[tuple[int, Any]] = []
    left = list(open_stream(source, target=y, on_bad=lambda line, text: bad.append((line.line, json.loads(text)))))
    np.testing.assert_array_equal(np.vstack([spread_out(block) for block in left]), X[[0, 1, 3, 5]])
    assert [origin for block in left for origin in block.origin.places.tolist()] == [1, 2, 4, 6]
    assert [line for line, _ in bad] == [3, 5]
    assert len(bad[0][1]) == (np.count_nonzero(X[2]) if sparse else 3)


def test_labels_that_are_no_numbers() -> None:
    labels = [label for block in open_stream(np.eye(2), target=["a", "b"]) for label in block.labels]
    assert labels == ["a", "b"]
    (block,) = open_stream(np.eye(2), target=np.array([True, False]))
    assert block.labels.tolist() == [True, False]
    assert block.labels.dtype == object
    (block,) = open_stream(np.eye(2))
    assert np.isnan(block.labels).all()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"target": [1, 2, 3]}, r"the target has shape \(3,\), but there are 2 rows: give an array, one label a row"),
        ({"target": "y"}, r"the target has shape \(\), but there are 2 rows"),
        ({"target": [1, np.inf]}, "the label of row 2 is infinite: mend it, or drop the row"),
        ({"target": [1, 2], "weight": [1, -1]}, "the importance of row 1 is -1.0"),
    ],
)
def test_labels_and_weights_that_do_not_fit(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        open_stream(np.eye(2), **options)


@pytest.mark.parametrize("X", [np.zeros(3), np.zeros((1, 1, 1)), np.array([["a"]]), np.zeros((2, 2), complex)])
def test_what_is_no_table_of_numbers(X: np.ndarray) -> None:
    with pytest.raises(BadInput, match="give a table of numbers, with rows and columns"):
        open_stream(X)
