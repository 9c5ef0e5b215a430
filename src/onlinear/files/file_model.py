"""A model that was trained on files, for Python: rows go through its recipe before they are answered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from onlinear.data.rows import SparseRows
from onlinear.errors import BadInput, BadRow, NotSaved, Refused
from onlinear.features.blocks import Block
from onlinear.files.container import PathLike
from onlinear.files.trained import AnyModel, open_model
from onlinear.learning.predictor import Answers, Predictor
from onlinear.streams.arrays import Arrays, Matrix, matrix_of
from onlinear.streams.columns import FEATURE_KINDS
from onlinear.streams.formats import name_of
from onlinear.streams.recipe import Recipe
from onlinear.streams.sources import is_matrix
from onlinear.streams.stream import OnBad, Stream, open_alike
from onlinear.streams.tables import UNFIT
from onlinear.streams.text_lines import SLACK, Chunk

#: what errors call dicts
DICTS = "the rows"


class FileModel:
    """A model with the recipe of its rows: files, frames and dicts are answered as ``onlinear predict`` answers files.

    A source is a file of the format it was trained on, several of them, a frame of pandas, polars or Arrow, or a list
    of dicts; for svmlight, an array or a sparse matrix, whose first column is the lowest index. Columns are found by
    their names; a target need not be there. A bad row is an error; with ``on_bad`` it is called with each of them, as
    in :func:`onlinear.open_stream`, and there is no answer for those.
    """

    def __init__(self, model: AnyModel, recipe: Recipe) -> None:
        self.model = model
        self.recipe = recipe

    @cached_property
    def _predictor(self) -> Answers:
        return self.model.snapshot()

    def snapshot(self) -> Answers:
        """What was learned, for rows that have been through the recipe."""
        return self._predictor

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted where they can be."""
        if self._predictor.classes_ is None:
            raise AttributeError("a model of numbers has no classes_")
        return self._predictor.classes_

    @property
    def coef_(self) -> np.ndarray:
        """The weights of the columns after the recipe: a row for each class, one row for two classes or a number."""
        return self._weighing().weights

    @property
    def intercept_(self) -> np.ndarray:
        """The intercepts, one for each row of ``coef_``."""
        return self._weighing().intercepts

    def _weighing(self) -> Predictor:
        if not isinstance(self._predictor, Predictor):
            raise AttributeError("a model that keeps examples has no coef_ and no intercept_")
        return self._predictor

    @property
    def examples_(self) -> int:
        """How many examples were learned from, over all passes."""
        return self.model.examples

    @property
    def mistakes_(self) -> int:
        """How many of them were predicted wrongly before they were learned."""
        return self.model.mistakes

    # -------------------------------------------------------------- answers

    def predict(self, source: Any, *, on_bad: OnBad | None = None) -> np.ndarray:
        """The labels with the highest scores, or the numbers."""
        return self._predictor.answers(self._scores(source, on_bad))

    def decision_function(self, source: Any, *, on_bad: OnBad | None = None) -> np.ndarray:
        """The scores: of the second class where there are two, else one column for each class."""
        return self._predictor.decision(self._scores(source, on_bad))

    def predict_proba(self, source: Any, *, on_bad: OnBad | None = None) -> np.ndarray:
        """The probability of each class."""
        return self._predictor.probabilities(self._scores(source, on_bad))

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """The label, or the number, for the cells of one row; columns that are left out are empty."""
        answer: Any = self.predict([x])[0]
        return answer.item() if isinstance(answer, np.generic) else answer

    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[Any, float]:
        """The probability of each class for one row."""
        return dict(zip(self.classes_.tolist(), self.predict_proba([x])[0].tolist(), strict=True))

    def _scores(self, source: Any, on_bad: OnBad | None) -> np.ndarray:
        predictor = self._predictor
        found = [np.empty((0, predictor.outputs))]
        found += [predictor.scores(block) for block in self._blocks(source, on_bad)]
        return np.concatenate(found)

    def _blocks(self, source: Any, on_bad: OnBad | None) -> Iterator[Block]:
        """The rows of a source as the recipe knows them."""
        recipe = self.recipe
        if is_matrix(source) and name_of(recipe.format) == "svmlight":  # first: SciPy has one that is a dict, too
            return Stream([sparse(source)], Arrays(), on_bad, recipe=recipe).as_known()
        if are_dicts(source):
            if name_of(recipe.format) == "jsonl":
                stream = DictStream(source, recipe, on_bad)
                return stream.as_known()
            source = self._table_of(source)
        return open_alike(source, recipe.format, labelled=False, on_bad=on_bad, recipe=recipe).as_known()

    def _table_of(self, rows: Sequence[Mapping[str, Any]]) -> Any:
        """Dicts as a table: what a row does not say of a column is empty."""
        columns = getattr(self.recipe.format, "columns", None)
        if columns is None:
            raise Refused(
                f"the model has learned from {name_of(self.recipe.format)}, whose rows are no dicts: give a file"
            )
        import pyarrow

        names = [column.name for column in columns if column.kind in FEATURE_KINDS]
        named = [{str(key): cell for key, cell in row.items()} for row in rows]  # 1 is the column "1"
        cells = {name: [row.get(name) for row in named] for name in names or [""]}  # without a column, no rows
        try:  # what pandas says is missing, is: its own dicts have it among texts
            return pyarrow.table({name: pyarrow.array(column, from_pandas=True) for name, column in cells.items()})
        except (pyarrow.ArrowException, *UNFIT) as error:
            raise BadRow(f"{DICTS} have a column whose cells are not of one kind: {error}") from None

    # -------------------------------------------------------------- what would need the recipe to learn

    def _refuse(self, what: str) -> NoReturn:
        raise Refused(
            f"{what}: the model was trained on files, and its recipe {' and '.join(self.recipe.steps())}, which rows "
            "that are learned here would go without: learn from files, by onlinear train"
        )

    def fit(self, *rows: Any, **options: Any) -> NoReturn:
        """Refused: it learns from files."""
        self._refuse("fit")

    def partial_fit(self, *rows: Any, **options: Any) -> NoReturn:
        """Refused: it learns from files."""
        self._refuse("partial_fit")

    def learn_one(self, *row: Any, **options: Any) -> NoReturn:
        """Refused: it learns from files."""
        self._refuse("learn_one")

    def learn_many(self, *rows: Any, **options: Any) -> NoReturn:
        """Refused: it learns from files."""
        self._refuse("learn_many")

    def save(self, *where: Any, **options: Any) -> NoReturn:
        """Refused: the file is there."""
        raise NotSaved("the model is what its file holds, and nothing changes it: copy its file instead")


class DictStream(Stream):
    """Dicts as records of JSON lines."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], recipe: Recipe, on_bad: OnBad | None) -> None:
        super().__init__([DICTS], recipe.format.adapted([], labelled=False), on_bad, recipe=recipe)
        self.rows = rows

    def _blocks(self, source: Any, stop_at_bad: bool) -> Iterator[Block]:
        text = b"".join(map(json_line, self.rows))
        buffer = np.frombuffer(text + bytes(SLACK), np.uint8).copy()
        chunk = Chunk(buffer, len(text), 1, 0, 0, True, len(self.rows))
        yield self.format.parse(chunk, source, stop_at_bad)


def json_line(row: Mapping[str, Any]) -> bytes:
    """A dict as a line of JSON."""
    try:
        return json.dumps(row, default=plain_value, allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError) as error:
        raise BadRow(f"the row {row!r:.200} is none that JSON has: {error}") from None


def plain_value(value: Any) -> Any:
    """A number of NumPy's as Python has it."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r:.60} is of type {type(value).__name__}")


def are_dicts(source: Any) -> bool:
    """Whether rows are given as a list of dicts."""
    if isinstance(source, Mapping):
        raise BadInput("one dict was given where several rows are wanted: use predict_one, or put it into a list")
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(row, Mapping) for row in source)


def sparse(X: Any) -> Matrix:
    """An array or a sparse matrix as the lines of svmlight have it, once it is checked: zeros are left out."""
    matrix = matrix_of(X, None, None)
    if isinstance(matrix.rows, SparseRows):
        return matrix
    import scipy.sparse

    return matrix_of(scipy.sparse.csr_matrix(matrix.rows.values), None, None)


def predict(model: PathLike, source: Any, *, on_bad: OnBad | None = None) -> np.ndarray:
    """The label, or the number, that a model of ``onlinear train`` or ``select`` predicts for each row.

    The model says how to read and scale them. ``source`` is a file of the format it was trained on, several of them, or
    a frame of pandas, polars or Arrow; a table is found by the names of its columns, in whichever of these forms. A
    target need not be there. A bad row is an error; with ``on_bad`` it is called with each of them, as in
    :func:`onlinear.open_stream`, and there is no answer for those: the answers are fewer than the rows, in the
    same order. ``line.line`` says which are left out: the number of the line in the file ``line.source``, its header
    counted, or of the row in a Parquet or Arrow file or a frame; both from 1.
    """
    trained = open_model(model)
    return FileModel(trained.training, trained.recipe).predict(source, on_bad=on_bad)
