"""Predictions as CSV or JSON lines."""

from __future__ import annotations

import csv
from collections.abc import Hashable, Iterable, Sequence
from typing import IO, Any

import numpy as np

from onlinear.cli.jsontext import json_text
from onlinear.errors import BadLine, Refused
from onlinear.features.blocks import Block
from onlinear.learning.predictor import Answers


class Printer:
    """Writes a line for each row: the prediction, and scores and probabilities if they are wanted."""

    def __init__(self, predictor: Answers, out: IO[str], form: str, scores: bool, probabilities: bool) -> None:
        self.predictor, self.out, self.form = predictor, out, form
        self.scores, self.probabilities = scores, probabilities
        several = predictor.labels is not None and len(predictor.labels) > 2
        self.score_names = add_labels("score", predictor.labels) if several and predictor.labels else ["score"]
        names = ["prediction"]
        names += self.score_names if scores else []
        names += add_labels("probability", predictor.labels or []) if probabilities else []
        self.names = names
        self.writer = csv.writer(out, lineterminator="\n")
        if form == "csv":
            check_has_text(predictor.labels or [])
            self.writer.writerow(names)

    def take(self, block: Block, bad: Sequence[tuple[BadLine, bytes]]) -> None:
        """Write the rows of a block, and an empty line where a bad one was."""
        scores = self.predictor.scores(block)
        columns: list[Iterable[Any]] = [self._predictions(scores)]
        columns += np.atleast_2d(self.predictor.decision(scores).T).tolist() if self.scores else []
        columns += self.predictor.probabilities(scores).T.tolist() if self.probabilities else []
        rows: list[Sequence[Any]] = list(zip(*columns, strict=True))
        if bad:
            rows = with_gaps(rows, line_numbers(block), [line.line for line, _ in bad], [None] * len(self.names))
        self._write(rows)

    def _predictions(self, scores: np.ndarray) -> list[Any]:
        labels = self.predictor.labels
        if labels is None:
            return scores[:, 0].tolist()
        return [labels[code] for code in self.predictor.codes(scores).tolist()]

    def _write(self, rows: list[Sequence[Any]]) -> None:
        if self.form == "csv":
            self.writer.writerows(rows)
        else:
            self.out.writelines(json_text(dict(zip(self.names, row, strict=True))) + "\n" for row in rows)


def check_has_text(labels: Sequence[Hashable]) -> None:
    """Refuse a class that no text can hold: half of a surrogate pair, which is no character, but which JSON escapes."""
    for label in labels:
        try:
            str(label).encode()
        except UnicodeEncodeError:
            raise Refused(
                f"the model has the class {label!a:.60}, with half of a surrogate pair, which no CSV file can hold: "
                "say --output-format jsonl"
            ) from None


def add_labels(what: str, labels: Sequence[Hashable]) -> list[str]:
    return [f"{what}:{label}" for label in labels]


def with_gaps(rows: list[Any], lines: list[int], missing: list[int], gap: Any) -> list[Any]:
    """Rows, each with its line, and a gap for each line that is missing among them, in the order of lines.

    >>> with_gaps(["a", "b"], lines=[2, 5], missing=[1, 3, 4], gap="")
    ['', 'a', '', '', 'b']
    """
    found, done = [], 0
    for place in np.searchsorted(lines, sorted(missing)).tolist():
        found += rows[done:place]
        found.append(gap)
        done = place
    return found + rows[done:]


def line_numbers(block: Block) -> list[int]:
    return [block.origin.error(row, "").line for row in range(len(block))]
