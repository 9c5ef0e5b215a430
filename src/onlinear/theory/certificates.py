"""Certificates: what is proven about a run, with everything needed to prove it again.

Numbers that prove something are rationals, written ``p/q``; beside them the same in floats, rounded outward: radius,
norm, the upper margin and bounds up, the lower margin down.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NamedTuple

from onlinear.errors import BoundFailed, Refused
from onlinear.theory.bounds import Bound, promised_share, separable_bound
from onlinear.theory.exact import above, root_above, root_below
from onlinear.theory.examples import Examples, digest_of
from onlinear.theory.hypotheses import Hypothesis
from onlinear.theory.inseparable import Deviation, inseparable_bound
from onlinear.theory.margins import Margins, margins_of
from onlinear.theory.operations import MOST_OPERATIONS
from onlinear.theory.separability import Separability, SeparatingWitness, Undecided, separability
from onlinear.theory.subjects import Subject, upper_margin

FORMAT = 3
#: from here on multipliers are written in hex, which takes no longer for thousands of digits
LONG = 10**18

Certificate = dict[str, Any]


class Proof(NamedTuple):
    """What is proven of a subject and its rows."""

    subject: Subject
    margins: Margins
    passes: int
    separable: Separability
    bound: Bound | None
    deviation: Deviation | None
    promised: Fraction | None  # the share of the best margin that the margin found certainly has


def certificate_of(
    subject: Subject,
    examples: Examples,
    classes: list[Any],
    against: Hypothesis | None = None,
    most: int = MOST_OPERATIONS,
) -> Certificate:
    """What is proven of a run over these rows, which must be those it has learned from, pass after pass.

    ``classes`` are the labels, the second that of the target +1; a first that is None stands for all others, and a
    single one has the target +1. Weights ``against`` which the run is held are tried for the bounds, too.
    Whether rows are separable is left open where it takes more than ``most`` operations.
    """
    with within_floats():
        return certificate_from(proof_of(subject, examples, against, most), examples, classes)


@contextmanager
def within_floats() -> Iterator[None]:
    """Refuse numbers that are too large for the floats in which they are said."""
    try:
        yield
    except OverflowError:
        raise Refused(
            "the numbers of these rows or weights, or what follows from them, are too large for floating point: "
            "scale the rows, and learn again"
        ) from None


def certificate_from(proof: Proof, examples: Examples, classes: list[Any]) -> Certificate:
    subject = proof.subject
    if proof.bound is not None and not proof.bound.holds:
        raise BoundFailed(
            f"the {proof.bound.kind} bound does not hold of {subject.updates} updates: certify the rows that the model "
            "has learned from, and if these are they, please report this"
        )
    weights = subject.weights.written()
    return seal(
        {
            "onlinear_certificate": FORMAT,
            "examples": subject.examples,
            "rows": proof.margins.examples,
            "passes": proof.passes,
            "updates": subject.updates,
            "mistakes": subject.mistakes,
            "replayed": subject.replayed,
            "replay": subject.replay,
            **margin_numbers(proof),
            **run_numbers(subject),
            **bound_numbers(proof),
            **separable_numbers(proof.separable),
            "weights": weights,
            "kernel": subject.weights.kernel.written(),
            "classes": classes,
            "data_sha256": digest_of(examples),
            "model_sha256": digest_of_json(weights),
            "file_sha256": None,
        }
    )


def proof_of(subject: Subject, examples: Examples, against: Hypothesis | None, most: int) -> Proof:
    margins = margins_of(subject.weights, examples)
    passes = passes_over(subject, margins)
    if subject.run is not None and subject.run.is_faint(margins.radius_squared):
        subject = subject._replace(run=None)  # the theorems are of exact products
    separable: Separability = SeparatingWitness(subject.weights)
    if margins.least <= 0:
        separable = separability(examples, subject.weights.space, most)
    separable, bound = least_bound(subject, separable, examples, against)
    deviation = None
    run = subject.run
    if run is not None and run.margin == 0 and run.is_plain and subject.whole_passes:
        candidates = [subject.weights, *([] if subject.last is subject.weights else [subject.last])]
        candidates += [] if against is None else [against]
        deviation = inseparable_bound(candidates, examples, margins, subject.updates, passes)
    promised = None if run is None else promised_share(run, margins)
    chosen = bound or (deviation.bound if deviation is not None else None)
    return Proof(subject, margins, passes, separable, chosen, deviation, promised)


def passes_over(subject: Subject, margins: Margins) -> int:
    """How often the run went over the rows; refused if it cannot have been these."""
    kept, radius, rows = subject.radius_squared, float(margins.radius_squared), margins.examples
    others = subject.examples == 0 or subject.examples % rows != 0
    if others or (kept is not None and abs(kept - radius) > subject.radius_error * radius):
        raise Refused(
            f"the model has learned from {subject.examples} examples, and these {rows} rows are not what it went over: "
            "certify a model on the rows that it has learned from"
        )
    return subject.examples // rows


def least_bound(
    subject: Subject,
    separable: Separability,
    examples: Examples,
    against: Hypothesis | None,
) -> tuple[Separability, Bound | None]:
    """The least bound that separating weights prove, and those weights: the model's own, the witness's, or others."""
    proven: list[tuple[SeparatingWitness, Bound | None]] = []
    for weights in [separable.weights if isinstance(separable, SeparatingWitness) else None, against]:
        if weights is not None:
            margins = margins_of(weights, examples)
            if margins.least > 0:
                bound = None if subject.run is None else separable_bound(subject.run, margins)
                proven.append((SeparatingWitness(weights), bound))
    if not proven:
        return separable, None
    return min(proven, key=lambda one: math.inf if one[1] is None else one[1].value)


def margin_numbers(proof: Proof) -> Certificate:
    least, norm, slack = proof.margins.least, proof.margins.norm_squared, proof.margins.norm_slack
    lower = None
    if least >= 0 and norm > 0:
        lower = root_below(least**2 / norm)
    elif norm > slack:  # below 0 it is a short hypothesis that has the lower margin
        lower = -root_above(least**2 / (norm - slack))
    return {
        "radius": root_above(proof.margins.radius_squared),
        "radius_squared": str(proof.margins.radius_squared),
        "norm": root_above(norm),
        "norm_squared": str(norm),
        "least_score": str(least),
        "margin_lower": lower,
        "margin_upper": upper_margin(proof.subject, proof.margins.radius_squared),
        "promised_share": None if proof.promised is None else str(proof.promised),
    }


def run_numbers(subject: Subject) -> Certificate:
    run = subject.run
    return {
        "pull": None if subject.pull is None else str(subject.pull),
        "run_pull": None if run is None else str(run.pull),
        "run_squares": None if run is None else str(run.squares),
        "run_margin": None if run is None else str(run.margin),
    }


def bound_numbers(proof: Proof) -> Certificate:
    bound, deviation = proof.bound, proof.deviation
    return {
        "bound": None if bound is None else above(bound.value),
        "bound_kind": None if bound is None else bound.kind,
        "bound_exact": None if bound is None else str(bound.value),
        "holds": None if bound is None else bound.holds,
        "inseparable_bound": None if deviation is None else deviation_numbers(deviation),
    }


def deviation_numbers(deviation: Deviation) -> Certificate:
    return {
        "weights": deviation.weights.written(),
        "gamma": str(deviation.gamma),
        "deviation_squared": str(deviation.squared),
        "root": deviation.root,
        "bound": above(deviation.bound.value),
        "vacuous": deviation.vacuous,
    }


def separable_numbers(separable: Separability) -> Certificate:
    """Whether rows are separable, the witness, and what it would have taken if that was too much."""
    if isinstance(separable, Undecided):
        return {"separable": None, "witness": None, "undecided": separable.operations}
    if isinstance(separable, SeparatingWitness):
        return {"separable": True, "witness": separable.weights.written(), "undecided": None}
    multipliers = [whole_text(a) for a in separable.multipliers]
    witness = {"rows": separable.rows, "rivals": separable.rivals, "multipliers": multipliers}
    return {"separable": False, "witness": witness, "undecided": None}


def whole_text(number: int) -> str:
    """A whole number above 0 as a certificate has it: in hex where it is long.

    >>> whole_text(12), whole_text(1 << 64)
    ('12', '0x10000000000000000')
    """
    return str(number) if number < LONG else hex(number)


def claim_of(certificate: Certificate) -> str:
    """What a certificate says, in words."""
    said = [
        {
            True: "The rows are separable: the witness has a positive margin on every one.",
            False: "The rows are not separable: the witness combines them to zero.",
            None: undecided_words(certificate),
        }[certificate["separable"]]
    ]
    if certificate["bound"] is None:
        said.append("No mistake bound is proven of this run.")
    else:
        most = math.floor(Fraction(certificate["bound_exact"]))
        says = f"at most {most} updates"
        if Fraction(certificate["run_pull"]) ** 2 != certificate["updates"] * Fraction(certificate["run_squares"]):
            says = f"the squared sum of all steps is less than {most + 1} times the sum of their squares"
        said.append(f"The {certificate['bound_kind']} bound holds: {says}.")
    if certificate["promised_share"] is not None:
        share = math.floor(1000 * Fraction(certificate["promised_share"])) / 10
        said.append(f"The margin found is at least {share:.1f} % of the best.")
    return " ".join(said)


def undecided_words(certificate: Certificate) -> str:
    said = "Whether the rows are separable is undecided"
    if certificate["undecided"] is None:
        return f"{said}."
    return f"{said}: it would take {certificate['undecided']:.1e} operations or more."


def is_one(found: dict[Any, Any]) -> bool:
    """Whether it is a certificate, and not one for each class by its label, which may be any name in a certificate."""
    return not found or not all(isinstance(each, dict) for each in found.values())


def seal(certificate: Certificate) -> Certificate:
    """The certificate with a digest of all the rest."""
    return {**certificate, "sha256": seal_of(certificate)}


def seal_of(certificate: Certificate) -> str:
    return digest_of_json({name: value for name, value in certificate.items() if name != "sha256"})


def digest_of_json(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def replace_and_seal(certificate: Certificate, **changed: Any) -> Certificate:
    """A certificate that says some things otherwise."""
    return seal({**{name: value for name, value in certificate.items() if name != "sha256"}, **changed})
