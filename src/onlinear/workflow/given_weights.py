"""Weights of a user's own from a file, for the model that they are held against."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from onlinear.errors import BadInput, BadSource
from onlinear.features.naming import cells_of
from onlinear.files.trained import Trained
from onlinear.system.paths import printable
from onlinear.theory.examples import columns_in_use
from onlinear.workflow.certificates import classes_of, examples_in

#: what stands for the intercept where weights are named
INTERCEPT = "(intercept)"
#: of a file of weights: a device has no end
MOST_BYTES = 1 << 28


class WeightLine(NamedTuple):
    """The words of a line, and where it is."""

    place: str
    words: list[str]


def read_lines(path: Path) -> list[WeightLine]:
    """The lines of a file of weights that have words; what is between words is blanks, and ``#`` begins a comment."""
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise BadSource(f"{printable(path)}: cannot be read ({why}): name a text file of weights") from None
    if len(content) > MOST_BYTES:
        raise BadSource(f"{printable(path)}: has more than {MOST_BYTES:,} bytes: name a text file of weights")
    numbered = enumerate(text.splitlines(), start=1)
    words = ((number, line.partition("#")[0].replace(",", " ").split()) for number, line in numbered)
    lines = [WeightLine(f"{printable(path)}:{number}", found) for number, found in words if found]
    if not lines:
        raise BadInput(f"{printable(path)}: has no weights: write them in a line, or a name and its weight in each")
    return lines


def weights_in(lines: list[WeightLine], trained: Trained, files: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """``(coef, intercept)`` for a model, shaped as its ``coef_`` and ``intercept_``; the rows of files will have them.

    Of a model that knows its columns by number a line holds the weights of an output, all of them, and perhaps the
    intercept behind them. Where columns have names a line holds a name and its weight, the others being 0; the name
    ``(intercept)`` is the intercept's.
    """
    classes = len(classes_of(trained))
    outputs = classes if classes > 2 or trained.training.has_row_loss else 1
    if trained.recipe.format.naming is None:
        return numbered_weights(lines, trained, outputs)
    return named_weights(lines, trained, outputs, files)


def numbered_weights(lines: list[WeightLine], trained: Trained, outputs: int) -> tuple[np.ndarray, np.ndarray]:
    width, features = trained.training.width, trained.training.features
    if len(lines) != outputs:
        raise BadInput(
            f"{lines[0].place}: there are {len(lines)} lines of weights, and the model has {outputs} output(s)"
        )
    coef, intercept = np.zeros((outputs, features)), np.zeros(outputs)
    for output, line in enumerate(lines):
        if len(line.words) not in (width, width + 1):
            raise BadInput(
                f"{line.place}: there are {len(line.words)} weights, and the rows have {width} columns: "
                "give one for each, and perhaps the intercept"
            )
        numbers = [number_in(line, word) for word in line.words]
        coef[output, :width] = numbers[:width]
        intercept[output] = numbers[width] if len(numbers) > width else 0.0
    return coef, intercept


def named_weights(
    lines: list[WeightLine], trained: Trained, outputs: int, files: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    if outputs > 1:
        raise BadInput(f"{lines[0].place}: weights with names are those of two classes, and the model has {outputs}")
    coef, intercept = np.zeros((1, trained.training.features)), np.zeros(1)
    used, seen = set(columns_in_use(examples_in(trained, files)).tolist()), set[str]()
    for line in lines:
        name = " ".join(line.words[:-1])
        weight = number_in(line, line.words[-1])
        if not name:
            raise BadInput(
                f"{line.place}: the columns of these rows have names: write a name and its weight in each line"
            )
        if name in seen:
            raise BadInput(f"{line.place}: {name!r} has a weight already: leave one of them out")
        seen.add(name)
        if name == INTERCEPT:
            intercept[0] = weight
            continue
        column = column_of(line, name, trained)
        if column not in used:
            raise BadInput(f"{line.place}: no row has a feature {name!r}: mend the name, or leave it out")
        coef[0, column] += weight  # hashed names may share one
    return coef, intercept


def column_of(line: WeightLine, name: str, trained: Trained) -> int:
    known, bits = trained.recipe.exact_names, trained.recipe.bits
    if bits is not None:
        return int(cells_of([name], bits)[0])
    if known is None or name not in known:
        raise BadInput(f"{line.place}: the model knows no feature {name!r}: name one that onlinear inspect shows")
    return known.index(name)


def number_in(line: WeightLine, word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise BadInput(f"{line.place}: {word!r} is no finite number: mend it")
    return number
