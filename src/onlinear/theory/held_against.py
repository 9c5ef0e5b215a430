"""What weights of a user's own prove of a run, whatever better ones there are: beside a certificate, computed."""

from __future__ import annotations

from typing import Any

from onlinear.theory.bounds import separable_bound
from onlinear.theory.exact import above, signed_root_below
from onlinear.theory.examples import Examples
from onlinear.theory.hypotheses import Hypothesis
from onlinear.theory.inseparable import inseparable_bounds
from onlinear.theory.margins import margins_of
from onlinear.theory.subjects import Subject


def held_against(weights: Hypothesis, subject: Subject, examples: Examples, passes: int) -> dict[str, Any]:
    """Their margin on these rows, and the bound that it proves, or, if it is none, the least that their losses prove.

    None stands for what there is not.
    """
    margins, run = margins_of(weights, examples), subject.run
    bound = None if run is None else separable_bound(run, margins)
    if bound is None and run is not None and run.margin == 0 and run.is_plain and subject.whole_passes:
        found = inseparable_bounds([weights], examples, margins, subject.updates, passes)
        bound = min((each.bound for each in found), key=lambda each: each.value, default=None)
    return {
        "margin": signed_root_below(margins.signed_square) if margins.shortest_squared > 0 else None,
        "bound": None if bound is None else above(bound.value),
        "bound_kind": None if bound is None else bound.kind,
        "vacuous": None if bound is None else bound.value >= subject.examples,
    }
