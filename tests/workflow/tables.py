"""Small tables for the whole job: what the installed packages carry, and what is drawn by a seed."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets


def write(path: Path, names: list[str], rows: Any) -> str:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)
    return str(path)


def iris(path: Path) -> str:
    found = datasets.load_iris()
    names = ["sepal length", "sepal width", "petal length", "petal width", "kind"]
    kinds = [str(found.target_names[code]) for code in found.target]
    return write(path, names, [[*row, kind] for row, kind in zip(found.data.tolist(), kinds, strict=True)])


def cancer(path: Path, rows: slice = slice(None), *, with_id: bool = True) -> str:
    """Breast cancer: an id in front, and every tenth cell missing."""
    found = datasets.load_breast_cancer()
    rng = np.random.default_rng(0)
    lines = []
    for number, (row, code) in enumerate(zip(found.data[:, :8].tolist(), found.target, strict=True)):
        cells = ["?" if rng.random() < 0.1 else str(x) for x in row]
        lines.append([str(842_000 + 17 * number), *cells, "benign" if code else "malignant"])
    names = ["id", *(str(name) for name in found.feature_names[:8]), "diagnosis"]
    first = 0 if with_id else 1
    return write(path, names[first:], [line[first:] for line in lines[rows]])


def diabetes(path: Path) -> str:
    found = datasets.load_diabetes()
    names = [*map(str, found.feature_names), "progression"]
    return write(path, names, [[*row, y] for row, y in zip(found.data.tolist(), found.target.tolist(), strict=True)])


def messages(path: Path, rows: int = 400) -> str:
    """Texts of common words, and of some that give a class away."""
    rng = np.random.default_rng(1)
    common = ["the", "a", "we", "you", "meet", "call", "today", "later", "home", "is", "at", "on", "and", "time"]
    own = {"spam": ["prize", "win", "free", "cash"], "ham": ["love", "lunch", "sorry", "mum"]}
    lines = []
    for _ in range(rows):
        kind = "spam" if rng.random() < 0.3 else "ham"
        words = [*rng.choice(common, 8), *rng.choice(own[kind], 2), f"w{rng.integers(10**6)}"]
        lines.append([kind, " ".join(rng.permutation(words))])
    return write(path, ["kind", "message"], lines)


def drifting(path: Path, rows: int = 6000) -> str:
    """What was right becomes wrong, three times."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(rows, 4))
    turn = np.where((np.arange(rows) // 1500) % 2 == 0, 1.0, -1.0)
    y = np.where(turn * (X[:, 0] - X[:, 1]) > 0.0, "up", "down")
    return write(path, ["a", "b", "c", "d", "goes"], [[*row, label] for row, label in zip(X.round(4), y, strict=True)])


def visits(path: Path, rows: int = 600) -> str:
    """Rows with a day and a person, not in the order of days; a town with rare names."""
    rng = np.random.default_rng(3)
    lines = []
    for _ in range(rows):
        day, person, town = rng.integers(1, 29), rng.integers(40), str(rng.choice(["Bern", "Thun", "Biel"]))
        rooms = rng.integers(1, 7)
        rent = 400 * rooms + 300 * (town == "Bern") + rng.normal() * 150
        lines.append([f"2024-02-{day:02}", f"p{person}", town, rooms, "high" if rent > 1600 else "low"])
    return write(path, ["day", "person", "town", "rooms", "rent"], lines)
