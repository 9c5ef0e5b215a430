"""Data that is drawn, the same each time: rows like those of real texts and tables, in memory and as files.

Files are made of tables of texts: codes are drawn, the texts they stand for laid side by side, and the zeros that pad
them dropped. That writes some 50 MB a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

AT_ONCE = 5_000  # rows
FEATURES, NONZEROS = 47_236, 68  # those of Reuters' news
WORDS = 100_000
PARTS = (("title", 12), ("body", 52), ("tags", 10))  # namespaces, and the most words in each; the last have values
DROPPED = 0.05  # of words and of cells
CARDINALITIES = (2, 3, 7, 12, 50, 300, 2_000, 10_000)
NUMBERS = (  # lowest, highest and decimals of each column
    *((18, 95, 0), (0, 40, 0), (0, 9_999, 0), (-500, 500, 1), (0, 1, 4)),
    *((0, 1, 6), (-1, 1, 3), (0, 2_500, 2), (0, 99_999, 0), (1e-3, 5, 3)),
)
WITHOUT_GAPS = 3  # columns of either kind, the first ones


# In memory


def zipf_columns(rng: np.random.Generator, shape: tuple[int, int], columns: int) -> Any:
    """Different columns for each row, sorted; column k is drawn about as often as 1 / (k + 1)."""
    rows, count = shape
    drawn = zipf_codes(rng, (rows, 3 * count), columns)
    drawn.sort(axis=1)
    again = np.zeros(drawn.shape, bool)
    again[:, 1:] = drawn[:, 1:] == drawn[:, :-1]
    lots = rng.random(drawn.shape) + again  # repeats draw above 1, so they are taken last
    taken = np.argpartition(lots, count, axis=1)[:, :count]
    assert not np.take_along_axis(again, taken, axis=1).any(), "too few different columns"
    return np.sort(np.take_along_axis(drawn, taken, axis=1), axis=1)


def zipf_codes(rng: np.random.Generator, shape: int | tuple[int, int], count: int) -> Any:
    """Numbers from 0 to ``count - 1``; k comes about as often as 1 / (k + 1)."""
    return np.exp(rng.random(shape) * np.log(count)).astype(np.int32) - 1


def noisy_labels(rng: np.random.Generator, scores: Any) -> Any:
    centred = scores - np.median(scores)
    return (centred + 0.3 * centred.std() * rng.standard_normal(len(scores)) > 0).astype(np.int64)


# Files


def write_sparse(svmlight: Path, vw: Path, size: int) -> None:
    """The same rows of numbers as svmlight and as VW text, some ``size`` bytes each."""
    rng = np.random.default_rng(2)
    names = texts(f" {column + 1}:" for column in range(FEATURES))
    values = texts(f"0.{value:06}" for value in range(1_000_000))
    truth = rng.standard_normal(FEATURES) * (rng.random(FEATURES) < 0.2)
    order = rng.permutation(FEATURES).astype(np.int32)  # in no vocabulary do the frequent words come first

    def blocks() -> Iterator[tuple[bytes, bytes]]:
        while True:
            columns = np.sort(order[zipf_columns(rng, (AT_ONCE, NONZEROS), FEATURES)], axis=1)
            digits = rng.integers(100_000, 1_000_000, columns.shape, np.int32)
            labels = noisy_labels(rng, (truth[columns] * digits).sum(axis=1))
            cells = paired(names[columns], values[digits])
            yield lines(texts(("-1", "1"))[labels], cells), lines(texts(("-1 |", "1 |"))[labels], cells)

    write((svmlight, vw), size, blocks())


def write_words(path: Path, size: int) -> None:
    """VW text: words in three namespaces, those of the last with values."""
    rng = np.random.default_rng(3)
    words = texts(["", *(f" {word}" for word in vocabulary(rng))])
    values = texts(["", *(f":{value / 100:g}" for value in range(1, 1_000))])
    truth = np.append(0.0, rng.standard_normal(WORDS))

    def blocks() -> Iterator[tuple[bytes]]:
        while True:
            drawn = [kept(rng, 1 + zipf_codes(rng, (AT_ONCE, most), WORDS)) for _, most in PARTS]
            labels = noisy_labels(rng, sum(truth[codes].sum(axis=1) for codes in drawn))
            cells = [words[codes] for codes in drawn]
            amounts = values[rng.integers(1, len(values), drawn[-1].shape) * (drawn[-1] > 0)]
            columns = [texts(("-1", "1"))[labels]]
            for (space, _), words_of_it in zip(PARTS, cells, strict=True):
                columns += [np.full(AT_ONCE, f" |{space}".encode()), words_of_it]
            columns[-1] = paired(cells[-1], amounts)
            yield (lines(*columns),)

    write((path,), size, blocks())


def write_table(path: Path, size: int) -> None:
    """CSV: numbers, categories with some cells empty, and a label in words."""
    rng = np.random.default_rng(4)
    columns = [*(number_column(*number) for number in NUMBERS), *category_columns(rng)]
    answers = texts((",no", ",yes"))

    def blocks() -> Iterator[tuple[bytes]]:
        yield (f"{','.join(table_columns())}\n".encode(),)
        while True:
            drawn = [column.draw(rng, gaps=i % len(NUMBERS) >= WITHOUT_GAPS) for i, column in enumerate(columns)]
            scores = sum(column.weights[codes] for column, codes in zip(columns, drawn, strict=True))
            cells = [column.texts[codes] for column, codes in zip(columns, drawn, strict=True)]
            cells[0] = np.strings.lstrip(cells[0], b",")
            yield (lines(*cells, answers[noisy_labels(rng, scores)]),)

    write((path,), size, blocks())


def table_columns() -> list[str]:
    return [*number_names(), *category_names(), "answer"]


def number_names() -> list[str]:
    return [f"number{i}" for i in range(len(NUMBERS))]


def category_names() -> list[str]:
    return [f"category{i}" for i in range(len(CARDINALITIES))]


class Column(NamedTuple):
    """A column of a table: the texts of its cells, the first one empty, and what each says of the label."""

    texts: np.ndarray
    weights: np.ndarray
    evenly: bool

    def draw(self, rng: np.random.Generator, gaps: bool) -> Any:
        count = len(self.texts) - 1
        codes = rng.integers(0, count, AT_ONCE) if self.evenly else zipf_codes(rng, AT_ONCE, count)
        return kept(rng, 1 + codes) if gaps else 1 + codes


def number_column(low: float, high: float, decimals: int, most: int = 100_000) -> Column:
    numbers = np.linspace(low, high, min(most, int((high - low) * 10**decimals) + 1))
    cells = texts([",", *(f",{number:.{decimals}f}" for number in numbers)])
    return Column(cells, np.append(0.0, (numbers - low) / (high - low)), evenly=True)


def category_columns(rng: np.random.Generator) -> Iterator[Column]:
    names = vocabulary(rng)
    for start, count in zip(np.cumsum((0, *CARDINALITIES)), CARDINALITIES, strict=False):
        cells = texts([",", *(f",{name}" for name in names[start : start + count])])
        yield Column(cells, np.append(0.0, rng.standard_normal(count)), evenly=False)


def vocabulary(rng: np.random.Generator) -> list[str]:
    """Different words of three to twelve letters."""
    letters = rng.integers(ord("a"), ord("z") + 1, (2 * WORDS, 12), np.uint8)
    lengths = rng.integers(3, 13, len(letters))
    words = (row.tobytes()[:length].decode() for row, length in zip(letters, lengths, strict=True))
    return list(dict.fromkeys(words))[:WORDS]


# Texts side by side


def texts(words: Iterable[str]) -> np.ndarray:
    """Texts of bytes, padded with zeros."""
    return np.array([word.encode() for word in words])


def kept(rng: np.random.Generator, codes: Any) -> Any:
    """The codes, some of them replaced by 0, which stands for nothing."""
    return codes * (rng.random(codes.shape, np.float32) >= DROPPED)


def paired(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Each text with its partner behind it."""
    pairs = np.empty(first.shape, [("first", first.dtype), ("second", second.dtype)])
    pairs["first"], pairs["second"] = first, second
    return pairs


def lines(*columns: np.ndarray) -> bytes:
    """A line for each row: its texts side by side."""
    columns = (*columns, np.full(len(columns[0]), b"\n"))
    fields: list[Any] = [(f"f{i}", column.dtype, column.shape[1:]) for i, column in enumerate(columns)]
    rows = np.empty(len(columns[0]), fields)
    for (name, *_), column in zip(fields, columns, strict=True):
        rows[name] = column
    return rows.tobytes().translate(None, b"\0")


def write(paths: Sequence[Path], size: int, blocks: Iterator[tuple[bytes, ...]]) -> None:
    """Blocks to files side by side until the first has its size; a file that is there is whole."""
    unfinished = [path.with_name(f"{path.name}.unfinished") for path in paths]
    with ExitStack() as stack:
        files = [stack.enter_context(open(path, "wb")) for path in unfinished]
        while files[0].tell() < size:
            for file, text in zip(files, next(blocks), strict=True):
                file.write(text)
    for before, path in zip(unfinished, paths, strict=True):
        before.rename(path)
