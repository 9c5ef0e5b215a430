"""What onlinear computes beside what a certificate proves: its entry ``computed``, which nobody can prove again."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from onlinear.errors import Refused
from onlinear.learning.classes import Classes
from onlinear.learning.learner import Learner
from onlinear.learning.outputs import has_row_loss
from onlinear.theory import online_to_batch, rule_bounds
from onlinear.theory.certificates import Certificate, is_one, replace_and_seal
from onlinear.theory.examples import Examples, against_rest
from onlinear.theory.online_to_batch import FirstPass
from onlinear.theory.subjects import steps_of

#: a certificate, or one for each class
Certificates = Certificate | dict[Hashable, Certificate]


def with_computed(
    found: Certificates, learner: Learner, classes: Classes, examples: Examples, first_pass: FirstPass | Refused
) -> Certificates:
    """The certificates of runs over these rows with the theorem of the rule, and with what follows for new rows.

    ``first_pass`` is what was counted there, or why nobody knows.
    """
    labels = [classes.labels[code] for code in classes.order.tolist()]

    def one(certificate: Certificate, place: int | None) -> Certificate:
        seen = examples if place is None else against_rest(examples, place)
        computed = {
            "theorem": theorem_of(certificate, learner, classes, place, seen),
            "online_to_batch": document_of(first_pass),
        }
        return replace_and_seal(certificate, computed=computed)

    if not is_one(found):
        return {label: one(certificate, labels.index(label)) for label, certificate in found.items()}
    certificate: Certificate = found  # type: ignore[assignment]  # its keys are the names of entries
    return one(certificate, None if has_row_loss(learner) else labels.index(certificate["classes"][-1]))


def theorem_of(
    certificate: Certificate, learner: Learner, classes: Classes, place: int | None, examples: Examples
) -> dict[str, Any] | None:
    """The theorem of the rule that learned, or why there is none."""
    try:
        found = rule_bounds.rule_bound(steps_of(learner, classes, place), examples, certificate)
    except Refused as reason:
        return {"refused": str(reason)}
    return None if found is None else found.document()


def document_of(first_pass: FirstPass | Refused) -> dict[str, Any]:
    if isinstance(first_pass, Refused):
        return {"refused": str(first_pass)}
    return online_to_batch.bounds_from(first_pass).document()


def counted_by(model: Any) -> FirstPass | Refused:
    """What a model counted in its first pass, or why nobody knows."""
    try:
        return online_to_batch.first_pass_of(model)
    except Refused as reason:
        return reason


def computed_words(found: dict[str, Any]) -> Iterator[str]:
    """What is computed beside a certificate, or beside each of several: what all have in common once, at the end."""
    each = {"": found} if is_one(found) else found
    known = {name: one["computed"] for name, one in each.items() if one.get("computed")}
    if not known:
        return
    yield "Computed by onlinear, and not checked by onlinear verify:"
    for name, computed in known.items():
        if computed["theorem"] is not None:
            whose = f"{name if str(name).isprintable() else ascii(name)} against the rest: " if len(each) > 1 else ""
            yield f"  {whose}{rule_bounds.words_for(computed['theorem'])}"
    of_first_pass = next(iter(known.values()))["online_to_batch"]
    if "refused" in of_first_pass:
        yield f"  Nothing follows for new rows: {of_first_pass['refused']}."
    else:
        yield from (f"  {line}" for line in online_to_batch.words_for(of_first_pass))
