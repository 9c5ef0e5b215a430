"""What a rule may see of the row it learns from."""

from __future__ import annotations

from typing import NamedTuple


class StepContext(NamedTuple):
    """One row, as one output of the learner sees it."""

    score: float
    target: float
    value: float  #: the loss
    slope: float  #: of the loss at the score
    curvature: float  #: of the loss at the score; 0 where the loss has none
    importance: float
    norm: float  #: squared length of the row, with the intercept; 0 unless the rule ``needs_norm``
    together: float  #: how many times over a row loss takes the step: the sum of its squared slopes; else 1
    t: float  #: examples learned from so far, this one included
    reach: float  #: how far the score moves per unit of step: the sum of what ``prepare`` answered
    weight: float  #: importance of all examples so far, this one included
    spread: float  #: importance times ``prepare``'s second answer, summed over all examples so far
    size: float  #: the largest ``|target|`` so far of a regression, which sets the unit of its steps; else 1
