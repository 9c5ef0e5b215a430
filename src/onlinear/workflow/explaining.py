"""The weights that matter, by name and sign, with what replicates say of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.learning.predictor import Predictor
from onlinear.selection.bootstrap import around
from onlinear.streams.recipe import Recipe

#: of each output
MOST = 20


def weights_that_matter(predictor: Predictor, recipe: Recipe, replicates: np.ndarray) -> list[dict[str, Any]]:
    """The largest weights, by size; of several classes those of each. ``replicates`` are ``[each, output, column]``."""
    several = predictor.labels is not None and len(predictor.labels) > 2
    found = []
    for output, weights in enumerate(predictor.weights):
        order = np.argsort(-np.abs(weights), kind="stable")[:MOST]
        order = order[weights[order] != 0.0]
        ends = around(weights[order], replicates[:, output, order].T) if len(replicates) else None
        for place, column in enumerate(order.tolist()):
            found.append(
                {
                    "name": " or ".join(recipe.names_at(column)) or f"column {column}",
                    "class": str(predictor.labels[output]) if several and predictor.labels else None,
                    "weight": float(weights[column]),
                    "low": None if ends is None else float(ends[0][place]),
                    "high": None if ends is None else float(ends[1][place]),
                }
            )
    return sorted(found, key=lambda each: -abs(each["weight"]))
