"""Certificates that claim what is not so, each under a new seal: the verifier believes none.

What it does believe is proven again by :func:`check_by_hand`, from the rows, slowly and in rationals.
"""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import onlinear
from onlinear import verify as verifier
from onlinear.theory.certificates import digest_of_json, seal_of
from theory.drawn import draw, draw_classes, fitted

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-1.0, 1.0, 1.0, -1.0])

CONTRADICTION = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 1.0]]), np.array([-1.0, -1.0, 1.0])

#: one certificate of each form
NAMES = [
    *("separable", "not separable", "one wrong", "long multipliers", "no intercept", "xor", "margin", "classes"),
    *("separable classes", "linear kernel", "poly kernel", "rbf kernel", "contradiction", "one class"),
]
#: a certificate, and the label and entries of each of its rows
Case = tuple[dict[str, Any], list[tuple[Any, dict[int, float]]]]


def case_of(model: Any, X: np.ndarray, y: np.ndarray) -> Case:
    rows = [
        (Fraction(t), {j: x for j, x in enumerate(row) if x != 0.0})
        for row, t in zip(X.tolist(), y.tolist(), strict=True)
    ]
    return json.loads(json.dumps(onlinear.certify(fitted(model, X, y), X, y))), rows


def perceptron(**more: Any) -> Any:
    return onlinear.Perceptron(max_iter=3, tol=None, shuffle=False, **more)


@cache
def cases() -> dict[str, Case]:
    several = onlinear.OnlineClassifier(loss="multiclass_perceptron", rule="perceptron", max_iter=4)
    return {
        "separable": case_of(onlinear.Perceptron(max_iter=60, tol=None, shuffle=False), *draw(3, 12, 2)),
        "not separable": case_of(perceptron(), *draw(3, 12, 2, flipped=3)),
        "one wrong": case_of(perceptron(), *draw(5, 24, 2, flipped=1)),
        "long multipliers": case_of(perceptron(), *draw(3, 24, 6, flipped=8)),
        "no intercept": case_of(perceptron(fit_intercept=False), *draw(5, 10, 2)),
        "xor": case_of(perceptron(), *XOR),
        "margin": case_of(onlinear.MarginPerceptron(margin=0.5, rate=0.25, max_iter=50), *draw(3, 12, 2)),
        "classes": case_of(several, *draw_classes(1, 3, 9, flipped=2)),
        "separable classes": case_of(several, *draw_classes(1, 3, 9)),
        "linear kernel": case_of(onlinear.KernelPerceptron("linear", max_iter=3), *draw(3, 8, 2)),
        "poly kernel": case_of(onlinear.KernelPerceptron("poly", degree=2, max_iter=9), *XOR),
        "rbf kernel": case_of(onlinear.KernelPerceptron("rbf", gamma=0.5, max_iter=3), *draw(3, 8, 2, flipped=2)),
        "contradiction": case_of(onlinear.KernelPerceptron("rbf", gamma=0.5, max_iter=3), *CONTRADICTION),
        "one class": one_class(),
    }


def one_class() -> Case:
    X = np.eye(4)
    model = onlinear.Perceptron(fit_intercept=False).partial_fit(X, np.ones(4), classes=[-1.0, 1.0])
    rows = [(Fraction(1), {j: 1.0}) for j in range(4)]
    return json.loads(json.dumps(onlinear.certify(model, X, np.ones(4)))), rows


def resealed(certificate: dict[str, Any]) -> dict[str, Any]:
    """All digests that a forger can compute."""
    if "weights" in certificate:
        certificate["model_sha256"] = digest_of_json(certificate["weights"])
    certificate["sha256"] = seal_of(certificate)
    return certificate


def verified(certificate: Any, rows: Any) -> tuple[list[str], list[str]]:
    return verifier.verify(certificate, verifier.place_rows(rows, certificate["classes"]))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_true_is_believed(name: str) -> None:
    assert list(cases()) == NAMES
    certificate, rows = cases()[name]
    said, word = verified(certificate, rows)
    assert said
    assert word
    check_by_hand(certificate, rows, said)


# ------------------------------------------------------------------ by hand

Vector = dict[int, Fraction]


def names_in(certificate: dict[str, Any]) -> list[Any]:
    """The classes; a file does not tell the number 1 from the text "1"."""
    return [
        Fraction(name) if isinstance(name, str) and name.lstrip("-").isdigit() else name
        for name in certificate["classes"]
    ]


def product_of(certificate: dict[str, Any], part: dict[str, Any], rows: list[Any], x: Vector) -> Fraction:
    """``<w, x>`` of one part of weights, intercept and all."""
    if "amounts" in part:
        kept = [{j: Fraction(v) for j, v in rows[i][1].items()} for i in part["rows"]]
        return sum((a * kernel_of(certificate, x, z) for a, z in zip(part["amounts"], kept, strict=True)), Fraction(0))
    w = dict(zip(part["columns"], map(Fraction, part["values"]), strict=True))
    return sum((v * w.get(j, Fraction(0)) for j, v in x.items()), Fraction(0)) + Fraction(part["intercept"])


def kernel_of(certificate: dict[str, Any], x: Vector, z: Vector) -> Fraction:
    name, degree, gamma, coef0 = certificate["kernel"]
    if name == "rbf":
        apart = sum((x.get(j, Fraction(0)) - z.get(j, Fraction(0))) ** 2 for j in {*x, *z})
        return Fraction(math.exp(-float(Fraction(gamma) * apart)))
    inner = sum((v * z.get(j, Fraction(0)) for j, v in x.items()), Fraction(0))
    return (Fraction(gamma) * inner + Fraction(coef0)) ** degree


def norm_of(certificate: dict[str, Any], parts: list[dict[str, Any]], rows: list[Any]) -> Fraction:
    total = Fraction(0)
    for part in parts:
        if "amounts" in part:
            for i, a in zip(part["rows"], part["amounts"], strict=True):
                x = {j: Fraction(v) for j, v in rows[i][1].items()}
                total += a * product_of(certificate, part, rows, x)
        else:
            total += sum(Fraction(v) ** 2 for v in part["values"])
            if part["intercept"]:
                total += Fraction(part["intercept"]) ** 2 / Fraction(certificate["kernel"][3])
    return total


def scores_of(certificate: dict[str, Any], parts: list[dict[str, Any]], rows: list[Any]) -> list[Fraction]:
    """What each row has of a positive score: against its strongest rival, or by its sign."""
    found = []
    for label, entries in rows:
        x = {j: Fraction(v) for j, v in entries.items()}
        products = [product_of(certificate, part, rows, x) for part in parts]
        if len(parts) > 1:
            own = names_in(certificate).index(label)
            found.append(min(products[own] - p for r, p in enumerate(products) if r != own))
        else:
            found.append(products[0] if label == names_in(certificate)[-1] else -products[0])
    return found


def separable_by_a_program(certificate: dict[str, Any], rows: list[Any]) -> bool:
    """Whether some weights have every score at least 1: asked of a linear program."""
    width, constant = max((j for _, x in rows for j in x), default=0) + 1, certificate["kernel"][3] != "0"
    dense = [[x.get(j, 0.0) for j in range(width)] + [1.0] * constant for _, x in rows]
    vectors: list[Any] = []
    for (label, _), x in zip(rows, np.array(dense), strict=True):
        if len(certificate["weights"]) == 1:
            vectors.append(x if label == names_in(certificate)[-1] else -x)
        else:
            eye, own = np.eye(len(certificate["classes"])), names_in(certificate).index(label)
            vectors += [np.kron(eye[own] - eye[r], x) for r in range(len(eye)) if r != own]
    A = np.array(vectors)
    answer = scipy.optimize.linprog(np.zeros(A.shape[1]), A_ub=-A, b_ub=-np.ones(len(A)), bounds=(None, None))
    return bool(answer.status == 0)


def check_by_hand(certificate: dict[str, Any], rows: list[Any], said: list[str]) -> None:
    """That what the verifier has printed as verified is so."""
    near = Fraction(1, 10**9) if certificate["kernel"][0] == "rbf" else Fraction(0)
    labels = {label for label, _ in rows}
    assert all(name is None or any(label == name for label in labels) for name in names_in(certificate))
    assert certificate["classes"][0] is not None or len(labels) > 1
    assert f"{len(rows)} rows (" in said[0]
    every = [{j: Fraction(v) for j, v in x.items()} for _, x in rows]
    radius = max(kernel_of(certificate, x, x) for x in every)
    assert Fraction(certificate["radius"]) ** 2 >= radius - near
    scores, norm = (f(certificate, certificate["weights"], rows) for f in (scores_of, norm_of))
    lower = certificate["margin_lower"]
    if lower is not None:
        square = Fraction(lower) * abs(Fraction(lower))
        proven = [square * norm <= min(scores) * abs(min(scores)) + near * norm]
        if certificate["separable"]:
            least, of_witness = (f(certificate, certificate["witness"], rows) for f in (scores_of, norm_of))
            proven.append(square * of_witness <= min(least) ** 2 + near * of_witness)
        assert any(proven)
        assert f"at least {lower}." in said[2]
    if certificate["separable"] is not None:
        if certificate["kernel"][0] == "linear":
            assert certificate["separable"] == separable_by_a_program(certificate, rows)
        elif not certificate["separable"]:
            assert len({(label, *x.items()) for label, x in rows}) > len({(*x.items(),) for _, x in rows})
        assert ("are separable by" in said[1]) == certificate["separable"]
        assert ("are not separable by" in said[1]) == (not certificate["separable"])
    if certificate["separable"]:
        assert min(scores_of(certificate, certificate["witness"], rows)) > 0
    check_bound_by_hand(certificate, rows, said, radius, near)
    for line in said:
        assert line.isprintable()
        if "at most" in line and "margin" in line:
            assert f"at most {certificate['margin_upper']}." in line
            check_combination_by_hand(certificate, rows, near)


def check_combination_by_hand(certificate: Any, rows: list[Any], near: Fraction) -> None:
    """That it is a sum of vectors z, and that no margin is above its length over their number."""
    parts = certificate["combination"]
    tables = [dict(zip(part["rows"], part["amounts"], strict=True)) for part in parts]
    total = 0
    for i, (label, _) in enumerate(rows):
        if len(parts) == 1:
            multiplier = tables[0].get(i, 0) * (1 if label == names_in(certificate)[-1] else -1)
        else:
            own = names_in(certificate).index(label)
            rivals = [table.get(i, 0) for place, table in enumerate(tables) if place != own]
            multiplier = tables[own].get(i, 0)
            assert max(rivals) <= 0
            assert multiplier == -sum(rivals)
        assert multiplier >= 0
        total += multiplier
    assert total > 0
    assert Fraction(certificate["margin_upper"]) ** 2 * total**2 >= norm_of(certificate, parts, rows) - near * total**2


def check_bound_by_hand(certificate: Any, rows: Any, said: list[str], radius: Fraction, near: Fraction) -> None:
    lines = [line for line in said if line.startswith("A perceptron")]
    if certificate["bound"] is None or certificate["run_margin"] != "0":
        assert not lines
        return
    stretch = min(len(certificate["weights"]), 2)
    proven = {}
    for name, kind, power in (("inseparable_bound", "Freund-Schapire", 2), ("hinge_bound", "hinge loss", 1)):
        if certificate[name] is None:
            continue
        parts, gamma = certificate[name]["weights"], Fraction(certificate[name]["gamma"])
        assert gamma > 0
        short = sum(max(gamma - s, Fraction(0)) ** power for s in scores_of(certificate, parts, rows))
        loss, norm = float(certificate["passes"] * short), float(stretch * radius * norm_of(certificate, parts, rows))
        if power == 2:
            least = (math.sqrt(norm) + math.sqrt(loss)) ** 2 / float(gamma) ** 2
        else:  # the largest k with k gamma <= loss + sqrt(norm k)
            root = (math.sqrt(norm) + math.sqrt(norm + 4.0 * loss * float(gamma))) / (2.0 * float(gamma))
            least = root**2
        proven[kind] = certificate[name]["bound"], least
    if certificate["separable"]:
        parts = certificate["witness"]
        least = float(
            stretch * radius * norm_of(certificate, parts, rows) / min(scores_of(certificate, parts, rows)) ** 2
        )
        kind = "multiclass perceptron" if stretch == 2 else "perceptron"
        proven[kind] = max(least, certificate["bound"]), least
    assert {line.rpartition("(")[2].removesuffix(").").removesuffix(", vacuous") for line in lines} == set(proven)
    for kind, (bound, least) in proven.items():
        assert bound >= least * (1.0 - 1e-9)
        line = next(line for line in lines if f" ({kind}" in line)
        said = int(line.partition("at most ")[2].partition(" ")[0])
        assert said >= math.floor(least * (1.0 - 1e-9))
    assert certificate["bound_kind"] in proven
    assert certificate["updates"] <= certificate["bound"] or near


# ------------------------------------------------------------------ the table of forgeries


def put(*path: Any) -> Callable[[Any], Callable[[Any], None]]:
    """A forgery that puts a value somewhere."""

    def with_value(value: Any) -> Callable[[Any], None]:
        def forge(certificate: Any) -> None:
            part = certificate
            for name in path[:-1]:
                part = part[name]
            part[path[-1]] = value

        return forge

    return with_value


def separable_by(witness: Any) -> Callable[[Any], None]:
    def forge(certificate: Any) -> None:
        certificate["separable"], certificate["witness"] = True, witness

    return forge


def not_separable_by(rows: list[Any], rivals: list[Any], multipliers: list[Any]) -> Callable[[Any], None]:
    def forge(certificate: Any) -> None:
        witness = {"rows": rows, "rivals": rivals, "multipliers": multipliers}
        certificate["separable"], certificate["witness"] = False, witness

    return forge


def multiplier(change: Callable[[str], Any]) -> Callable[[Any], None]:
    """A forgery of the first multiplier, which is long."""

    def forge(certificate: Any) -> None:
        multipliers = certificate["witness"]["multipliers"]
        assert multipliers[0].startswith("0x")
        multipliers[0] = change(multipliers[0])

    return forge


def rename(name: str, other: str) -> Callable[[Any], None]:
    def forge(certificate: Any) -> None:
        certificate[other] = certificate.pop(name)

    return forge


def all_rest(certificate: Any) -> None:
    """Every row is of the rest, which weights of -1 separate from nothing."""
    certificate["classes"] = [None, "spam"]


def float_amounts(certificate: Any) -> None:
    """A sum of rows with amounts so large that floats round their differences away."""
    certificate["weights"] = [{"rows": [0, 1, 2, 3], "amounts": [1e17, 1.0, 1.0, -1e17]}]
    certificate["separable"], certificate["witness"] = True, certificate["weights"]


def smaller_bound(certificate: Any) -> None:
    certificate |= {"bound": 0.0, "bound_exact": "0", "run_squares": "0"}


def smaller_pull(pull: str, upper: float) -> Callable[[Any], None]:
    def forge(certificate: Any) -> None:
        certificate |= {"pull": pull, "margin_upper": upper}

    return forge


def negative_column(certificate: Any) -> None:
    """The place -1 is that of the constant feature."""
    part = certificate["weights"][0]
    part["columns"], part["values"] = [-1, *part["columns"]], [9.0, *part["values"]]


def swapped_weights(certificate: Any) -> None:
    certificate["weights"] = cases()["no intercept"][0]["weights"]


def a_hinge_bound() -> Any:
    return copy.deepcopy(cases()["separable"][0]["hinge_bound"])


def altered_amounts(change: Callable[[int, int], Any]) -> Callable[[Any], None]:
    """Amounts of a combination that are others, by the output and the amount."""

    def forge(certificate: Any) -> None:
        for place, part in enumerate(certificate["combination"]):
            part["amounts"] = [change(place, a) for a in part["amounts"]]

    return forge


def combination_of_one_sign(certificate: Any) -> None:
    """A short sum of rows, of which one is taken away that must be added."""
    certificate |= {"combination": [{"rows": [0, 1], "amounts": [1, 1]}], "margin_upper": 1e-9}


FORGERIES: list[tuple[str, str, Callable[[Any], None]]] = [
    # separable, though it is not
    ("xor", "float amounts", float_amounts),
    ("xor", "weights of 0", separable_by([{"columns": [], "values": [], "intercept": 0.0}])),
    ("xor", "weights that miss a row", separable_by([{"columns": [0, 1], "values": [1.0, 1.0], "intercept": -0.5}])),
    ("xor", "whole amounts", separable_by([{"rows": [1, 2], "amounts": [1, 1]}])),
    ("xor", "true without a witness", separable_by(None)),
    ("xor", "an empty witness", separable_by([])),
    ("xor", "two witnesses", separable_by([{"columns": [], "values": [], "intercept": 1.0}] * 2)),
    ("xor", "weights that are not finite", separable_by([{"columns": [0], "values": [math.nan], "intercept": 0.0}])),
    ("xor", "an infinite intercept", separable_by([{"columns": [], "values": [], "intercept": math.inf}])),
    ("xor", "text for separable", put("separable")("\x1b[31myes")),
    ("xor", "1 for separable", put("separable")(1)),
    ("xor", "linear of degree 2", put("kernel")(["linear", 2, "1", "1"])),
    ("xor", "linear of another gamma", put("kernel")(["linear", 1, "2", "1"])),
    ("xor", "weights of a polynomial", put("kernel")(["poly", 2, "1", "1"])),
    ("xor", "an unknown kernel", put("kernel")(["tanh", 1, "1", "1"])),
    ("xor", "a kernel with letters", put("kernel")(["linear\x1b[2J", 1, "1", "1"])),
    ("xor", "a negative constant", put("kernel")(["linear", 1, "1", "-1"])),
    ("xor", "a kernel of floats", put("kernel")(["linear", 1, 1.0, 1.0])),
    ("xor", "a degree that is true", put("kernel")(["linear", True, "1", "1"])),
    ("xor", "a huge degree", put("kernel")(["poly", 10**9, "1", "1"])),
    ("xor", "all rows are the rest", all_rest),
    ("xor", "null for a class", put("classes")([None, None])),
    ("xor", "null for the second class", put("classes")([-1, None])),
    ("xor", "a list for a class", put("classes")([-1, [1]])),
    ("xor", "one class twice", put("classes")([1, "1.0"])),
    ("xor", "a class that does not occur", put("classes")([-1, 1, 2])),
    ("xor", "one class for all", put("classes")([1])),
    ("xor", "no classes", put("classes")([])),
    # not separable, though it is
    ("separable", "no terms", not_separable_by([], [], [])),
    ("separable", "a multiplier of 0", not_separable_by([0], [1], ["0"])),
    ("separable", "a negative multiplier", not_separable_by([0, 0], [1, 1], ["1", "-1"])),
    ("separable", "a multiplier that is a float", not_separable_by([0, 1], [1, 1], [1e-320, 1e-320])),
    ("separable", "rows that are not there", not_separable_by([99], [1], ["1"])),
    ("separable", "rows from behind", not_separable_by([-1], [1], ["1"])),
    ("separable", "a multiplier that never ends", not_separable_by([0], [1], ["1e300000000"])),
    ("separable", "a digit that is none", not_separable_by([0], [1], ["\u0661"])),
    ("separable", "more terms than are allowed", not_separable_by([0] * 6000, [1] * 6000, ["1"] * 6000)),
    ("separable", "a multiplier of 0 in hex", not_separable_by([0], [1], ["0x0"])),
    ("separable", "a negative multiplier in hex", not_separable_by([0, 0], [1, 1], ["0x1", "-0x1"])),
    ("separable", "more digits than any witness needs", not_separable_by([0], [1], ["0x" + "f" * 10**6])),
    ("long multipliers", "one more", multiplier(lambda text: hex(int(text, 16) + 1))),
    ("long multipliers", "twice as much", multiplier(lambda text: hex(2 * int(text, 16)))),
    ("long multipliers", "the other sign", multiplier(lambda text: f"-{text}")),
    ("long multipliers", "a zero before", multiplier(lambda text: f"0x0{text[2:]}")),
    ("long multipliers", "capital letters", multiplier(lambda text: f"0X{text[2:]}")),
    ("long multipliers", "underscores", multiplier(lambda text: f"{text[:5]}_{text[5:]}")),
    ("long multipliers", "a line more", multiplier(lambda text: f"{text}\n")),
    ("long multipliers", "digits of another script", multiplier(lambda text: f"0x\u0661{text[3:]}")),
    ("long multipliers", "a part of it", multiplier(lambda text: f"{text}/3")),
    ("long multipliers", "a number", multiplier(lambda text: int(text, 16))),
    ("long multipliers", "a list", multiplier(lambda text: [text])),
    ("xor", "operations that are true", put("undecided")(True)),
    ("xor", "operations in words", put("undecided")("many")),
    ("classes", "a row that is its own rival", not_separable_by([0], [0], ["1"])),
    ("classes", "a rival that is no class", not_separable_by([0], [7], ["1"])),
    ("rbf kernel", "multipliers of a kernel", not_separable_by([0], [1], ["1"])),
    ("contradiction", "other rows", not_separable_by([0, 1], [1, 1], ["1", "1"])),
    ("contradiction", "other multipliers", not_separable_by([0, 2], [1, 0], ["1", "2"])),
    ("contradiction", "two rows that are not alike", not_separable_by([1, 2], [1, 0], ["1", "1"])),
    ("poly kernel", "multipliers of a polynomial", not_separable_by([0, 1, 2, 3], [1, 0, 0, 1], ["1"] * 4)),
    # margins
    ("separable", "an upper margin below the lower", smaller_pull("1000000000", 1e-9)),
    ("separable", "a negative upper margin", smaller_pull("-1", -1.0)),
    ("separable", "a pull of 0", put("pull")("0")),
    ("separable", "a pull that never ends", put("pull")("1e300000000")),
    ("separable", "a pull not in lowest terms", put("pull")("2/2")),
    ("separable", "a pull over 0", put("pull")("1/0")),
    ("separable", "a float for a pull", put("pull")(3.0)),
    ("separable", "a pull that floats lose", put("pull")(f"1/{2**1070}")),
    ("separable", "squares that floats lose", put("run_squares")(f"1/{2**1070}")),
    ("not separable", "an upper margin without a pull", put("pull")(None)),
    ("separable", "an upper margin that is less", put("margin_upper")(0.001)),
    ("separable", "no combination", put("combination")(None)),
    ("separable", "an empty combination", put("combination")([{"rows": [], "amounts": []}])),
    ("separable", "a combination of no output", put("combination")([])),
    ("separable", "a combination that is a vector", put("combination", 0)({"columns": [0], "values": [1.0]})),
    ("separable", "a vector for rows", put("combination", 0)({"columns": [], "values": [], "intercept": 0.0})),
    ("separable", "a combination of other signs", altered_amounts(lambda _, a: -a)),
    ("separable", "a combination of one sign", altered_amounts(lambda _, a: abs(a))),
    ("separable", "a short combination", combination_of_one_sign),
    ("separable", "a combination of floats", altered_amounts(lambda _, a: float(a))),
    ("separable", "a combination of zeros", altered_amounts(lambda _, a: 0)),
    ("separable", "a combination that is twice as heavy", altered_amounts(lambda _, a: a << 50)),
    ("separable classes", "amounts that rivals have not lost", altered_amounts(lambda place, a: 2 * a if place else a)),
    ("separable classes", "a combination against the classes", altered_amounts(lambda _, a: -a)),
    ("separable", "a larger lower margin", put("margin_lower")(9.0)),
    ("separable", "an infinite margin", put("margin_lower")(math.inf)),
    ("separable", "a whole number for a margin", put("margin_lower")(0)),
    ("separable", "a column before the first", negative_column),
    ("separable", "columns in disorder", put("weights", 0, "columns")([1, 0])),
    ("separable", "a column twice", put("weights", 0, "columns")([0, 0])),
    ("separable", "a column that is true", put("weights", 0, "columns")([False, True])),
    ("separable", "weights that are text", put("weights", 0, "values")(["1", "2"])),
    ("separable", "the weights of others", swapped_weights),
    ("separable", "no weights", put("weights")([])),
    ("no intercept", "an intercept where there is none", put("weights", 0, "intercept")(1.0)),
    ("linear kernel", "amounts that are floats", put("weights", 0, "amounts", 0)(1.0)),
    ("linear kernel", "amounts that are true", put("weights", 0, "amounts", 0)(True)),
    ("linear kernel", "an amount of 0", put("weights", 0, "amounts", 0)(0)),
    ("linear kernel", "rows that are negative", put("weights", 0, "rows", 0)(-1)),
    # bounds and counts
    ("separable", "a bound of 0 with updates", smaller_bound),
    ("separable", "a negative margin of the run", put("run_margin")("-1")),
    ("separable", "a margin that the run had not", put("run_margin")("1")),
    ("separable", "more pull than steps", put("run_pull")("1000000")),
    ("separable", "a negative pull of the run", put("run_pull")("-1")),
    ("separable", "half an update", put("updates")(0.5)),
    ("separable", "updates that are true", put("updates")(True)),
    ("separable", "fewer than no updates", put("updates")(-1)),
    ("separable", "no updates", put("updates")(0)),
    ("separable", "more updates than examples", put("updates")(10**6)),
    ("separable", "updates as text", put("updates")("3")),
    ("separable", "mistakes in words", put("mistakes")("none")),
    ("separable", "half of the rows", put("rows")(6)),
    ("separable", "half a pass", put("passes")(0.5)),
    ("separable", "no pass", put("passes")(0)),
    ("separable", "a bound that does not hold", put("holds")(False)),
    ("separable", "another theorem", put("bound_kind")("Freund-Schapire")),
    ("separable", "a theorem of one's own", put("bound_kind")("\x1b]0;mine\x07")),
    ("separable", "a smaller bound", put("bound_exact")("1")),
    ("separable", "a share that is not promised", put("promised_share")("1")),
    ("margin", "a larger share", put("promised_share")("1")),
    ("one wrong", "a negative gamma", put("inseparable_bound", "gamma")("-1")),
    ("one wrong", "a gamma of 0", put("inseparable_bound", "gamma")("0")),
    ("one wrong", "no deviation", put("inseparable_bound", "loss")("0")),
    ("one wrong", "a smaller root", put("inseparable_bound", "root")(0.0)),
    ("one wrong", "a shorter vector", put("inseparable_bound", "norm")(1e-9)),
    ("one wrong", "hinge losses for their squares", lambda c: c.update(inseparable_bound=c["hinge_bound"])),
    ("one wrong", "squares for hinge losses", lambda c: c.update(hinge_bound=c["inseparable_bound"])),
    ("one wrong", "no hinge loss", put("hinge_bound", "loss")("0")),
    ("one wrong", "a negative hinge loss", put("hinge_bound", "loss")("-1")),
    ("one wrong", "a smaller root of hinge losses", put("hinge_bound", "root")(0.0)),
    ("one wrong", "a larger gamma of hinge losses", put("hinge_bound", "gamma")("1000000")),
    ("one wrong", "a negative gamma of hinge losses", put("hinge_bound", "gamma")("-1")),
    ("one wrong", "a smaller bound by hinge losses", put("hinge_bound", "bound")(1.0)),
    ("not separable", "a vacuous bound that is said to be none", put("hinge_bound", "vacuous")(False)),
    ("one wrong", "the larger of two bounds", lambda c: c.update(bound_kind="Freund-Schapire")),
    ("one wrong", "a bound that is said to be vacuous", put("hinge_bound", "vacuous")(True)),
    ("one wrong", "hinge losses of others", put("hinge_bound", "weights", 0, "values")([9.0, 9.0])),
    ("margin", "hinge losses of a run with a margin", lambda c: c.update(hinge_bound=a_hinge_bound())),
    ("not separable", "one pass less", put("passes")(2)),
    ("not separable", "one more entry there", put("inseparable_bound", "more")(1)),
    # the form
    ("separable", "version 99", put("onlinear_certificate")(99)),
    ("separable", "version 2", put("onlinear_certificate")(2)),
    ("separable", "version 3.0", put("onlinear_certificate")(3.0)),
    ("separable", "a claim in words", put("claim")("The earth is flat.")),
    ("separable", "an entry of another name", rename("radius", "\x1b[31mradius")),
    ("separable", "an entry less", rename("mistakes", "updates")),
    ("separable", "a list for the file's digest", put("file_sha256")([])),
    ("separable", "replayed in words", put("replayed")("yes")),
]


@pytest.mark.parametrize(("name", "what", "forge"), FORGERIES, ids=[f"{name}: {what}" for name, what, _ in FORGERIES])
def test_is_not_believed(name: str, what: str, forge: Callable[[Any], None], tmp_path: Path) -> None:
    certificate, rows = copy.deepcopy(cases()[name])
    forge(certificate)
    resealed(certificate)
    with pytest.raises(verifier.Failed) as failed:
        verified(certificate, rows)
    assert str(failed.value).isprintable()
    assert len(str(failed.value)) < 1000


@pytest.mark.parametrize("text", ['{"sha256": 1, "sha256": 2}', "[" * 10**5, '{"a": 1e999}', '{"a": {}, "b": []}'])
def test_files_that_are_no_certificate(tmp_path: Path, text: str) -> None:
    (tmp_path / "cert").write_text(text)
    (tmp_path / "rows.svm").write_text("1 1:1\n-1 2:1\n")
    assert str(verifier.main([str(tmp_path / "cert"), str(tmp_path / "rows.svm")])).startswith("NOT verified: ")


@pytest.mark.parametrize(
    "line", ["1 0:5", "1 -1:5", "1 1:1 1:2", "1 1:nan", "1 1:1e999", "1 1:1_0", "1 a:1", "1 1", "1 1:2:3", "1 \u0661:1"]
)
def test_rows_that_are_none(tmp_path: Path, line: str) -> None:
    """A column 0 would be the constant feature."""
    (tmp_path / "rows.svm").write_text(f"-1 2:1\n{line}\n", encoding="utf-8")
    with pytest.raises(verifier.Failed, match="number 2"):
        verifier.read_rows(tmp_path / "rows.svm")


@pytest.mark.parametrize(
    "first",
    ["3e0000,-1", "\ufeff3,-1", f"3.{'0' * 401},-1", "3_0,-1", "-3.,-1", "+3,-1", ".5,-1", "\u0663,-1"],
    ids=["exponent", "byte order mark", "long", "underscore", "point", "plus", "no zero", "other digits"],
)
def test_a_first_row_is_not_taken_for_names(tmp_path: Path, first: str) -> None:
    """The three rows below it are separable, all four are not."""
    X, y = np.array([[1.0], [2.0], [-1.0]]), np.array([1, 1, -1])
    model = perceptron().fit(X, y)
    (tmp_path / "c.json").write_text(json.dumps(onlinear.certify(model, X, y)))
    (tmp_path / "rows.csv").write_text(f"{first}\n1,1\n2,1\n-1,-1\n", encoding="utf-8")
    assert str(verifier.main([str(tmp_path / "c.json"), str(tmp_path / "rows.csv")])).startswith("NOT verified")
    (tmp_path / "rows.csv").write_text("x,label\n1,1\n2,1\n-1,-1\n")
    assert verifier.main([str(tmp_path / "c.json"), str(tmp_path / "rows.csv")]) == 0


@pytest.mark.parametrize("first", ["nan,1", "NaN,inf,1", " Infinity ,a", "null,yes", "NA,NA,1", "x,1"])
def test_what_stands_for_a_number_is_no_name(tmp_path: Path, first: str) -> None:
    cells = first.count(",")
    (tmp_path / "rows.csv").write_text(f"{first}\n" + f"{','.join('1' * cells)},1\n{','.join('2' * cells)},-1\n")
    with pytest.raises(verifier.Failed, match="rows: number 1 "):
        verifier.read_rows(tmp_path / "rows.csv")


#: rows that are plainly separable, in forms that are not read
OTHERS = {
    "semicolons.csv": "1.5;0.5;1\n-1.5;0.5;-1\n",
    "commas of decimals.csv": "1,5;0,5;1\n-1,5;0,5;-1\n",
    "a comma in the label.csv": "1,5;1\n-1,5;-1\n",
    "tabs.csv": "1.5\t0.5\t1\n-1.5\t0.5\t-1\n",
    "bars.csv": "1.5|0.5|1\n-1.5|0.5|-1\n",
    "ragged.csv": "1.5,0.5,1\n-1.5,-1\n",
    "labels.csv": "1\n-1\n",
    "commas.data": "1.5,0.5,1\n-1.5,0.5,-1\n",
    "rows.jsonl": '{"x":1.5,"y":1}\n{"x":-1.5,"y":-1}\n',
    "lists.jsonl": "[1.5,1]\n[-1.5,-1]\n",
    "a name of\ntwo lines.tsv": "1\t1:1.5\n-1\t1:-1.5\n",
    "rows.vw": "1 | x:1.5\n-1 | x:-1.5\n",
    "blanks.txt": "1.5 1\n-1.5 -1\n",
    "words.svm": "yes 1:1.5\nno 1:-1.5\n",
    "a query behind.svm": "1 1:1.5 qid:3\n-1 1:-1.5 qid:4\n",
}


@pytest.mark.parametrize("name", OTHERS)
def test_rows_of_another_format_are_not_read(tmp_path: Path, name: str) -> None:
    """As svmlight they would be labels without features, of which nothing is separable."""
    (tmp_path / name).write_text(OTHERS[name])
    labels = [cells[0] for cells in map(str.split, OTHERS[name].splitlines())]
    certificate = copy.deepcopy(cases()["xor"][0])
    certificate["classes"] = [None, labels[0]]
    not_separable_by([0, 1], [0, 1], ["1", "1"])(certificate)
    (tmp_path / "cert").write_text(json.dumps(resealed(certificate)))
    said = verifier.main([str(tmp_path / "cert"), str(tmp_path / name)])
    assert str(said).startswith(("NOT verified: rows: number ", "NOT verified: rows: neither svmlight nor .csv"))


def test_a_query_before_the_features_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "rows.svm").write_text("1 qid:3 1:1.5 # three\n-1 2:1\n")
    assert verifier.read_rows(tmp_path / "rows.svm") == [(1, {0: 1.5}), (-1, {1: 1.0})]


def test_a_row_is_said_to_be_long_where_it_is(tmp_path: Path) -> None:
    """Rows of length 1,000 whose vectors in the feature space of a kernel are short."""
    X, y = np.array([[1000.0], [-1000.0]]), np.array([1, -1])
    model = onlinear.KernelPerceptron("poly", degree=1, gamma=1e-12, coef0=0.0).fit(X, y)
    certificate = json.loads(json.dumps(onlinear.certify(model, X, y)))
    assert certificate["radius"] < 1.0
    said, _ = verifier.verify(certificate, [(1, {0: 1000.0}), (0, {0: -1000.0})])
    assert f"none longer than {certificate['radius']} in the feature space of the kernel" in said[0]


def test_exponentials_are_counted() -> None:
    """As many as five million are computed, which takes minutes; with more of them it would be hours."""
    kernel = verifier.kernel_in(["rbf", 1, "1/1000", "0"])
    for rows, fits in ((1500, True), (1600, False), (20_000, False)):
        many = [(k % 2, {0: float(k + 1)}) for k in range(rows)]
        if fits:
            verifier.scale(many, kernel, [rows])
        else:
            with pytest.raises(verifier.Failed, match="it would take hours"):
                verifier.scale(many, kernel, [rows])


def test_products_are_counted_however_short_the_rows_are() -> None:
    """Two files of three megabytes, with a class for each row, of which each asks the weights of all."""
    kernel = verifier.kernel_in(["linear", 1, "1", "1"])
    for classes, fits in ((100, True), (50_000, False)):
        many: Any = [(k, {}) for k in range(classes)]
        if fits:
            verifier.scale(many, kernel, [0] * classes)
        else:
            with pytest.raises(verifier.Failed, match="it would take hours"):
                verifier.scale(many, kernel, [0] * classes)


def test_a_number_that_is_too_long_to_print_may_be_right() -> None:
    long = Fraction(10**5000 + 1, 10**5000)
    verifier.expect("norm", math.nextafter(1.0, 2.0), long, power=2)
    with pytest.raises(verifier.Failed, match=r"says 3\.0, and the rows say a number of very many digits"):
        verifier.expect("norm", 3.0, long, power=2)


@pytest.mark.parametrize("name", ["sha256", "weights", "onlinear_certificate"])
def test_a_class_may_have_any_name(tmp_path: Path, name: str) -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    y = np.array([name, "b", "c"])
    found = onlinear.certify(perceptron().fit(X, y), X, y)
    assert sorted(found) == sorted(y)
    (tmp_path / "cert").write_text(json.dumps(found))
    rows = "".join(f"{a},{b},{label}\n" for (a, b), label in zip(X.tolist(), y.tolist(), strict=True))
    (tmp_path / "rows.csv").write_text(rows)
    assert verifier.main([str(tmp_path / "cert"), str(tmp_path / "rows.csv")]) == 0


def test_a_lone_carriage_return_ends_no_line(tmp_path: Path) -> None:
    """Hidden behind a comment, it would be a row to the verifier alone."""
    X, y = np.array([[1.0], [-1.0], [1.0]]), np.array([1, -1, -1])
    model = perceptron().fit(X, y)
    (tmp_path / "c.json").write_text(json.dumps(onlinear.certify(model, X, y)))
    for text in ("1 1:1\n-1 1:-1 # note\r-1 1:1\n", "1 1:1\n-1 1:-1\r-1 1:1\n"):
        (tmp_path / "rows.svm").write_bytes(text.encode())
        assert str(verifier.main([str(tmp_path / "c.json"), str(tmp_path / "rows.svm")])).startswith("NOT verified")
    (tmp_path / "rows.svm").write_bytes(b"1 1:1\r\n-1 1:-1\r\n-1 1:1\r\n")
    assert verifier.main([str(tmp_path / "c.json"), str(tmp_path / "rows.svm")]) == 0


def test_what_would_take_hours_is_refused_at_once(tmp_path: Path) -> None:
    X = np.arange(40.0)[:, None]
    model = onlinear.KernelPerceptron("poly", degree=2, coef0=1.0, max_iter=1).fit(X, np.arange(40) % 2)
    certificate = dict(onlinear.certify(model, X, np.arange(40) % 2))
    certificate["kernel"] = ["poly", 100, f"{10**4289 + 1}/{10**4289}", f"{10**4289 + 1}/{10**4289}"]
    (tmp_path / "c.json").write_text(json.dumps(resealed(certificate)))
    (tmp_path / "rows.svm").write_text("".join(f"{k % 2} 1:{k}\n" for k in range(40)))
    said = verifier.main([str(tmp_path / "c.json"), str(tmp_path / "rows.svm")])
    assert said == "NOT verified: certificate: it would take hours to compute so many terms; certify fewer rows"


def test_the_radius_is_counted_where_weights_are_of_no_row(tmp_path: Path) -> None:
    X = np.arange(40.0)[:, None]
    model = onlinear.KernelPerceptron("poly", degree=2, coef0=1.0, max_iter=1).fit(X, np.arange(40) % 2)
    certificate = dict(onlinear.certify(model, X, np.arange(40) % 2))
    certificate |= {
        "kernel": ["poly", 100, f"{10**4289 + 1}/{10**4289}", "0"],
        "weights": [{"rows": [], "amounts": []}],
        **dict.fromkeys(("separable", "witness", "inseparable_bound")),
    }
    (tmp_path / "c.json").write_text(json.dumps(resealed(certificate)))
    (tmp_path / "rows.svm").write_text("".join(f"{k % 2} 1:{k}\n" for k in range(40)))
    said = verifier.main([str(tmp_path / "c.json"), str(tmp_path / "rows.svm")])
    assert said == "NOT verified: certificate: it would take hours to compute so many terms; certify fewer rows"


def test_a_witness_does_not_repeat_a_long_row_without_end() -> None:
    certificate, _ = cases()["not separable"]
    long = dict.fromkeys(range(-1, 1000), 3)
    witness = {"rows": [0, 1] * 2500, "rivals": [1, 0] * 2500, "multipliers": [hex(3**60_000)] * 5000}
    with pytest.raises(verifier.Failed, match="witness: it would take hours"):
        verifier.check_not_separable(certificate | {"witness": witness}, ("linear", 1, 1, 1), [(0, long), (1, long)])
    for name, values in witness.items():
        witness[name] = values[:100]
    witness["multipliers"] = ["1"] * 100  # of a few bits it is quick
    verifier.check_not_separable(certificate | {"witness": witness}, ("linear", 1, 1, 1), [(0, long), (1, long)])


def test_a_class_of_many_digits_is_looked_at_once() -> None:
    """A regular expression that tries every digit as the last one would take hours for a megabyte."""
    name = "1" * 1_000_000 + "x"
    assert verifier.label_of(name) == name
    for text in ("1e5e", "_1", "+-1", "1.2.3", "-.5-", "1_000"):
        with pytest.raises(verifier.Failed, match="looks like one"):
            verifier.label_of(text)
    for text in ("e5", "-", "+.e1", "_e_", "1x", "-"):
        assert verifier.label_of(text) == text


def test_no_more_certificates_than_classes(tmp_path: Path) -> None:
    certificate, _ = cases()["separable"]
    X, y = draw(3, 12, 2)
    rows = (
        f"{t:g} " + " ".join(f"{j + 1}:{x!r}" for j, x in enumerate(row)) for row, t in zip(X.tolist(), y, strict=True)
    )
    (tmp_path / "rows.svm").write_text("\n".join(rows))
    for many, answer in ((1, "0"), (2, "0"), (3, "NOT verified: classes: fewer than certificates")):
        (tmp_path / "c.json").write_text(json.dumps({str(k): certificate for k in range(many)}))
        assert str(verifier.main([str(tmp_path / "c.json"), str(tmp_path / "rows.svm")])).startswith(answer)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_devices_are_not_read(tmp_path: Path, device: str) -> None:
    (tmp_path / "c.json").write_text("{}")
    for arguments in ([device, str(tmp_path / "c.json")], [str(tmp_path / "c.json"), device]):
        assert "no such file, or a device or a pipe" in str(verifier.main(arguments))


def test_labels_that_floats_cannot_tell_apart(tmp_path: Path) -> None:
    (tmp_path / "rows.svm").write_text("9007199254740993 1:1\n9007199254740992 1:2\n")
    rows = verifier.read_rows(tmp_path / "rows.svm")
    assert [place for place, _ in verifier.place_rows(rows, [None, 9007199254740993])] == [1, 0]


# ------------------------------------------------------------------ mutations


def places_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything in a certificate."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for name, each in list(value.items() if isinstance(value, dict) else enumerate(value)):
            yield from places_of(each, (*path, name))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        value = value[name]
    return value


def other_value(value: Any, choose: random.Random) -> Any:
    """A value like this one, or of another type."""
    strange = [None, True, False, 0, 1, -1, 1.0, "0", "1", "1/3", "-1", [], {}, math.nan, 1e308, "1e9", 1 << 60]
    if choose.random() < 0.3 or value is None or isinstance(value, dict):
        return choose.choice(strange)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return choose.choice([value + 1, value - 1, -value, 2 * value, float(value), str(value)])
    if isinstance(value, float):
        return choose.choice([-value, 2.0 * value, math.nextafter(value, math.inf), math.nextafter(value, -9), 0.0])
    if isinstance(value, list):
        return choose.choice([value[:-1], value + value[-1:], value[::-1], value + value])
    digits = [k for k, letter in enumerate(value) if letter.isdigit()]
    if not digits:
        return choose.choice(["", value + " ", value.upper()])
    k = choose.choice(digits)
    return choose.choice([value[:k] + str(choose.randrange(10)) + value[k + 1 :], f"-{value}", value[::-1]])


def mutated(certificate: Any, others: list[Any], choose: random.Random) -> Any:
    """A certificate with one to three changes: another value, one of another certificate, one less or two swapped."""
    found = copy.deepcopy(certificate)
    for _ in range(choose.randint(1, 3)):
        path = choose.choice(list(places_of(found)))
        parent, name = at(found, path[:-1]), path[-1]
        kind = choose.randrange(4)
        if kind == 0:
            source = choose.choice(others)
            if path in set(places_of(source)):
                parent[name] = copy.deepcopy(at(source, path))
        elif kind == 1:
            second = choose.choice(list(parent) if isinstance(parent, dict) else range(len(parent)))
            parent[name], parent[second] = parent[second], parent[name]
        elif kind == 2 and choose.random() < 0.2:
            del parent[name]
        else:
            parent[name] = other_value(parent[name], choose)
        if not isinstance(found.get("weights"), list):
            break
    return resealed(found)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_believed_of_mutations_is_true(name: str) -> None:
    choose = random.Random(name)
    certificate, rows = cases()[name]
    others = [each for each, _ in cases().values()]
    believed = 0
    for _ in range(150):
        other = mutated(certificate, others, choose)
        try:
            said, word = verified(other, rows)
        except Exception:  # the command says NOT verified, whatever it is
            continue
        believed += 1
        check_by_hand(other, rows, said)
        assert all(line.isprintable() for line in word)
    assert believed < 75


def test_certificates_of_other_rows_are_not_believed() -> None:
    for name, (certificate, _) in cases().items():
        for other, (_, rows) in cases().items():
            if name != other and rows != cases()[name][1]:
                with pytest.raises((verifier.Failed, LookupError)):
                    verified(certificate, rows)


def test_an_entry_that_is_there_twice_is_not_passed_over(tmp_path: Path) -> None:
    X, y = np.array([[1.0], [-1.0]]), np.array([1, -1])
    found = onlinear.certify(perceptron().fit(X, y), X, y)
    (tmp_path / "rows.svm").write_text("1 1:1\n-1 1:-1\n")
    text = json.dumps(resealed(dict(found) | {"inseparable_bound": None}))
    twice = '"inseparable_bound": {"bound": 0.0, "bound": 0.0}'
    (tmp_path / "cert").write_text(text.replace('"inseparable_bound": null', twice))
    said = verifier.main([str(tmp_path / "cert"), str(tmp_path / "rows.svm")])
    assert str(said).startswith("NOT verified: ")
