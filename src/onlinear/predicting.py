"""What a model file says about the rows of a table, in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.answers import Answers
from onlinear.model.container import PathLike
from onlinear.modelfile import open_model
from onlinear.streams.stream import open_alike


def predict(model: PathLike, source: Any) -> np.ndarray:
    """The label, or the number, that a model of ``onlinear train`` or ``select`` predicts for each row.

    The model says how to read and scale them. ``source`` is a file of the format it was trained on, several of them, or
    a frame of pandas, polars or Arrow; a target need not be there.
    """
    trained = open_model(model)
    answers = Answers(trained.training)
    found = []
    for block in open_alike(source, trained.recipe.format, labelled=False).before_recipe():
        scores = answers.scores(trained.recipe.apply(block, True))
        if answers.labels is None:
            found.append(scores[:, 0])
        else:
            found.append(np.array(answers.labels)[answers.codes(scores)])
    return np.concatenate(found) if found else np.empty(0)
