"""The real data sets the benchmarks share: a loader reads one folder and returns rows and labels.

The folder is given by `--data` or by the environment variable `ONLINEAR_DATA`.  Rows are float32,
dense or CSR as the data are; labels are -1 and +1 for two classes, 0, 1, 2 ... for several.
"""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

Rows = Any  # a float32 array, or a CSR matrix of float32

VW_BITS = 22  # 62,061 columns times 20 classes need 21
LINES_AT_ONCE = 10_000


class DataSet(NamedTuple):
    """Named rows with their targets."""

    name: str
    rows: Rows
    targets: np.ndarray

    @property
    def classes(self) -> np.ndarray:
        return np.unique(self.targets)

    def shuffled(self, seed: int) -> DataSet:
        """The same rows in the order that `seed` draws."""
        order = np.random.default_rng(seed).permutation(len(self.targets))
        return DataSet(self.name, self.rows[order], self.targets[order])


def data_folder(given: Path | None) -> Path:
    """The folder of the data sets: `given`, or else `$ONLINEAR_DATA`."""
    named = given or os.environ.get("ONLINEAR_DATA")
    if not named:
        raise SystemExit("Where are the data sets? Use --data FOLDER or set ONLINEAR_DATA.")
    folder = Path(named)
    if not folder.is_dir():
        raise SystemExit(f"{folder} is not a folder")
    return folder


def load(name: str, folder: Path) -> DataSet:
    """The classification set `name`, in the order of its file."""
    rows, targets = LOADERS[name](folder)
    return DataSet(name, rows, targets)


def svmlight(path: Path) -> tuple[sp.csr_matrix, np.ndarray]:
    rows, labels = load_svmlight_file(str(path), dtype=np.float32, zero_based=False)
    return sp.csr_matrix(rows), labels


def signed(positive: np.ndarray) -> np.ndarray:
    return np.where(positive, 1, -1)


def banknote(folder: Path) -> tuple[Rows, np.ndarray]:
    table = np.loadtxt(folder / "small" / "banknote_authentication.csv", delimiter=",")
    return table[:, :-1].astype(np.float32), signed(table[:, -1] > 0)


def agaricus(folder: Path) -> tuple[Rows, np.ndarray]:
    rows, labels = svmlight(folder / "agaricus" / "agaricus.txt.train")
    return rows, signed(labels > 0)


def a9a(folder: Path) -> tuple[Rows, np.ndarray]:
    rows, labels = svmlight(folder / "a9a" / "a9a")
    return rows, signed(labels > 0)


def ijcnn1(folder: Path) -> tuple[Rows, np.ndarray]:
    rows, labels = svmlight(folder / "ijcnn1" / "ijcnn1.trn.bz2")
    return rows, signed(labels > 0)


def covtype(folder: Path) -> tuple[Rows, np.ndarray]:
    """Class 2 against the rest, the columns as they come."""
    with gzip.open(folder / "covtype" / "covtype.csv.gz", "rt") as lines:
        table = np.loadtxt(lines, delimiter=",", skiprows=1, dtype=np.float32)
    return table[:, :-1].copy(), signed(table[:, -1] == 2)


def covtype_scaled(folder: Path) -> tuple[Rows, np.ndarray]:
    """Class 2 against the rest, each column brought to mean 0 and variance 1."""
    rows, targets = covtype(folder)
    mean, deviation = rows.mean(0, dtype=np.float64), rows.std(0, dtype=np.float64)
    return ((rows - mean) / deviation).astype(np.float32), targets


def news20(folder: Path) -> tuple[Rows, np.ndarray]:
    rows, labels = svmlight(folder / "news20" / "news20.bz2")
    return rows, labels.astype(np.int64) - 1


def mnist(folder: Path) -> tuple[Rows, np.ndarray]:
    """Handwritten digits as CSR (four pixels of five are zero), scaled to [0, 1]."""
    pixels = idx(folder / "mnist" / "train-images-idx3-ubyte.gz").reshape(-1, 784)
    labels = idx(folder / "mnist" / "train-labels-idx1-ubyte.gz")
    return sp.csr_matrix(pixels.astype(np.float32) / np.float32(255)), labels.astype(np.int64)


def idx(path: Path) -> np.ndarray:
    """An IDX file of bytes: two zeros, the type, the number of axes, their lengths, the values."""
    raw = gzip.decompress(path.read_bytes())
    axes = raw[3]
    shape = np.frombuffer(raw, dtype=">u4", count=axes, offset=4)
    return np.frombuffer(raw, dtype=np.uint8, offset=4 + 4 * axes).reshape(shape)


def housing(folder: Path) -> DataSet:
    """California housing, for regression: eight raw columns; rows with a blank are left out."""
    with open(folder / "housing" / "california_housing.csv", newline="") as lines:
        table = np.array(list(number_rows(csv.DictReader(lines))))
    return DataSet("housing", table[:, :-1].astype(np.float32), table[:, -1])


def number_rows(records: Iterator[dict[str, str]]) -> Iterator[list[float]]:
    for record in records:
        del record["ocean_proximity"]
        if "" not in record.values():
            yield [float(text) for text in record.values()]


LOADERS: dict[str, Callable[[Path], tuple[Rows, np.ndarray]]] = {
    "banknote": banknote,
    "agaricus": agaricus,
    "a9a": a9a,
    "ijcnn1": ijcnn1,
    "covtype": covtype,
    "covtype-scaled": covtype_scaled,
    "news20": news20,
    "mnist": mnist,
}


def write_text(path: Path, rows: Rows, labels: np.ndarray, *, bar: str = "", first: int = 0) -> None:
    """VW text with a bar behind the label, svmlight without; columns are numbered from ``first``."""
    names = np.array([f" {first + column}" for column in range(rows.shape[1])], dtype=object)
    with open(path, "w") as out:
        for start in range(0, len(labels), LINES_AT_ONCE):
            part = slice(start, start + LINES_AT_ONCE)
            out.writelines(text_lines(sp.csr_matrix(rows[part]), labels[part], names, bar))


def text_lines(rows: sp.csr_matrix, labels: np.ndarray, names: np.ndarray, bar: str) -> Iterator[str]:
    """Nine digits bring back every float32; equal values share their text."""
    distinct, place = np.unique(rows.data, return_inverse=True)
    texts = np.array([f":{value:.9g}" for value in distinct], dtype=object)
    tokens = names[rows.indices] + texts[place]
    for label, start, stop in zip(labels, rows.indptr, rows.indptr[1:], strict=False):
        yield f"{label}{bar}{''.join(tokens[start:stop])}\n"
