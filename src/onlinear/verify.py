"""Recheck a certificate of onlinear with nothing but Python's standard library: ``python verify.py CERT FILE [MODEL]``.

FILE holds the rows: svmlight, columns from 1 on, or CSV of numbers with the label last. Floats stand for exact numbers,
and nothing that is compared is rounded but exp, with an allowance. A row x of class y asks weights w for <w, z> > 0,
z = y x; of several classes z = x (x) (e_y - e_r) for every rival r. Checked are
* R^2 = max K(x, x), |w|^2, the lower margin min <w, z> / |w|, the upper one |w| / sum a, and the promised share;
* the bound on the updates: S^2 m^2 <= |u|^2 (Q |z|^2 + 2 beta S), or k <= ((|z| |w| + D) / gamma)^2;
* the witness: weights with a positive margin, or multipliers that combine vectors z to exactly zero.
The counts of the run (examples, updates, mistakes, S, Q) are the learner's word, sealed by ``sha256``.
"""

import csv
import hashlib
import json
import math
import struct
import sys
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path

DIGITS = Context(prec=60)  # in which exp is correctly rounded
SHOWN = ("classes", "updates", "bound_kind", "bound", "separable", "margin_lower", "margin_upper")


class Failed(Exception):
    """A claim that is not so."""


def read_rows(path, classes):
    """The place of its class in the list, where a null stands for the rest, and {column: value}, of every row."""
    known, table = [number_in(label) for label in classes], str(path).endswith(".csv")
    with open(path, newline="", encoding="utf-8") as file:
        lines = csv.reader(file) if table else (line.partition("#")[0].split() for line in file)
        for number, cells in enumerate(filter(None, lines)):
            label = number_in(cells.pop(-1 if table else 0))
            if table and number == 0 and not all(isinstance(number_in(cell), float) for cell in cells):
                continue  # names of columns
            if label not in known and known[0] is not None:
                raise Failed(f"rows: there is one of the class {label}, which the certificate does not know")
            split = enumerate(cells, 1) if table else (cell.split(":") for cell in cells if cell[:4] != "qid:")
            entries = sorted((int(j) - 1, float(x)) for j, x in split)
            yield known.index(label) if label in known else 0, {j: x for j, x in entries if x != 0.0}


def number_in(cell):
    try:
        return float(cell)
    except (TypeError, ValueError):
        return cell


def sha256_of(value):
    return hashlib.sha256(value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()).hexdigest()


def digest_of(rows):
    columns, values = [j for _, row in rows for j in row], [x for _, row in rows for x in row.values()]
    lists = ("i", [place for place, _ in rows]), ("Q", [len(row) for _, row in rows]), ("Q", columns), ("d", values)
    packed = (struct.pack(f"<{len(part)}{code}", *part) for code, part in lists)
    return sha256_of(b"".join(hashlib.sha256(part).digest() for part in packed))


def expect(name, claimed, found, power=0, up=True):
    """That a claim is what was found; for a power of 1 the next float above it, or below, for 2 above its root."""
    fits = claimed == found
    if power and claimed is not None and found is not None:
        ends = Fraction(claimed), Fraction(math.nextafter(claimed, -math.inf if up else math.inf))
        here, beyond = (end * abs(end) ** (power - 1) for end in ends)
        fits = beyond < found <= here if up else here <= found < beyond
    if not fits:
        raise Failed(f"{name}: the certificate says {claimed}, and the rows say {found}")


def alike(kernel, x, z):
    """(gamma x.z + coef0)^degree, of a linear learner x.z + c^2, or exp(-gamma |x - z|^2) to 40 decimals."""
    name, degree, gamma, coef0 = kernel
    if name != "rbf":
        return (gamma * sum(v * z[j] for j, v in x.items() if j in z and j >= 0) + coef0 * x[-1] * z[-1]) ** degree
    t = -gamma * sum((x.get(j, 0) - z.get(j, 0)) ** 2 for j in x.keys() | z.keys())
    power = DIGITS.exp(DIGITS.divide(Decimal(t.numerator), Decimal(t.denominator)))
    return Fraction(round(DIGITS.scaleb(power, 40)), 10**40)


class Weights:
    """A sum of kernels, one for each class of several, with its norm and its scores: careful where exp is rounded."""

    def __init__(self, given, kernel, rows):
        norm, total, sums, self.scores, unit = 0, 0, [], [], rows[0][1][-1]
        for each in given:
            if "amounts" in each:
                kept = [(a, rows[i][1]) for i, a in zip(each["rows"], each["amounts"], strict=True)]
            else:  # <w, x> + b is the kernel of x and one more vector, (w, b / c^2)
                b = Fraction(each["intercept"]) / unit / kernel[3] if each["intercept"] else 0
                values = [b, *(Fraction(value) * unit for value in each["values"])]
                kept = [(1, dict(zip([-1, *each["columns"]], values, strict=True)))]
            sums, total = [*sums, kept], total + sum(abs(a) for a, _ in kept)
            norm += sum(a * b * alike(kernel, x, z) for a, x in kept for b, z in kept)
        slack, self.stretch = Fraction(total, 10**40) if kernel[0] == "rbf" else 0, min(len(sums), 2)
        self.norm, self.least_norm = norm + total * slack, norm - total * slack
        for place, x in rows:
            products = [sum(a * alike(kernel, x, z) for a, z in kept) for kept in sums]
            own = products.pop(place) - max(products) if len(sums) > 1 else products[0] * (1 if place else -1)
            self.scores.append(own - slack)
        self.least = min(self.scores)


def check_margins(cert, weights, radius, S, beta, room):
    least, pull, slack = weights.least, cert["pull"] and Fraction(cert["pull"]), Fraction(4 * cert["examples"], 1 << 53)
    expect("least_score", cert["least_score"], str(least))
    for name, squared in (("radius", radius), ("norm", weights.norm)):
        expect(f"{name}_squared", cert[f"{name}_squared"], str(squared))
        expect(name, cert[name], squared, power=2)
    norm = weights.norm if least >= 0 else weights.least_norm
    expect("margin_lower", cert["margin_lower"], least * abs(least) / norm if norm > 0 else None, power=2, up=False)
    upper = pull and Fraction(cert["norm"]) / (pull * (1 - slack)) + slack * weights.stretch * Fraction(cert["radius"])
    expect("margin_upper", cert["margin_upper"], upper, power=1)
    promised = beta and least > beta and weights.norm <= room
    expect("promised_share", cert["promised_share"], str(beta * S / room) if promised else None)


def check_witness(cert, weights, kernel, rows):
    """The witness, if it is weights that separate the rows."""
    witness, totals = cert["witness"], {}
    if cert["separable"] is None:
        return expect("witness", witness, None)
    if cert["separable"]:
        weights = weights if witness == cert["weights"] else Weights(witness, kernel, rows)
        expect("witness, whose margin is positive", True, weights.least > 0)
        return weights
    for i, rival, a in zip(witness["rows"], witness["rivals"], map(Fraction, witness["multipliers"]), strict=True):
        place, x = rows[i]
        expect("witness, whose multipliers are positive", True, a > 0 and place != rival in range(len(cert["classes"])))
        for output, sign in [(place, 1), (rival, -1)] if len(cert["weights"]) > 1 else [(0, 1 if place else -1)]:
            for j, v in x.items():
                totals[output, j] = totals.get((output, j), 0) + sign * a * v * (kernel[3] if j < 0 else 1)
    return expect("witness, whose sum is zero", (kernel[0] == "rbf", kernel[1], *set(totals.values())), (False, 1, 0))


def check_bounds(cert, separating, deviating, radius, S, Q, beta, room):
    """The inseparable bound, and the separable one; the certificate must speak of the last there is."""
    found, k = [(None, None, None)], cert["updates"]
    if (given := cert["inseparable_bound"]) is not None:
        gamma, short = Fraction(given["gamma"]), Fraction(given["deviation_squared"])
        long = deviating.stretch * radius * deviating.norm
        expect("deviation_squared", short, cert["passes"] * sum(max(gamma - s, 0) ** 2 for s in deviating.scores))
        expect("root", given["root"], long * short, power=2)
        value, rest = (long + short + 2 * Fraction(given["root"])) / gamma**2, k * gamma**2 - long - short
        expect("inseparable bound", given["bound"], value, power=1)
        expect("vacuous, steps", (given["vacuous"], beta, S**2), (value >= cert["examples"], 0, k * Q))
        found.append(("Freund-Schapire", value, rest <= 0 or rest**2 <= 4 * long * short))
    if S is not None and separating is not None and k > 0:
        kind, shape = "margin " * (beta > 0) + "perceptron", separating.least**2 / separating.norm
        found.append(("multiclass " * (separating.stretch - 1) + kind, room / Q / shape, S**2 * shape <= room))
    kind, value, holds = found[-1]
    expect("bound", (cert["bound_kind"], cert["bound_exact"], cert["holds"]), (kind, value and str(value), holds))
    expect("bound", cert["bound"], value, power=1)
    expect("bound, which holds", True, all(each[2] is not False for each in found))


def verify(cert, rows):
    """Recheck a certificate on rows; the first claim that is not so is raised as Failed."""
    expect("sha256", cert["sha256"], sha256_of({name: value for name, value in cert.items() if name != "sha256"}))
    expect("model_sha256", cert["model_sha256"], sha256_of(cert["weights"]))
    expect("rows", cert["rows"], len(rows))
    expect("data_sha256", cert["data_sha256"], digest_of(rows))
    expect("examples", cert["examples"], cert["passes"] * len(rows))
    expect("updates and mistakes", True, all(0 <= cert[k] <= cert["examples"] for k in ("updates", "mistakes")))
    unit = max(x.as_integer_ratio()[1] for _, row in rows for x in (1.0, *row.values()))  # 1 / unit divides all values
    rows = [(place, {-1: unit, **{j: int(Fraction(x) * unit) for j, x in row.items()}}) for place, row in rows]
    kernel = cert["kernel"][:2] + [Fraction(number) / unit**2 for number in cert["kernel"][2:]]
    other, n, witness = (cert["inseparable_bound"] or cert)["weights"], len(cert["weights"]), cert["witness"]
    expect("outputs", [len(other), len(witness) if cert["separable"] else n, len(cert["classes"])], [n, n, max(2, n)])
    expect("kernel", True, kernel[1] in range(1, 1000) and kernel[2] > 0 <= kernel[3])
    weights, radius = Weights(cert["weights"], kernel, rows), max(alike(kernel, x, x) for _, x in rows)
    S, Q, beta = (cert[name] and Fraction(cert[name]) for name in ("run_pull", "run_squares", "run_margin"))
    room = S and Q * weights.stretch * radius + 2 * beta * S
    check_margins(cert, weights, radius, S, beta, room)
    deviating = weights if other == cert["weights"] else Weights(other, kernel, rows)
    check_bounds(cert, check_witness(cert, weights, kernel, rows), deviating, radius, S, Q, beta, room)


def main(arguments: list[str]) -> str | int:
    try:
        found = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
        certs = [found] if "sha256" in found or not found else list(found.values())  # one for each class
        for cert in certs:
            for model in arguments[2:]:
                expect("file_sha256", cert["file_sha256"], sha256_of(Path(model).read_bytes()))
            verify(cert, list(read_rows(arguments[1], cert["classes"])))
    except Exception as error:  # whatever is in the files, the answer is a sentence
        unread = f"these cannot be read as a certificate and its rows ({error!r}); say verify.py CERT FILE [MODEL]"
        return f"NOT verified: {error if isinstance(error, Failed) else unread}"
    print(*(f"verified: {', '.join(f'{name} {cert[name]}' for name in SHOWN)}" for cert in certs), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
