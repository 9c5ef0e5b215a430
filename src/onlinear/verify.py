"""Recheck a certificate of onlinear, with nothing but Python's standard library: ``python verify.py CERT FILE``.

FILE holds the rows: svmlight, columns from 1 on, or CSV of numbers with the label last; a label is positive if it is
the certificate's ``positive``. Floats stand for exact rationals, and nothing is rounded that is compared. Checked are

* R^2 = max |x|^2 + c^2 and |w|^2, which counts (b/c)^2, where c^2 (0 without an intercept) is ``constant_squared``;
* the lower margin min y <w, x> / |w|, and the upper one |w| / sum a, with an allowance for rounding;
* the bound on the updates: S^2 m^2 <= |u|^2 (Q R^2 + 2 beta S), or k <= ((R |w| + D) / gamma)^2;
* the witness: weights with a positive margin, or multipliers that combine the rows y x to exactly zero.

The counts of the run (examples, updates, mistakes, S, Q) are the learner's word, sealed by ``sha256``.
"""

# mypy: ignore-errors

import csv
import hashlib
import json
import math
import struct
import sys
from fractions import Fraction
from pathlib import Path


class Failed(Exception):
    """A claim that is not so."""


def read_rows(path, positive):
    """Target and entries {column: value} of every row."""
    for label, pairs in (csv_lines if str(path).endswith(".csv") else svmlight_lines)(path):
        yield 1 if number_in(label) == number_in(positive) else -1, dict(sorted((j, x) for j, x in pairs if x != 0.0))


def csv_lines(path):
    with open(path, newline="", encoding="utf-8") as file:
        for number, (*cells, label) in enumerate(csv.reader(file)):
            if number > 0 or all(isinstance(number_in(cell), float) for cell in cells):  # else names of columns
                yield label, enumerate(map(float, cells))


def svmlight_lines(path):
    with open(path, encoding="utf-8") as file:
        for label, *pairs in filter(None, (line.partition("#")[0].split() for line in file)):
            split = (pair.split(":") for pair in pairs if not pair.startswith("qid:"))
            yield label, ((int(j) - 1, float(x)) for j, x in split)


def number_in(cell):
    try:
        return float(cell)
    except ValueError:
        return cell


def digest_of(rows):
    parts = [hashlib.sha256() for _ in range(4)]
    for target, entries in rows:
        parts[0].update(struct.pack("b", target))
        parts[1].update(struct.pack("<Q", len(entries)))
        parts[2].update(struct.pack(f"<{len(entries)}Q", *entries))
        parts[3].update(struct.pack(f"<{len(entries)}d", *entries.values()))
    return hashlib.sha256(b"".join(part.digest() for part in parts)).hexdigest()


class Weights:
    def __init__(self, given, constant_squared):
        self.values = {j: Fraction(w) for j, w in zip(given["columns"], given["values"], strict=True)}
        self.intercept, self.constant = Fraction(given["intercept"]), constant_squared
        if self.intercept and not constant_squared:
            raise Failed("weights: there is an intercept, but no constant feature")

    def norm_squared(self):
        return sum(w * w for w in self.values.values()) + (self.intercept**2 / self.constant if self.constant else 0)

    def scores(self, rows):
        for target, entries in rows:
            yield target * (sum(Fraction(x) * self.values.get(j, 0) for j, x in entries.items()) + self.intercept)


def root(number, up):
    """The float next to the root of a rational, from above or below."""
    half = (number.numerator.bit_length() - number.denominator.bit_length()) // 2
    near = math.ldexp(math.sqrt(number / Fraction(4) ** half), half) if number else 0.0
    while Fraction(near) ** 2 > number:
        near = math.nextafter(near, 0.0)
    while Fraction(math.nextafter(near, math.inf)) ** 2 <= number:
        near = math.nextafter(near, math.inf)
    return near if not up or Fraction(near) ** 2 == number else math.nextafter(near, math.inf)


def rounded_up(number):
    return float(number) if Fraction(float(number)) >= number else math.nextafter(float(number), math.inf)


def expect(name, claimed, found):
    if claimed != found:
        raise Failed(f"{name}: the certificate says {claimed}, and the rows say {found}")


def exact(cert, name):
    return None if cert[name] is None else Fraction(cert[name])


def check_box(cert, rows, weights):
    norm, least = weights.norm_squared(), min(weights.scores(rows))
    radius = max(sum(Fraction(x) ** 2 for x in entries.values()) for _, entries in rows) + weights.constant
    expect("least_score", exact(cert, "least_score"), least)
    for name, squared in (("radius", radius), ("norm", norm)):
        expect(f"{name}_squared", exact(cert, f"{name}_squared"), squared)
        expect(name, cert[name], root(squared, up=True))
    lower = None if norm == 0 else math.copysign(root(least**2 / norm, up=least < 0), -1.0 if least < 0 else 1.0)
    expect("margin_lower", cert["margin_lower"], lower)
    pull, upper = exact(cert, "pull"), None
    if pull is not None:
        slack = Fraction(4 * cert["examples"], 1 << 53)
        upper = rounded_up(Fraction(cert["norm"]) / (pull * (1 - slack)) + slack * Fraction(cert["radius"]))
    expect("margin_upper", cert["margin_upper"], upper)


def check_witness(cert, rows, weights):
    """The witness; the margins of separating weights come back."""
    if cert["separable"] is None:
        return expect("witness", cert["witness"], None)
    if cert["separable"]:
        separating = Weights(cert["witness"], weights.constant)
        least = min(separating.scores(rows))
        if least <= 0:
            raise Failed("witness: its margin is not positive on every row")
        return least, separating.norm_squared()
    totals, multipliers = {}, [Fraction(a) for a in cert["witness"]["multipliers"]]
    for i, a in zip(cert["witness"]["rows"], multipliers, strict=True):
        target, entries = rows[i]
        for j, x in [*entries.items(), (-1, 1.0 if weights.constant else 0.0)]:
            totals[j] = totals.get(j, 0) + a * target * Fraction(x)
    if not multipliers or min(multipliers) <= 0 or any(totals.values()):
        raise Failed("witness: its multipliers do not combine the rows to zero")
    return None


def check_bounds(cert, rows, weights, separating):
    """The separable bound, and the inseparable one; the certificate must speak of the first there is."""
    radius, updates = exact(cert, "radius_squared"), cert["updates"]
    pull, squares, beta = (exact(cert, f"run_{name}") for name in ("pull", "squares", "margin"))
    found = []
    if pull is not None and separating is not None and updates > 0:
        least, norm = separating
        room = squares * radius + 2 * beta * pull
        kind = "margin perceptron" if beta > 0 else "perceptron"
        found.append((kind, room / squares * norm / least**2, pull**2 * least**2 <= norm * room))
    if (given := cert["inseparable_bound"]) is not None:
        weights = Weights(given["weights"], weights.constant)
        gamma, scaled = Fraction(given["gamma"]), radius * weights.norm_squared()
        short = cert["passes"] * sum(max(gamma - score, 0) ** 2 for score in weights.scores(rows))
        expect("deviation_squared", Fraction(given["deviation_squared"]), short)
        value = ((Fraction(root(scaled, up=True)) + Fraction(root(short, up=True))) / gamma) ** 2
        expect("inseparable bound", given["bound"], rounded_up(value))
        expect("vacuous", given["vacuous"], value >= cert["examples"])
        rest = updates * gamma**2 - scaled - short
        found.append(("Freund-Schapire", value, rest <= 0 or rest**2 <= 4 * scaled * short))
    claimed = cert["bound_kind"], exact(cert, "bound_exact"), cert["holds"]
    expect("bound", (*claimed, cert["bound"]), (*found[0], rounded_up(found[0][1])) if found else (None,) * 4)
    if not all(each[2] for each in found):
        raise Failed("bound: it does not hold")


def verify(cert, rows):
    """Recheck a certificate on rows; the first claim that is not so is raised as Failed."""
    rest = json.dumps({name: value for name, value in cert.items() if name != "sha256"}, sort_keys=True)
    expect("sha256 of the certificate", cert["sha256"], hashlib.sha256(rest.encode()).hexdigest())
    expect("rows", cert["rows"], len(rows))
    expect("data_sha256", cert["data_sha256"], digest_of(rows))
    expect("examples", cert["examples"], cert["passes"] * len(rows))
    if not 0 <= cert["updates"] <= cert["examples"] or not 0 <= cert["mistakes"] <= cert["examples"]:
        raise Failed("updates or mistakes: there are more of them than examples, or fewer than none")
    weights = Weights(cert["weights"], Fraction(cert["constant_squared"]))
    check_box(cert, rows, weights)
    check_bounds(cert, rows, weights, check_witness(cert, rows, weights))


def main(arguments: list[str]) -> str | int:
    if len(arguments) != 2:
        return "usage: verify.py CERT FILE"
    try:
        found = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
        certs = [found] if "sha256" in found or not found else list(found.values())  # one for each class
        for cert in certs:
            verify(cert, list(read_rows(arguments[1], cert["positive"])))
    except Failed as error:
        return f"NOT verified: {error}"
    except Exception as error:  # whatever is in the files, the answer is a sentence
        return f"NOT verified: these cannot be read as a certificate and its rows ({error!r})"
    print(*(f"verified: {cert['claim']}" for cert in certs), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
