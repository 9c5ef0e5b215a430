"""Certificates: what is proven about a run, with everything needed to prove it again.

Numbers that prove something are rationals, written ``p/q``; beside them the same in floats, rounded outward: radius,
norm, the upper margin and bounds up, the lower margin down.
"""

from __future__ import annotations

import hashlib
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np

from onlinear.errors import BoundFailed, Refused
from onlinear.theory.bounds import Bound, separable_bound
from onlinear.theory.exact import ExactWeights, above, root_above, root_below
from onlinear.theory.examples import Examples, check_examples, digest_of
from onlinear.theory.inseparable import Deviation, inseparable_bound
from onlinear.theory.margins import Margins, growth, margins_of
from onlinear.theory.separability import Inseparable, Separable, separability
from onlinear.theory.subjects import Subject, upper_margin

FORMAT = 1

Certificate = dict[str, Any]


def certificate_of(subject: Subject, examples: Examples, positive: Any = 1) -> Certificate:
    """What is proven of a run over these rows, which must be those it has learned from, pass after pass.

    ``positive`` is the label of the rows with the target +1, wherever they are written.
    """
    rows = check_examples(examples)
    margins = margins_of(subject.weights, examples)
    passes = passes_over(subject, margins, rows)
    features = len(subject.weights.weights)
    if margins.least > 0:
        separable: Separable | Inseparable | None = Separable(subject.weights)
    else:
        separable = separability(examples, features, subject.weights.constant_squared)
    bound = bound_of(subject, separable, margins, examples)
    deviation = None
    if subject.run is not None and subject.run.margin == 0 and is_plain(subject):
        candidates = [subject.weights] if subject.last is subject.weights else [subject.weights, subject.last]
        deviation = inseparable_bound(candidates, examples, margins, subject.updates, passes)
    chosen = bound or (deviation.bound if deviation is not None else None)
    if chosen is not None and not chosen.holds:
        raise BoundFailed(f"the {chosen.kind} bound does not hold of {subject.updates} updates: please report this")
    return sealed(
        {
            "onlinear_certificate": FORMAT,
            "claim": claim_of(chosen, separable, is_plain(subject)),
            "examples": subject.examples,
            "rows": rows,
            "passes": passes,
            "updates": subject.updates,
            "mistakes": subject.mistakes,
            **numbers_of(subject, margins),
            **run_numbers(subject),
            "bound": None if chosen is None else above(chosen.value),
            "bound_kind": None if chosen is None else chosen.kind,
            "bound_exact": None if chosen is None else str(chosen.value),
            "holds": None if chosen is None else chosen.holds,
            "inseparable_bound": None if deviation is None else deviation_numbers(deviation),
            "separable": None if separable is None else isinstance(separable, Separable),
            "witness": None if separable is None else witness_of(separable),
            "weights": weights_of(subject.weights),
            "constant_squared": str(subject.weights.constant_squared),
            "positive": positive,
            "data_sha256": digest_of(examples),
        }
    )


def passes_over(subject: Subject, margins: Margins, rows: int) -> int:
    """How often the run went over the rows; refused if it cannot have been these."""
    kept = subject.radius_squared
    radius = float(margins.radius_squared - subject.weights.constant_squared)
    others = subject.examples == 0 or subject.examples % rows != 0
    if others or (kept is not None and abs(kept - radius) > 4.0 * growth(len(subject.weights.weights)) * radius):
        raise Refused(
            f"the model has learned from {subject.examples} examples, and these {rows} rows are not what it went over: "
            "certify a model on the rows that it has learned from"
        )
    return subject.examples // rows


def is_plain(subject: Subject) -> bool:
    """Whether all steps are of one size, so that the number of updates is what the theorem speaks of."""
    run = subject.run
    return run is not None and run.pull**2 == run.updates * run.squares


def bound_of(
    subject: Subject, separable: Separable | Inseparable | None, margins: Margins, examples: Examples
) -> Bound | None:
    """The bound that separating weights prove: the model's own, or else those of the witness."""
    if subject.run is None or not isinstance(separable, Separable):
        return None
    if separable.weights is not subject.weights:
        margins = margins_of(separable.weights, examples)
    return separable_bound(subject.run, margins)


def numbers_of(subject: Subject, margins: Margins) -> Certificate:
    least, norm = margins.least, margins.norm_squared
    lower = None
    if norm > 0:
        squared = least**2 / norm
        lower = root_below(squared) if least >= 0 else -root_above(squared)
    return {
        "radius": root_above(margins.radius_squared),
        "radius_squared": str(margins.radius_squared),
        "norm": root_above(norm),
        "norm_squared": str(norm),
        "least_score": str(least),
        "margin_lower": lower,
        "margin_upper": upper_margin(subject, margins.radius_squared),
    }


def run_numbers(subject: Subject) -> Certificate:
    run = subject.run
    return {
        "pull": None if subject.pull is None else str(Fraction(subject.pull)),
        "run_pull": None if run is None else str(run.pull),
        "run_squares": None if run is None else str(run.squares),
        "run_margin": None if run is None else str(run.margin),
    }


def deviation_numbers(deviation: Deviation) -> Certificate:
    return {
        "weights": weights_of(deviation.weights),
        "gamma": str(deviation.gamma),
        "deviation_squared": str(deviation.squared),
        "bound": above(deviation.bound.value),
        "vacuous": deviation.vacuous,
    }


def witness_of(separable: Separable | Inseparable) -> Certificate:
    if isinstance(separable, Separable):
        return weights_of(separable.weights)
    return {"rows": separable.rows, "multipliers": [str(a) for a in separable.multipliers]}


def weights_of(weights: ExactWeights) -> Certificate:
    columns = np.flatnonzero(weights.weights)
    return {
        "columns": columns.tolist(),
        "values": weights.weights[columns].tolist(),
        "intercept": weights.intercept,
    }


def claim_of(bound: Bound | None, separable: Separable | Inseparable | None, plain: bool) -> str:
    words = {
        Separable: "The rows are separable: the witness has a positive margin on every one.",
        Inseparable: "The rows are not separable: the witness combines them to zero.",
        type(None): "Whether the rows are separable is undecided.",
    }[type(separable)]
    if bound is None:
        return f"{words} No mistake bound is known for this learner."
    most = math.floor(bound.value)
    says = f"at most {most} updates"
    if not plain:
        says = f"the squared sum of all steps is less than {most + 1} times the sum of their squares"
    return f"{words} The {bound.kind} bound holds: {says}."


def sealed(certificate: Certificate) -> Certificate:
    """The certificate with a digest of all the rest."""
    return {**certificate, "sha256": seal_of(certificate)}


def seal_of(certificate: Certificate) -> str:
    rest = {name: value for name, value in certificate.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
