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
from onlinear.system.threads import one_blas_thread
from onlinear.theory.best_margin import GAP, Combination, MarginProblem, combination_in, linear_problem, margin_box
from onlinear.theory.bounds import Bound, promised_share, separable_bound
from onlinear.theory.exact import above, root_above, root_below
from onlinear.theory.examples import Examples, digest_of
from onlinear.theory.hypotheses import Hypothesis, KernelWeights
from onlinear.theory.inseparable import FREUND_SCHAPIRE, HINGE_LOSS, Deviation, best_comparators, inseparable_bounds
from onlinear.theory.kernel_problem import kernel_problem
from onlinear.theory.margins import Margins, margins_of
from onlinear.theory.operations import MOST_OPERATIONS
from onlinear.theory.separability import Inseparable, Separability, SeparatingWitness, Undecided, separability
from onlinear.theory.subjects import Subject, upper_margin, without_lost_pull

FORMAT = 3
#: digits of numerators and denominators
MOST_DIGITS = 4300
#: from here on multipliers are written in hex, which takes no longer for thousands of digits
LONG = 10**18

Certificate = dict[str, Any]


class Proof(NamedTuple):
    """What is proven of a subject and its rows."""

    subject: Subject
    margins: Margins
    passes: int
    separable: Separability
    combination: Combination | None  # of the rows, which shows how large the best margin is at most
    best: Margins  # those of the weights of largest margin
    novikoff: Bound | None  # on the updates over separable rows
    deviations: list[Deviation]
    promised: Fraction | None  # the share of the best margin that the margin found certainly has

    @property
    def bounds(self) -> list[Bound]:
        """All that are proven, the best first: vacuous ones come last, and of equal ones Novikoff's first."""
        proven = [] if self.novikoff is None else [(False, self.novikoff)]
        proven += [(each.vacuous, each.bound) for each in self.deviations]
        return [bound for _, bound in sorted(proven, key=lambda one: (one[0], one[1].value))]


@one_blas_thread
def certificate_of(
    subject: Subject,
    examples: Examples,
    classes: list[Any],
    against: Hypothesis | None = None,
    gap: float = GAP,
    most: int = MOST_OPERATIONS,
) -> Certificate:
    """What is proven of a run over these rows, which must be those it has learned from, pass after pass.

    ``classes`` are the labels, the second that of the target +1; a first that is None stands for all others, and a
    single one has the target +1. Weights ``against`` which the run is held are tried for the bounds, too. The best
    margin is sought until it is known within a share ``gap``. Whether rows are separable is left open where it takes
    more than ``most`` operations.
    """
    with within_floats():
        return certificate_from(proof_of(subject, examples, against, gap, most), examples, classes)


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
    for bound in proof.bounds:
        if not bound.holds:
            raise BoundFailed(
                f"the {bound.kind} bound does not hold of {subject.updates} updates: certify the rows that the model "
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


def proof_of(subject: Subject, examples: Examples, against: Hypothesis | None, gap: float, most: int) -> Proof:
    margins = margins_of(subject.weights, examples)
    passes = passes_over(subject, margins)
    if subject.run is not None and subject.run.is_faint(margins.radius_squared):
        subject = subject._replace(run=None)  # the theorems are of exact products
    subject = without_lost_pull(subject, margins.radius_squared)
    separable: Separability = SeparatingWitness(subject.weights)
    if margins.least <= 0:
        separable = separability(examples, subject.weights.space, most)
    problem, box = problem_for(subject.weights, examples), None
    if problem is not None and not isinstance(separable, Inseparable):
        box = margin_box(problem, examples, gap)
    best = margins
    known = separable.weights if isinstance(separable, SeparatingWitness) and margins.least <= 0 else None
    for weights in (known, against, None if box is None else box.direction):
        separable, best = better_witness(separable, best, weights, examples)
    run, deviations = subject.run, list[Deviation]()
    bound = None if run is None or best.least <= 0 else separable_bound(run, best)
    if run is not None and run.margin == 0 and run.is_plain and subject.whole_passes:
        given = [subject.last, against, None if box is None else box.direction]
        others = [subject.weights, *(each for each in given if each is not None and each is not subject.weights)]
        others += [] if problem is None else best_comparators(problem, passes, 0.5 * gap)
        deviations = inseparable_bounds(others, examples, margins, subject.updates, passes)
    promised = None if run is None else promised_share(run, margins)
    combination = combination_in(subject.weights)
    if box is not None and isinstance(separable, SeparatingWitness):
        combination = box.combination
    return Proof(subject, margins, passes, separable, combination, best, bound, deviations, promised)


def problem_for(weights: Hypothesis, examples: Examples) -> MarginProblem | None:
    """The rows in floats, in which the best weights of their space are sought; None if that is beyond what is done."""
    if weights.space is not None:
        return linear_problem(examples, weights.space)
    return kernel_problem(weights, examples) if isinstance(weights, KernelWeights) else None


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


def better_witness(
    separable: Separability, best: Margins, weights: Hypothesis | None, examples: Examples
) -> tuple[Separability, Margins]:
    """Weights that separate with a larger margin than the best so far, and their margins; else what is known."""
    if weights is None:
        return separable, best
    margins = margins_of(weights, examples)
    if margins.least <= 0 or (best.least > 0 and signed_square(margins) <= signed_square(best)):
        return separable, best
    return SeparatingWitness(weights), margins


def margin_numbers(proof: Proof) -> Certificate:
    least, norm = proof.margins.least, proof.margins.norm_squared
    found = [signed_square(margins) for margins in (proof.margins, proof.best) if margins.shortest_squared > 0]
    upper = upper_margin(proof.subject, proof.margins.radius_squared)
    if proof.combination is not None:
        upper = root_above(proof.combination.margin_squared)
    return {
        "radius": root_above(proof.margins.radius_squared),
        "radius_squared": ratio_text(proof.margins.radius_squared),
        "norm": root_above(norm),
        "norm_squared": ratio_text(norm),
        "least_score": ratio_text(least),
        "margin_lower": lower_root(max(found)) if found else None,
        "margin_upper": upper,
        "combination": None if proof.combination is None else proof.combination.written(),
        "promised_share": None if proof.promised is None else ratio_text(proof.promised),
    }


def signed_square(margins: Margins) -> Fraction:
    """The square of the least margin, with its sign."""
    return margins.least * abs(margins.least) / margins.shortest_squared


def lower_root(square: Fraction) -> float:
    return root_below(square) if square >= 0 else -root_above(-square)


def run_numbers(subject: Subject) -> Certificate:
    run = subject.run
    return {
        "pull": None if subject.pull is None else ratio_text(subject.pull),
        "run_pull": None if run is None else ratio_text(run.pull),
        "run_squares": None if run is None else ratio_text(run.squares),
        "run_margin": None if run is None else ratio_text(run.margin),
    }


def bound_numbers(proof: Proof) -> Certificate:
    bound, deviations = (
        next(iter(proof.bounds), None),
        {each.bound.kind: deviation_numbers(each) for each in proof.deviations},
    )
    return {
        "bound": None if bound is None else above(bound.value),
        "bound_kind": None if bound is None else bound.kind,
        "bound_exact": None if bound is None else ratio_text(bound.value),
        "holds": None if bound is None else bound.holds,
        "inseparable_bound": deviations.get(FREUND_SCHAPIRE),
        "hinge_bound": deviations.get(HINGE_LOSS),
    }


def deviation_numbers(deviation: Deviation) -> Certificate:
    return {
        "weights": deviation.weights.written(),
        "norm": root_above(deviation.weights.norm_squared),
        "gamma": ratio_text(deviation.gamma),
        "loss": ratio_text(deviation.loss),
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


def ratio_text(number: Fraction) -> str:
    """A rational as p/q; refused if that has more digits than a verifier reads."""
    if max(map(abs, number.as_integer_ratio())) >= 10**MOST_DIGITS:
        raise Refused(
            f"the exact numbers of this certificate have more than {MOST_DIGITS:,} digits: scale the rows, or round "
            "them, or take a kernel of a smaller degree"
        )
    return str(number)


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
        vacuous = ", which is vacuous: there were no more trials" if most >= certificate["examples"] else ""
        said.append(f"The {certificate['bound_kind']} bound holds: {says}{vacuous}.")
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
