"""Learn again what a certificate of onlinear is of, with nothing but Python: ``python replay.py CERT FILE``.

verify.py beside this file proves from the rows alone what they tell. How a run went they do not tell: how many updates
and mistakes there were, how far the steps went, and that the weights come of these rows at all. So the run is made once
more here. Floats are IEEE doubles in Python as in the learner, and each sum is added up in the learner's order, so that
all comes out the same to the bit, or the certificate is refused:
* a score is the product of weights and row, and then the intercept is added. Entries are added up in the order of their
  columns, onto 0; of a long row side by side in lanes, which are folded, the upper half onto the lower, and then come
  the entries that no lane has. A sparse row is long from 64 entries on, zeros that are written down among them: entry k
  goes to lane k mod 4, up to the last whole four. Dense rows are long from 128 columns on: column j goes to lane
  j mod 16, up to the last whole sixteen. An entry that is 0 changes no sum.
* a row of class y is an update if y score <= margin. Its step is rate y importance: each weight moves by the step times
  the entry, and the intercept, the weight of a constant feature c, by the step times c^2.
* an average w - u / n, or (n w - u) / n, is kept lazily: what a weight moves, times the examples averaged before, is
  added to u.
"""

import math
import random
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

if __package__:
    from onlinear import verify as verifier
else:
    import verify as verifier

#: a sparse row and dense rows of so many entries are long; and how many lanes they have
LONG_SPARSE, LONG_DENSE, SPARSE_LANES, DENSE_LANES = 64, 128, 4, 16
MOST_STEPS = 2e9  # entries that are looked at, before it takes hours
ROW, LANE = 32, 8  # entries in whose time a row is looked at that has none, and one of many lanes
FORM = {  # what a certificate says of a run
    float: "rate margin",
    int: "average tie columns? seed?",
    str: "order",
    list: "importance?",
    bool: "open",
}
#: why a run cannot be made once more, by the word that the certificate has for it
REFUSALS = {
    "rule": "only the perceptron, the margin perceptron and their averages with steps of one rate, no penalty and one "
    "output for each class are learned again here",
    "kernel": "the products of kernel and voted perceptrons go through BLAS, whose sums are in no order that is "
    "written down",
    "slim": "the model was saved slim, without what it takes to learn on",
    "adapted": "the model was changed where its data drifted",
    "order": "its rows were drawn with replacement, or shuffled by a seed that nobody knows: fit with order='stream', "
    "or with a whole number as random_state",
    "long": "it would take hours to learn so many rows so often",
    "unlike": "certify has learned these rows again, and found other weights or counts: certify all rows that the "
    "model has learned from as it has had them, with their importance, and no others",
}


class PlainRow:
    """A row of a class, laid out as it is added up."""

    def __init__(self, place: int, entries: dict[int, float], columns: int | None, importance: float) -> None:
        self.sign, self.importance, self.entries = 1.0 if place else -1.0, importance, list(entries.items())
        self.lanes, self.rest = [], self.entries
        if columns is None and len(entries) >= LONG_SPARSE:
            even = len(entries) - len(entries) % SPARSE_LANES
            self.lanes = [self.entries[lane:even:SPARSE_LANES] for lane in range(SPARSE_LANES)]
            self.rest = self.entries[even:]
        if columns is not None and columns >= LONG_DENSE:
            even = columns - columns % DENSE_LANES
            self.lanes = [[] for _ in range(DENSE_LANES)]
            for j, x in self.entries:
                if j < even:
                    self.lanes[j % DENSE_LANES].append((j, x))
            self.rest = [(j, x) for j, x in self.entries if j >= even]

    def product(self, weights: dict[int, float]) -> float:
        """The product with weights. Python's own sum() would round otherwise, from Python 3.12 on."""
        if not self.lanes:
            return added_up(weights, self.rest)
        sums = [added_up(weights, lane) for lane in self.lanes]
        while len(sums) > 1:
            half = len(sums) // 2
            sums = [sums[k] + sums[k + half] for k in range(half)]
        return sums[0] + added_up(weights, self.rest)


def added_up(weights: dict[int, float], entries: list[tuple[int, float]]) -> float:
    """One product after the other, from 0 on."""
    total = 0.0
    for j, x in entries:
        total += weights[j] * x
    return total


class PlainPerceptron:
    """A perceptron that learns rows, with all that a certificate says of its run."""

    def __init__(self, how: dict[str, Any], constant: float, columns: set[int]) -> None:
        self.rate, self.margin, self.average, self.tie = how["rate"], how["margin"], how["average"], how["tie"]
        self.constant = constant
        self.weights, self.spent = dict.fromkeys(columns, 0.0), dict.fromkeys(columns, 0.0)
        self.intercept = self.spent_intercept = 0.0
        self.signs = set() if how["open"] else {-1.0, 1.0}  # the classes that it knows
        self.examples = self.updates = self.mistakes = self.averaged = 0
        self.pull = self.squares = self.averaged_pull = 0.0

    def learn(self, row: PlainRow) -> None:
        """Predict a row, and learn it."""
        if row.sign not in self.signs:
            self.tie = self.tie if self.signs else row.sign
            self.signs.add(row.sign)
        score, y = row.product(self.weights) + self.intercept, row.sign
        verifier.require(math.isfinite(score), "replay: a score is too large for a float")
        answer = math.copysign(1.0, score) if score else self.tie
        self.mistakes += answer != y and len(self.signs) > 1
        before = self.averaged
        self.examples += 1
        self.averaged += 0 < self.average <= self.examples
        if y * score <= self.margin:
            self.updates += 1
            self.move(row, self.rate * y * row.importance, before)
        if self.averaged > before:
            self.averaged_pull += self.pull

    def move(self, row: PlainRow, step: float, before: int) -> None:
        """Add a step of a row, which is not part of the average ``before``, the examples averaged so far."""
        self.pull += abs(step)
        self.squares += step * step
        moved = step * self.constant
        self.intercept += moved
        self.spent_intercept += before * moved
        for j, x in row.entries:
            moved = step * x
            self.weights[j] += moved
            if self.average:
                self.spent[j] += before * moved

    def answering(self) -> tuple[dict[int, float], float]:
        """The weights and the intercept that it answers with."""
        n = self.averaged
        if not n:
            return self.weights, self.intercept
        weights = {j: (n * w - self.spent[j]) / n for j, w in self.weights.items()}
        return weights, self.intercept - self.spent_intercept / n

    def claims(self) -> dict[str, Any]:
        """What a certificate says of it, by the names there."""
        weights, intercept = self.answering()
        columns = sorted(j for j, w in weights.items() if w != 0.0)
        written = {"columns": columns, "values": [weights[j] for j in columns], "intercept": intercept}
        pull, squares = self.sums_of_steps()
        n = self.averaged
        total = Fraction(self.averaged_pull) / n if n else Fraction(self.pull)
        return {
            "updates": self.updates,
            "mistakes": self.mistakes,
            "weights": [written],
            "pull": str(total) if total else None,
            "run_pull": str(pull),
            "run_squares": str(squares),
            "run_margin": str(Fraction(self.margin)),
        }

    def sums_of_steps(self) -> tuple[Fraction, Fraction]:
        """S and Q: exact for steps that are equal but for rounding; else certainly not too large, and not too small."""
        k, rate, pull, squares = self.updates, Fraction(self.rate), Fraction(self.pull), Fraction(self.squares)
        slack = Fraction(2 * (k + 1), 1 << 53)
        if abs(pull - k * rate) <= slack * k * rate and abs(squares - k * rate**2) <= slack * k * rate**2:
            return k * rate, k * rate**2
        return pull * (1 - slack), squares * (1 + slack)


def orders(name: str, seed: int | None, rows: int) -> Iterator[Any]:
    """For each pass the order of the rows."""
    if name == "stream":
        while True:
            yield range(rows)
    elif name == "shuffle":  # NumPy's RandomState(seed).permutation(rows), anew for each pass
        twister = mersenne_twister(seed)
        while True:
            order = list(range(rows))
            for i in range(rows - 1, 0, -1):
                j = draw_up_to(i, twister)
                order[i], order[j] = order[j], order[i]
            yield order
    else:  # scikit-learn's: one permutation of the order of the pass before
        step, order = xorshift_permutation(seed, rows), list(range(rows))
        while True:
            order = [order[i] for i in step]
            yield order


def mersenne_twister(seed: int) -> random.Random:
    """Python's generator in the state that NumPy's has from a seed: Matsumoto & Nishimura 1998."""
    state = [seed]
    for k in range(1, 624):
        state.append((1812433253 * (state[-1] ^ (state[-1] >> 30)) + k) & 0xFFFFFFFF)
    twister = random.Random()
    twister.setstate((3, (*state, 624), None))
    return twister


def draw_up_to(most: int, twister: random.Random) -> int:
    """A whole number from 0 to ``most``: as many bits as that has, drawn until they are no larger."""
    mask = (1 << most.bit_length()) - 1
    while (drawn := twister.getrandbits(32) & mask) > most:
        pass
    return drawn


def xorshift_permutation(seed: int, rows: int) -> list[int]:
    """Fisher and Yates's shuffle by Marsaglia's generator of 32 bits with the shifts 13, 17 and 5."""
    order, state = list(range(rows)), seed or 1
    for i in range(rows - 1):
        state ^= (state << 13) & 0xFFFFFFFF
        state ^= state >> 17
        state ^= (state << 5) & 0xFFFFFFFF
        j = i + (state & 0x7FFFFFFF) % (rows - i)
        order[i], order[j] = order[j], order[i]
    return order


def check_run(cert: dict[str, Any], rows: list[Any]) -> tuple[dict[str, Any], list[float], float]:
    """How the run went, the importance of each row, and the square of the constant feature: if they make sense."""
    how = cert["replay"]
    if type(how) is not dict:
        raise verifier.Failed(f"replay: {REFUSALS.get(how, 'the certificate does not say how the run went')}")
    verifier.check_form("replay", how, FORM)
    numbers = [1.0] * len(rows) if how["importance"] is None else how["importance"]
    fits = len(numbers) == len(rows) and all(type(h) is float and 0.0 < h < math.inf for h in numbers)
    verifier.require(fits, "replay: the importance is not one positive float for each row")
    width = max((j for _, entries in rows for j in entries), default=-1) + 1
    fits = how["rate"] > 0.0 <= how["margin"] and how["average"] >= 0 and how["tie"] in (-1, 1)
    fits = fits and (how["columns"] is None or width <= how["columns"] < 1 << 60)
    verifier.require(fits, "replay: a rate, margin, average, tie or number of columns that cannot be")
    fits = how["order"] == "stream" if how["seed"] is None else how["order"] in ("shuffle", "xorshift")
    verifier.require(fits and 0 <= (how["seed"] or 0) < 1 << 32, "replay: an order or a seed that is not known")
    name, _, _, squared = verifier.kernel_in(cert["kernel"])
    fits = name == "linear" and len(cert["weights"]) == 1 and Fraction(float(squared)) == squared
    verifier.require(fits, "replay: not one vector of weights, or a constant feature whose square is no float")
    steps = cert["passes"] * steps_over(len(rows), sum(len(entries) for _, entries in rows), how["columns"])
    verifier.require(steps <= MOST_STEPS, f"replay: {REFUSALS['long']}")
    return how, numbers, float(squared)


def steps_over(rows: int, entries: int, columns: int | None) -> int:
    """How many entries are looked at in the time of a pass over rows, which may have few or none."""
    lanes = DENSE_LANES if columns is not None and columns >= LONG_DENSE else 0
    return entries + rows * (ROW + LANE * lanes)


def replay(cert: dict[str, Any], rows: list[Any]) -> str:
    """How the run went, if the rows, learned again, make all that the certificate says of it.

    ``verify`` has looked at the rest. ``rows`` are each the place of a class and {column: value}, zeros that are
    written down among them.
    """
    how, importance, constant = check_run(cert, rows)
    laid_out = [PlainRow(*row, how["columns"], h) for row, h in zip(rows, importance, strict=True)]
    learner = PlainPerceptron(how, constant, {j for _, entries in rows for j in entries})
    for order in islice(orders(how["order"], how["seed"], len(rows)), cert["passes"]):
        for i in order:
            learner.learn(laid_out[i])
    for name, found in learner.claims().items():
        if cert[name] is not None:
            verifier.expect(name, cert[name], found)
    return sentence(how, cert["passes"])


def sentence(how: dict[str, Any], passes: int) -> str:
    """How a run went, in words: whoever chooses it otherwise proves other numbers."""
    orders = {"stream": "as they stand", "shuffle": f"shuffled by NumPy's generator from the seed {how['seed']}"}
    order = orders.get(how["order"], f"shuffled by scikit-learn's generator from the seed {how['seed']}")
    steps = f"steps of {how['rate']}" if how["importance"] is None else f"steps of {how['rate']} times an importance"
    average = f", averaged from example {how['average']} on" if how["average"] else ""
    ties = "the first to come" if how["open"] else {1: "the second", -1: "the first"}[how["tie"]]
    asked = f"asks for scores above {how['margin']} in {steps}{average}"
    return f"The perceptron {asked}, in {passes} passes over the rows {order}; a tie answers {ties} class."


def main(arguments: list[str]) -> str | int:
    return verifier.main(arguments, replay)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
