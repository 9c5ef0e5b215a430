"""What one would write without us to learn from a file, each a process of its own.

    python benchmarks/peers.py svmlight rows.svm model
    python benchmarks/peers.py csv rows.csv model

``files.py`` runs them.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier

BITS = 18
AT_ONCE = 100_000  # rows
MIXER = 0x9E3779B97F4A7C15


def svmlight(path: str) -> Any:
    """scikit-learn alone: the whole file, then one pass."""
    from sklearn.datasets import load_svmlight_file

    rows, labels = load_svmlight_file(path)
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)  # fit refuses what it gave
    return SGDClassifier(loss="log_loss", max_iter=1, tol=None, shuffle=False).fit(rows, labels)


def csv(path: str) -> Any:
    """pandas in chunks, categories hashed a chunk at a time, ``partial_fit``.

    Each category of a chunk is hashed once: 0.2 microseconds a row, where ``FeatureHasher``, which takes a Python list
    for each row, took 4. Numbers are not scaled, which spares a pass over each chunk, though scikit-learn
    would learn better with it.
    """
    model = SGDClassifier(loss="log_loss")
    for numbers, categories, labels in chunks(path):
        rows = sp.hstack([sp.csr_matrix(numbers), one_hot(categories)], format="csr")
        model.partial_fit(rows, labels, classes=["no", "yes"])
    return model


def chunks(path: str) -> Iterator[tuple[np.ndarray, list[Any], np.ndarray]]:
    """The numbers of some rows with 0 for what is missing, their columns of categories, and their labels."""
    import pandas as pd
    from generated import category_names, number_names

    kinds = {**dict.fromkeys(number_names(), "float64"), **dict.fromkeys([*category_names(), "answer"], "category")}
    for table in pd.read_csv(path, dtype=kinds, chunksize=AT_ONCE):
        numbers = np.nan_to_num(table[number_names()].to_numpy(), copy=False)
        yield numbers, [table[name].cat for name in category_names()], np.asarray(table["answer"].astype(str))


def one_hot(columns: list[Any]) -> Any:
    """A 1 at the hash of each column's category, and of its column."""
    from pandas.util import hash_array

    places = np.empty((len(columns[0].codes), len(columns)), np.int32)
    for column, categories in enumerate(columns):
        names = np.append(np.asarray(categories.categories, dtype=object), "")  # the code of what is missing is -1
        hashed = (hash_array(names, categorize=False) + np.uint64(column)) * np.uint64(MIXER)
        places[:, column] = (hashed >> np.uint64(64 - BITS)).astype(np.int32)[categories.codes]
    starts = np.arange(0, places.size + 1, len(columns))
    ones = sp.csr_matrix((np.ones(places.size), places.ravel(), starts), shape=(len(places), 1 << BITS))
    ones.sum_duplicates()
    return ones


if __name__ == "__main__":
    which, source, target = sys.argv[1:]
    with open(target, "wb") as out:
        pickle.dump({"svmlight": svmlight, "csv": csv}[which](source), out)
