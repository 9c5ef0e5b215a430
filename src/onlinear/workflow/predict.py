"""What a model file says about the rows of a table, in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.files.container import PathLike
from onlinear.files.trained import open_model
from onlinear.streams.stream import OnBad, open_alike


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
    predictor = trained.training.snapshot()
    found = [np.empty(0) if predictor.classes_ is None else predictor.classes_[:0]]
    stream = open_alike(source, trained.recipe.format, labelled=False, on_bad=on_bad, recipe=trained.recipe)
    for block in stream.as_known():
        found.append(predictor.predict(block))
    return np.concatenate(found)
