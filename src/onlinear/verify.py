"""Recheck a certificate of onlinear with nothing but Python's standard library: ``python verify.py CERT FILE``.

FILE holds the rows: svmlight, columns from 1 on, or CSV of numbers with the label last; a decimal is the double nearest
to it. A row x of class y asks weights w for <w, z> > 0, z = y x; of several classes z = x (x) (e_y - e_r) for every
rival r. Anyone can seal a certificate, so nothing in it is believed: every number is computed again, in rationals.
* The rows tell R^2 = max K(x, x), margins min <w, z> / |w|, the witness (weights with a positive margin, or multipliers
  that combine vectors z to exactly zero), that no margin is above |sum a z| / sum a of a combination with all a > 0,
  and how many updates a perceptron can make.
* They do not tell the counts of the run (examples, updates k, mistakes, the sums S of steps and Q of their squares):
  that is the learner's word, and what follows from it is printed as such, unless replay.py learns the rows again.
"""

import csv
import hashlib
import json
import math
import re
import struct
import sys
from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path

VERSION = 3
MOST_COUNT, MOST_BYTES, MOST_TERMS, MOST_BITS, MOST_KERNELS, MOST_WORK = 1 << 50, 1 << 28, 5000, 1 << 17, 5e6, 5e9
FAINT = Fraction(1, 1 << 1000)  # of what is less a float may have lost any share: they end at 2^-1074
DIGITS = Context(prec=60)  # in which exp is correctly rounded
DECIMAL = re.compile(r"[-+]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][-+]?\d{1,3})?", re.ASCII)
#: what a class and a column are named in a table: nothing that is missing or no number, no other delimiter, no quote
CLASS = r"(?i)(?!(\?|na|[-+]?(nan|inf|infinity))$)[^;|{}\"]+"
NAME = r"(?i)(?!(nan?|inf(inity)?|null|none)$)[^\W\d].*"
WHOLE = re.compile(r"[-+]?\d+(\.0*)?", re.ASCII)
#: names of files that the learner reads otherwise
OTHERS = re.compile(r"(?is).*\.(vw|tsv|jsonl?|ndjson|parquet|pq|arrow|feather|ipc|(?-i:(?!csv)(?i:csv)))")
RATIO = re.compile(r"-?\d{1,4300}(/[1-9]\d{0,4299})?", re.ASCII)
HEX = re.compile(r"0x[1-9a-f][0-9a-f]*", re.ASCII)  # where a whole number may have more digits
FORM = {  # what a certificate and its parts hold, by kind; what has a ? may be null
    int: "onlinear_certificate examples rows passes updates mistakes? undecided?",
    bool: "replayed holds? separable?",
    float: "radius norm margin_lower? margin_upper? bound?",
    str: "radius_squared norm_squared least_score pull? run_pull? run_squares? run_margin? promised_share? "
    "bound_exact? bound_kind? data_sha256 model_sha256 file_sha256? sha256",
    list: "weights kernel classes combination?",
    dict: "inseparable_bound? hinge_bound?",
    (list, dict): "witness?",
    (dict, str): "replay",  # how the run went, for replay.py
}
DEVIATION = {list: "weights", str: "gamma loss", float: "norm root bound", bool: "vacuous"}
LOSSES = {"inseparable_bound": ("Freund-Schapire", 2), "hinge_bound": ("hinge loss", 1)}  # of gamma's shortfalls
VECTOR, SUM = {list: "columns values", float: "intercept"}, {list: "rows amounts"}
MULTIPLIERS = {list: "rows rivals multipliers"}


class Failed(Exception):
    """A claim that is not so, or that is not made in the right form."""


def require(true, what):
    if not true:
        raise Failed(what)


def expect(name, claimed, found, power=0, up=True):
    """That a claim is what was found; for a power of 1 the next float above it, or below, for 2 that of its root."""
    fits = claimed == found
    if power and None not in (claimed, found):
        ends = Fraction(claimed), Fraction(math.nextafter(claimed, -math.inf if up else math.inf))
        here, beyond = (end * abs(end) ** (power - 1) for end in ends)
        fits = beyond < found <= here if up else here <= found < beyond
    require(fits, f"{name}: the certificate says {plain(claimed)}, and the rows say {plain(found)}")


def plain(value):
    """Any value as text for a terminal: short, and of letters that do no harm."""
    long = isinstance(value, Fraction) and max(map(abs, value.as_integer_ratio())) >= 10**4300
    text = "a number of very many digits" if long else str(value) if isinstance(value, Fraction) else ascii(value)
    return text if len(text) <= 90 else text[:87] + "..."


def read_rows(path):
    """The label and {column: value}, columns counted from 0, of every row."""
    table, rows, width = str(path).endswith(".csv"), [], 0
    require(not OTHERS.fullmatch(str(path)), "rows: neither svmlight nor .csv: name what certify --export has written")
    with open(path, newline="\n", encoding="utf-8-sig") as file:  # a lone CR ends no line
        lines = (cells_in(line.removesuffix("\n").removesuffix("\r"), table) for line in file)
        for number, cells in enumerate(filter(None, lines), 1):
            width = width or len(cells)
            fits = len(cells) == width > 1 and re.fullmatch(CLASS, cells[-1]) if table else DECIMAL.fullmatch(cells[0])
            fits = fits and all(map(str.isprintable, cells))
            require(fits, f"rows: number {number} has no label where it should be, or not as many cells as the first")
            if table and number == 1 and all(re.fullmatch(NAME, cell) for cell in cells):
                continue  # names of columns
            label = cells.pop(-1 if table else 0)
            cells = [f"{j}:{x}" for j, x in enumerate(cells, 1)] if table else cells
            pairs = [cell.partition(":")[::2] for cell in cells[bool(re.fullmatch("qid:[0-9]+", (*cells, "")[0])) :]]
            fits = all(re.fullmatch("[0-9]{1,18}", j) and DECIMAL.fullmatch(x) for j, x in pairs)
            entries = {int(j) - 1: float(x) for j, x in pairs} if fits else {}
            fits = len(entries) == len(pairs) and all(j >= 0 and math.isfinite(x) for j, x in entries.items())
            require(fits, f"rows: number {number} has a column 0 or one twice, or what is no finite number")
            rows.append((label, {j: entries[j] for j in sorted(entries)}))
    found = [label_of(label) for label, _ in rows]
    texts = any(type(label) is str for label in found)  # then 1 and 1.0 are two of them
    return [(row[0] if texts else label, row[1]) for label, row in zip(found, rows, strict=True)]


def cells_in(line, table):
    """What stands between the commas of a table, of which quotes are closed on the line; else between blanks."""
    if table:
        return [cell.strip(" \t") for cell in next(csv.reader([line], strict=True))]
    return [cell for cell in re.split("[ \t]", line.partition("#")[0]) if cell]


def label_of(value):
    """A label as a number, exact if it is whole and else the nearest double, or as text that looks like none."""
    text = str(value)
    if DECIMAL.fullmatch(text) and math.isfinite(float(text)):
        return Fraction(text) if WHOLE.fullmatch(text) else Fraction(float(text))
    require(not re.fullmatch(r"[-+._]*\d[-+.\d_eE]*", text), f"label: {plain(text)} is no number, but looks like one")
    return text


def place_rows(rows, classes):
    """The place of its class and the entries of every row; null stands for the rest, and a single class has place 1."""
    require(type(classes) is list and classes, "classes: there are none")
    fits = all(type(c) in (str, int, float, bool) for c in (classes[1:] if classes[0] is None else classes))
    texts = any(type(label) is str for label, _ in rows)
    known = [None if c is None else str(c) if texts else label_of(c) for c in classes]
    fits = fits and len(set(known)) == len(known) and (classes[0] is not None or len(classes) == 2)
    require(fits, "classes: they are not names or numbers, each once, or null for the rest and one more")
    places, found = {label: place for place, label in enumerate(known, len(known) == 1)}, []
    for label, entries in rows:
        fits = label in places or known[0] is None
        require(fits, f"rows: there is one of the class {plain(label)}, which the certificate does not know")
        found.append((places.get(label, 0), entries))
    return found


def sha256_of(value):
    return hashlib.sha256(value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()).hexdigest()


def digest_of(rows):
    columns, values = [j for _, row in rows for j in row], [x for _, row in rows for x in row.values()]
    lists = ("i", [place for place, _ in rows]), ("Q", [len(row) for _, row in rows]), ("Q", columns), ("d", values)
    packed = (struct.pack(f"<{len(part)}{code}", *part) for code, part in lists)
    return sha256_of(b"".join(hashlib.sha256(part).digest() for part in packed))


def check_form(name, found, form):
    """Exactly these entries, each exactly of its kind: True is no number, and 1 no float."""
    kinds = {key: kind for kind, keys in form.items() for key in keys.split()}
    known = {key.rstrip("?") for key in kinds}
    require(type(found) is dict and found.keys() == known, f"{name}: its entries are not {', '.join(sorted(known))}")
    for key, kind in kinds.items():
        value = found[key.rstrip("?")]
        fits = type(value) in (kind if type(kind) is tuple else (kind,)) or (value is None and key.endswith("?"))
        require(fits and (type(value) is not float or math.isfinite(value)), f"{name}: {key} cannot be {plain(value)}")


def ratio(name, text, optional=False):
    """The number that a text p/q is, in lowest terms; None for None."""
    fits = type(text) is str and RATIO.fullmatch(text) and str(Fraction(text)) == text
    require(fits or (optional and text is None), f"{name}: {plain(text)} is no number p/q in lowest terms")
    return None if text is None else Fraction(text)


def check_hypothesis(name, part, kernel, rows):
    """Whole amounts of rows, or for a linear kernel a vector of floats."""
    if type(part) is dict and "amounts" in part:
        check_form(name, part, SUM)
        places, numbers, stop = part["rows"], part["amounts"], rows
        fits = all(type(a) is int and 0 < abs(a) < MOST_COUNT for a in numbers)
    else:
        check_form(name, part, VECTOR)
        places, numbers, stop = part["columns"], part["values"], 1 << 60
        fits = kernel[0] != "rbf" and kernel[1] == kernel[2] == 1 and (kernel[3] > 0 or part["intercept"] == 0)
        fits = fits and all(type(v) is float and math.isfinite(v) for v in numbers)
    fits = fits and len(places) == len(numbers) and all(type(place) is int for place in places)
    fits = fits and all(a < b for a, b in zip([-1, *places], [*places, stop], strict=True))
    require(fits, f"{name}: neither whole amounts of rows nor, for a linear kernel, a vector of floats")


def kernel_in(given):
    """Name, degree, gamma and coef0."""
    require(len(given) == 4 and type(given[1]) is int, "kernel: it is not name, degree, gamma and coef0")
    name, degree, gamma, coef0 = *given[:2], ratio("gamma", given[2]), ratio("coef0", given[3])
    fits = {"linear": degree == gamma == 1, "poly": 1 <= degree <= 100, "rbf": degree == 1 and coef0 == 0}
    require(type(name) is str and fits.get(name) and gamma > 0 <= coef0, f"kernel: there is no {plain(given)}")
    return name, degree, gamma, coef0


def check_counts(cert, counts):
    """That every class has rows, and that the learner's word can be so; S, Q and beta, if it has them."""
    for place, name in enumerate(cert["classes"], len(cert["classes"]) == 1):
        require(counts[place], f"classes: no row is of {'the rest' if name is None else 'the class ' + plain(name)}")
    rows, k, examples = counts.total(), cert["updates"], cert["examples"]
    expect("rows, examples", [cert["rows"], examples], [rows, cert["passes"] * rows])
    fits = examples < MOST_COUNT and all(0 <= count <= examples for count in (1, k, cert["mistakes"] or 0))
    require(fits, "updates, mistakes: they are not between 0 and the number of examples")
    run = S, Q, beta = [ratio(name, cert[name], optional=True) for name in ("run_pull", "run_squares", "run_margin")]
    fits = None not in run and beta >= 0 and k * Q >= S**2 and (S > 0 and k * FAINT <= Q if k else S == Q == 0)
    require(fits or run == [None] * 3, "run: not S > 0, Q > 0, beta >= 0 and S^2 <= k Q, as it must be of k steps")
    return run if fits else None


def alike(kernel, x, z):
    """(gamma x.z + coef0)^degree, of a linear learner x.z + c^2, or exp(-gamma |x - z|^2) to 40 decimals."""
    name, degree, gamma, coef0 = kernel
    if name != "rbf":
        return (gamma * sum(v * z[j] for j, v in x.items() if j in z and j >= 0) + coef0 * x[-1] * z[-1]) ** degree
    t = -gamma * sum((x.get(j, 0) - z.get(j, 0)) ** 2 for j in x.keys() | z.keys())
    power = DIGITS.exp(DIGITS.divide(Decimal(t.numerator), Decimal(t.denominator)))
    return Fraction(round(DIGITS.scaleb(power, 40)), 10**40)


def whole_of(x, unit):
    """A float times a multiple of its denominator."""
    numerator, denominator = x.as_integer_ratio()
    return numerator * (unit // denominator)


def scale(rows, kernel, sums):
    """Rows of whole numbers, with the constant feature at -1, and their kernel, if so many terms take no hours."""
    unit = max(x.as_integer_ratio()[1] for _, row in rows for x in (1.0, *row.values()))  # 1 / unit divides all values
    whole = [(place, {-1: unit, **{j: whole_of(x, unit) for j, x in row.items()}}) for place, row in rows]
    kernel = (*kernel[:2], kernel[2] / unit**2, kernel[3] / unit**2)
    bits = max(v.bit_length() for _, row in whole for v in row.values())
    bits += sum(part.bit_length() for number in kernel[2:] for part in number.as_integer_ratio())
    entries, longest = sum(len(row) for _, row in whole), max(len(row) for _, row in whole)
    kernels = sum((len(whole) + n) * n for n in sums if n)  # to be added up: the square of their words
    work = sum((entries + n * longest) * max(n, 1) for n in sums) * (1 + bits // 64)
    work += (len(whole) + kernels) * (1 + kernel[1] * bits // 64) ** 2  # the radius takes one for each row
    work += 150 * len(whole) * len(sums)  # a product of a row and weights takes its time however short they are
    fits = work <= MOST_WORK and kernels <= MOST_KERNELS
    require(fits, "certificate: it would take hours to compute so many terms; certify fewer rows")
    return whole, kernel


class Weights:
    """A vector or a sum of kernels, one for each class of several, with its norm and its scores."""

    def __init__(self, given, kernel, rows):
        norm, total, sums, self.scores, unit = 0, 0, [], [], rows[0][1][-1]
        for part in given:
            if "amounts" in part:
                kept = [(a, rows[i][1]) for i, a in zip(part["rows"], part["amounts"], strict=True)]
                if kernel[0] == "linear":  # of which the sum is a vector
                    vector = Counter()
                    for j, v in ((j, a * v) for a, x in kept for j, v in x.items()):
                        vector[j] += v
                    kept = [(1, vector)]
            else:  # <w, x> + b is the kernel of x and one more vector, (w, b / c^2)
                b = Fraction(part["intercept"]) / unit / kernel[3] if part["intercept"] else 0
                values = [b, *(Fraction(value) * unit for value in part["values"])]
                one = math.lcm(*(value.denominator for value in values))  # whole numbers are quicker
                values = [int(value * one) for value in values]
                kept = [(Fraction(1, one), dict(zip([-1, *part["columns"]], values, strict=True)))]
            sums, total = [*sums, kept], total + sum(abs(a) for a, _ in kept)
            norm += sum(a * b * alike(kernel, x, z) for a, x in kept for b, z in kept)
        slack, self.stretch = Fraction(total, 10**40) if kernel[0] == "rbf" else 0, min(len(sums), 2)
        self.norm, self.least_norm = norm + total * slack, norm - total * slack  # where exp is rounded, with care
        for place, x in rows:
            products = [sum(a * alike(kernel, x, z) for a, z in kept) for kept in sums]
            own = products.pop(place) - max(products) if len(sums) > 1 else products[0] * (1 if place else -1)
            self.scores.append(own - slack)
        self.least = min(self.scores)
        norm = self.norm if self.least >= 0 else self.least_norm
        self.margins = [self.least * abs(self.least) / norm] if norm > 0 else []  # the square, with its sign


def upper_margin(parts, weights, rows):
    """The square of |sum a z| / sum a: what is added to the row's class is taken from rivals, if there are several."""
    require(all("amounts" in part for part in parts), "combination: it is not of amounts of rows")
    several, left = len(parts) > 1, Counter()
    terms = [(p, i, a) for p, part in enumerate(parts) for i, a in zip(part["rows"], part["amounts"], strict=True)]
    for _, i, a in terms:
        left[i] += a * several
    fits = all((a > 0) == (rows[i][0] == (p if several else 1)) for p, i, a in terms) and not any(left.values())
    require(terms and fits, "combination: it is empty, or a row has an amount of the wrong sign")
    return weights.norm * Fraction(weights.stretch, sum(abs(a) for _, _, a in terms)) ** 2


def check_margins(cert, found, radius, rows, constant):
    """R, |w| and the margins, of which the rows tell the upper one by a combination, and else the learner."""
    weights, pull = found["weights"], ratio("pull", cert["pull"], optional=True)
    expect("least_score", cert["least_score"], str(weights.least))
    for name, squared in (("radius", radius), ("norm", weights.norm)):
        expect(f"{name}_squared", cert[f"{name}_squared"], str(squared))
        expect(name, cert[name], squared, power=2)
    lower = max(weights.margins + found.get("witness", weights).margins, default=None)
    expect("margin_lower", cert["margin_lower"], lower, power=2, up=False)
    fits = pull is None or (pull > 0 and not 0 < pull**2 * min(radius, constant**2 or radius) < FAINT**2)
    require(fits, "pull: it is not positive, or too small for the floats in which a learner adds up steps")
    if cert["combination"] is not None:
        upper = upper_margin(cert["combination"], found["combination"], rows)
        expect("margin_upper", cert["margin_upper"], upper, power=2)
        return
    slack = Fraction(4 * cert["examples"], 1 << 53)  # the learner adds in floats
    upper = pull and Fraction(cert["norm"]) / (pull * (1 - slack)) + slack * weights.stretch * Fraction(cert["radius"])
    expect("margin_upper", cert["margin_upper"], upper, power=1)
    for each in found.values():
        larger = pull and each.least > 0 and each.least**2 > each.norm * Fraction(cert["margin_upper"]) ** 2
        require(not larger, "margin_upper: there are weights with a larger margin")


def check_not_separable(cert, kernel, rows):
    """Multipliers that combine vectors z to exactly zero; of a kernel that is not linear those of each row."""
    check_form("witness", cert["witness"], MULTIPLIERS)
    places, rivals, texts = (cert["witness"][name] for name in MULTIPLIERS[list].split())
    several, classes, totals = len(cert["weights"]) > 1, range(max(2, len(cert["classes"]))), Counter()
    fits, linear = 0 < len(places) == len(rivals) == len(texts) <= MOST_TERMS, kernel[0] != "rbf" and kernel[1] == 1
    require(fits, f"witness: it has not 1 to {MOST_TERMS} terms, each with a rival and a multiplier")
    fits = all(type(i) is int and 0 <= i < len(rows) for i in places) and all(type(r) is int for r in rivals)
    fits = fits and all(rows[i][0] != rival in classes for i, rival in zip(places, rivals, strict=True))
    multipliers, common = [int(a, 16) if HEX.fullmatch(str(a)) else ratio("multiplier", a) for a in texts], 1
    for a in multipliers:
        common = math.lcm(common, a.denominator) if common.bit_length() <= MOST_BITS else common
    bits = common.bit_length() + max(a.numerator.bit_length() for a in multipliers)
    fits = fits and min(multipliers) > 0 and bits <= MOST_BITS
    require(fits, "witness: a row that is not there, no rival class, or multipliers not positive or too long")
    longest = max(abs(v).bit_length() for i in {*places} for v in rows[i][1].values())
    work = sum(len(rows[i][1]) for i in places) * (16 + bits // 64) * (1 + longest // 64)
    require(work <= MOST_WORK, "witness: it would take hours to add up")
    for (place, x), rival, a in zip([rows[i] for i in places], rivals, multipliers, strict=True):
        for output, sign in [(place, 1), (rival, -1)] if several else [(0, 1 if place else -1)]:
            whole = sign * int(a * common)
            for j, v in x.items() if linear else [(frozenset(x.items()), 1)]:
                totals[output, j] += whole * v * (kernel[3] > 0 if j == -1 else 1)
    require(not any(totals.values()), "witness: its sum is not zero")


def check_bounds(cert, run, radius, weights, witness, deviating):
    """The bounds on the updates, of which the least must be named, and the promised share."""
    found, k, (S, Q, beta) = [], cert["updates"], run or (0, 0, 0)
    room = Q * weights.stretch * radius + 2 * beta * S  # what |w|^2 cannot be above
    for name, each in deviating.items():
        given, (kind, power) = cert[name], LOSSES[name]
        gamma, loss = ratio("gamma", given["gamma"]), ratio("loss", given["loss"])
        require(gamma > 0 and run and beta == 0 and k * Q == S**2, f"{name}: it is one of equal steps")
        expect("loss", loss, cert["passes"] * sum(max(gamma - s, 0) ** power for s in each.scores))
        long = each.stretch * radius * each.norm
        middle = long + loss if power == 2 else long / 2 + gamma * loss  # k gamma^2 is at most it and the root of this:
        product = 4 * long * loss if power == 2 else long * (long / 4 + gamma * loss)
        expect("norm", given["norm"], each.norm, power=2)
        expect("root", given["root"], product, power=2)
        value, rest = (middle + Fraction(given["root"])) / gamma**2, k * gamma**2 - middle
        expect(name, given["bound"], value, power=1)
        expect("vacuous", given["vacuous"], value >= cert["examples"])
        found.append((kind, value, rest <= 0 or rest**2 <= product, given["vacuous"]))
    if run and k and witness:
        kind, shape = "margin " * (beta > 0) + "perceptron", witness.least**2 / witness.norm
        found = [("multiclass " * (witness.stretch - 1) + kind, room / Q / shape, S**2 * shape <= room, False), *found]
    require(all(holds for _, _, holds, _ in found), "bound: the updates, or sums of steps, are above it")
    kind, value, holds, _ = min(found, key=lambda bound: (bound[3], bound[1]), default=(None, None, None, None))
    expect("bound", [cert["bound_kind"], cert["bound_exact"], cert["holds"]], [kind, value and str(value), holds])
    expect("bound", cert["bound"], value, power=1)
    share = beta * S / room if beta > 0 and weights.least > beta and weights.norm <= room else None
    expect("promised_share", cert["promised_share"], share and str(share))
    return found


def verify(cert, rows):
    """What a certificate proves of rows, each a place of a class and {column: value}, and what it only says."""
    version = cert.get("onlinear_certificate") if type(cert) is dict else None
    require(type(version) is int and version == VERSION, f"version: this is none of version {VERSION}: certify anew")
    check_form("certificate", {k: part for k, part in cert.items() if k != "computed"}, FORM)  # that is not proven
    rows = [(place, {j: x for j, x in row.items() if x != 0.0}) for place, row in rows]
    expect("sha256", cert["sha256"], sha256_of({name: value for name, value in cert.items() if name != "sha256"}))
    expect("model_sha256", cert["model_sha256"], sha256_of(cert["weights"]))
    counts, kernel, n = Counter(place for place, _ in rows), kernel_in(cert["kernel"]), len(cert["weights"])
    run = check_counts(cert, counts)
    expect("data_sha256", cert["data_sha256"], digest_of(rows))
    given = {"weights": cert["weights"]} | ({"witness": cert["witness"]} if cert["separable"] else {})
    given |= {} if cert["combination"] is None else {"combination": cert["combination"]}
    for name in LOSSES:
        if cert[name] is not None:
            check_form(name, cert[name], DEVIATION)
            given[name] = cert[name]["weights"]
    for name, parts in given.items():
        fits = type(parts) is list and len(parts) == n and len(cert["classes"]) in ({1, 2} if n == 1 else {n})
        require(fits, f"outputs: the {name} are not as many as the classes need")
        for part in parts:
            check_hypothesis(name, part, kernel, len(rows))
    others = {name: parts for name, parts in given.items() if name == "weights" or parts != cert["weights"]}
    sums = [len(part.get("amounts", [])) * (kernel[0] != "linear") for parts in others.values() for part in parts]
    rows, inner = scale(rows, kernel, sums)
    found = {name: Weights(parts, inner, rows) for name, parts in others.items()}
    found = {name: found.get(name, found["weights"]) for name in given}
    radius = max(alike(inner, x, x) for _, x in rows)
    check_margins(cert, found, radius, rows, kernel[3])
    if cert["separable"] is False:
        check_not_separable(cert, inner, rows)
    fits = found["witness"].least > 0 if cert["separable"] else cert["separable"] is False or cert["witness"] is None
    require(fits, "witness: its margin is not positive on every row, or there should be none")
    deviating = {name: found[name] for name in LOSSES if name in found}
    bounds = check_bounds(cert, run, radius, found["weights"], found.get("witness"), deviating)
    return sentences(cert, counts, kernel, run, bounds)


def sentences(cert, counts, kernel, run, bounds):
    """What the rows prove, whoever wrote the certificate, and what is so if the learner told the truth of its run."""
    names = ["the rest" if c is None else f"class {plain(c)}" for c in cert["classes"]]
    of_each = ", ".join(f"{counts[place]} of {name}" for place, name in enumerate(names, len(names) == 1))
    name, degree, g, c = *kernel[:2], *map(plain, kernel[2:])
    by = f"weights and {f'an intercept, a feature whose square is {c}' if kernel[3] else 'no intercept'}"
    by = {"poly": f"the kernel ({g} x.z + {c})^{degree}", "rbf": f"the kernel exp(-{g} |x - z|^2)"}.get(name, by)
    where = "" if name == "linear" else " in the feature space of the kernel that is named next"
    decided = {True: "are separable", False: "are not separable", None: "may be separable or not"}[cert["separable"]]
    said = [f"{cert['rows']} rows ({of_each}), none longer than {cert['radius']}{where}.", f"They {decided} by {by}."]
    if cert["margin_lower"] is not None:
        said.append(f"The best margin of a vector of length 1 is at least {cert['margin_lower']}.")
    upper = [] if cert["margin_upper"] is None else [f"The best margin is at most {cert['margin_upper']}."]
    said += upper * bool(cert["combination"])
    for kind, bound, _, vacuous in bounds if bounds and run[2] == 0 else []:
        passes = "any number of" if kind.endswith("perceptron") else cert["passes"]
        most = f"at most {math.floor(bound)} updates over these rows, in any order, in {passes} passes"
        said.append(f"A perceptron with steps of one size makes {most} ({kind}{', vacuous' * vacuous}).")
    mistakes = "" if cert["mistakes"] is None else f" and {cert['mistakes']} mistakes"
    how = ", which certify has learned again" if cert["replayed"] else ""
    whose = f"learned from these rows{how}" if how or run or cert["pull"] else "does not say that it learned these rows"
    word = [f"It {whose}: {cert['updates']} updates{mistakes} in {cert['examples']} examples."]
    if bounds:
        what = "k" if run[0] ** 2 == cert["updates"] * run[1] else "S^2 / Q"
        numbers = "S = {}, Q = {}, beta = {}".format(*map(plain, run))
        word.append(f"The {cert['bound_kind']} bound holds: {what} <= {cert['bound']} with {numbers}.")
    if cert["promised_share"] is not None:
        word.append(f"Its margin is at least {math.floor(1000 * Fraction(cert['promised_share'])) / 10} % of the best.")
    return said, word + upper * (not cert["combination"])


def main(arguments: list[str], replay=None) -> str | int:
    """Print what is proven; ``replay`` of a certificate and its rows says how the run went, or raises Failed."""
    try:
        (certificate, file), lines = map(Path, arguments), []
        fits = certificate.is_file() and file.is_file() and certificate.stat().st_size <= MOST_BYTES
        require(fits, f"{plain(' or '.join(arguments))}: no such file, or a device or a pipe, or more than 2^28 bytes")
        once = {"object_pairs_hook": lambda pairs: dict(pairs) if len(dict(pairs)) == len(pairs) else {"twice": None}}
        found, rows = json.loads(certificate.read_text(encoding="utf-8"), **once), read_rows(file)
        certs = [*found.values()] if found and all(type(c) is dict for c in found.values()) else [found]
        require(len(certs) <= max(1, len({label for label, _ in rows})), "classes: fewer than certificates")
        for cert in certs:
            said, word = verify(cert, placed := place_rows(rows, cert["classes"]))
            lines += ["verified, from the rows:", *(f"  {line}" for line in said)]
            word = word if replay is None else [replay(cert, placed), *word]
            whose = "not verified, the learner's word" if replay is None else "verified, by learning the rows again,"
            lines += [f"{whose} and what follows from it:", *(f"  {line}" for line in word)]
    except Failed as error:
        return f"NOT verified: {error}"
    except Exception as error:  # whatever is in the files, the answer is a sentence
        return f"NOT verified: say verify.py CERT FILE, its rows ({type(error).__name__}: {plain(str(error))})"
    return print(*lines, sep="\n") or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
