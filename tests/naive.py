"""Every loss and rule again: dense, eager, obvious. No Numba, nothing shared with ``src``.

The intercept is one more weight whose column is 1. Penalties and forgetting touch every weight after every example,
averages are sums of whole weight vectors, matrix rules solve with the whole matrix. Formulas are those of the papers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, log_softmax, softmax, wrightomega

# ------------------------------------------------------------------ losses

BINARY = {"perceptron", "hinge", "squared_hinge", "log_loss", "binomial", "modified_huber"}
SEVERAL = {"multiclass_perceptron", "crammer_singer", "softmax"}


def value(name: str, s: float, y: float, p: dict[str, float]) -> float:
    z, r = y * s, s - y
    match name:
        case "perceptron":
            return max(0.0, -z)
        case "hinge":
            return max(0.0, p["margin"] - z)
        case "squared_hinge":
            return max(0.0, p["margin"] - z) ** 2
        case "log_loss" | "binomial":
            return float(np.logaddexp(0.0, -z))
        case "modified_huber":
            return -4.0 * z if z < -1.0 else max(0.0, 1.0 - z) ** 2
        case "squared_error":
            return r**2 / 2.0
        case "absolute_error":
            return abs(r)
        case "huber":
            e = p["epsilon"]
            return r**2 / 2.0 if abs(r) <= e else e * (abs(r) - e / 2.0)
        case "quantile":
            return max(p["quantile"] * -r, (1.0 - p["quantile"]) * r)
        case "epsilon_insensitive":
            return max(0.0, abs(r) - p["epsilon"])
        case "squared_epsilon_insensitive":
            return max(0.0, abs(r) - p["epsilon"]) ** 2
    raise KeyError(name)


def slope(name: str, s: float, y: float, p: dict[str, float]) -> float:
    z, r = y * s, s - y
    match name:
        case "perceptron":
            return -y * (z <= 0.0)
        case "hinge":
            return -y * (z <= p["margin"])
        case "squared_hinge":
            return -2.0 * y * max(0.0, p["margin"] - z)
        case "log_loss" | "binomial":
            return float(-y * expit(-z))
        case "modified_huber":
            return -y * (4.0 if z < -1.0 else 2.0 * max(0.0, 1.0 - z))
        case "squared_error":
            return r
        case "absolute_error":
            return float(np.sign(r))
        case "huber":
            return float(np.clip(r, -p["epsilon"], p["epsilon"]))
        case "quantile":
            return 0.0 if r == 0.0 else (r > 0.0) - p["quantile"]
        case "epsilon_insensitive":
            return float(np.sign(r) * (abs(r) > p["epsilon"]))
        case "squared_epsilon_insensitive":
            return float(2.0 * np.sign(r) * max(0.0, abs(r) - p["epsilon"]))
    raise KeyError(name)


def curvature(name: str, s: float, y: float, p: dict[str, float]) -> float:
    z, r = y * s, abs(s - y)
    match name:
        case "squared_hinge":
            return 2.0 * (z < p["margin"])
        case "log_loss" | "binomial":
            return float(expit(s) * expit(-s))
        case "modified_huber":
            return 2.0 * (-1.0 <= z < 1.0)
        case "squared_error":
            return 1.0
        case "huber":
            return 1.0 * (r <= p["epsilon"])
        case "squared_epsilon_insensitive":
            return 2.0 * (r > p["epsilon"])
    return 0.0


def towards(start: float, goal: float, most: float) -> float:
    """From ``start`` to ``goal``, but no farther than ``most``."""
    return float(start + np.clip(goal - start, -most, most))


def flow(name: str, s: float, y: float, a: float, p: dict[str, float]) -> float:
    """Where the score ends that follows ``ds/da = -slope(s)`` for ``a``."""
    z, r = y * s, s - y
    e = p.get("epsilon", 0.0)
    match name:
        case "perceptron":  # the whole step: it starts on the kink, where a flow would stay
            return s + y * a if z <= 0.0 else s
        case "hinge" if p["margin"] <= 0.0:
            return s + y * a if z <= p["margin"] else s
        case "hinge":
            return y * towards(z, max(z, p["margin"]), a)
        case "squared_hinge":
            m = p["margin"]
            return s if z >= m else y * (m + (z - m) * np.exp(-2.0 * a))
        case "log_loss" | "binomial":  # z + e^z grows by a; wrightomega(c) is the w with w + log w = c, here w = e^z
            w = wrightomega(z + np.exp(z) + a)
            return y * float(np.log(w))
        case "modified_huber":
            first = min(a, max(0.0, (-1.0 - z) / 4.0))  # the straight part, at speed 4
            z += 4.0 * first
            return y * (z if z >= 1.0 else 1.0 + (z - 1.0) * np.exp(-2.0 * (a - first)))
        case "squared_error":
            return y + r * np.exp(-a)
        case "absolute_error":
            return towards(s, y, a)
        case "huber":
            first = min(a, max(0.0, (abs(r) - e) / e))
            return y + (r - np.sign(r) * first * e) * np.exp(-(a - first))
        case "quantile":
            return towards(s, y, a * (p["quantile"] if s < y else 1.0 - p["quantile"]))
        case "epsilon_insensitive":
            return towards(s, float(np.clip(s, y - e, y + e)), a)
        case "squared_epsilon_insensitive":
            near = float(np.clip(s, y - e, y + e))
            return near + (s - near) * np.exp(-2.0 * a)
    raise KeyError(name)


def rival(s: np.ndarray, label: int) -> int:
    others = s.copy()
    others[label] = -np.inf
    return int(np.argmax(others))


def row_value(name: str, s: np.ndarray, label: int, p: dict[str, float]) -> float:
    gap = s[label] - s[rival(s, label)]
    match name:
        case "multiclass_perceptron":
            return max(0.0, -gap)
        case "crammer_singer":
            return max(0.0, p["margin"] - gap)
        case "softmax":
            return float(-log_softmax(s)[label])
    raise KeyError(name)


def row_slopes(name: str, s: np.ndarray, label: int, p: dict[str, float]) -> np.ndarray:
    truth = np.eye(len(s))[label]
    if name == "softmax":
        return softmax(s) - truth
    margin = p["margin"] if name == "crammer_singer" else 0.0
    against = rival(s, label)
    if s[label] - s[against] > margin:
        return np.zeros(len(s))
    return np.eye(len(s))[against] - truth


def row_flow(name: str, s: float, slope: float, value: float, a: float) -> float:
    """How one score of a row flows while the others stay: see each line."""
    match name:
        case "multiclass_perceptron":  # the whole step, as for the perceptron
            return s - a * slope
        case "crammer_singer":  # label and rival meet in the middle
            return s - slope * min(a, value / 2.0)
        case "softmax":  # a logistic loss of the score against a constant; |slope| = 1 / (1 + e^z)
            z = np.log1p(-abs(slope)) - np.log(abs(slope))
            return s + -np.sign(slope) * (flow("log_loss", z, 1.0, a, {}) - z)
    raise KeyError(name)


# ------------------------------------------------------------------ rates


def rate(schedule: tuple[str, dict[str, float]], t: float) -> float:
    name, p = schedule
    match name:
        case "constant" | "adaptive":
            return p["rate"]
        case "power":
            return p["rate"] * t ** -p["power"]
        case "pegasos":
            return 1.0 / (p["alpha"] * t)
        case "optimal":
            return 1.0 / (p["alpha"] * (p["start"] + (t - 1.0)))
    raise KeyError(name)


# ------------------------------------------------------------------ rules


class Example(NamedTuple):
    """What one output is told of the example: the row with the intercept's column behind it, and its loss."""

    x: np.ndarray
    y: float
    score: float
    value: float
    slope: float
    curvature: float
    h: float
    norm: float  # squared length as the settings count it
    movers: float  # sum of the squared slopes of all outputs of a row loss, else 1
    unit: float  # of regression scores: the largest |target| so far; else 1
    shortfall: float  # how far the score is from no loss: value, or its root for a squared loss
    flow: Any  # amount -> the score it flows to


class Settings(NamedTuple):
    l1: float = 0.0
    l2: float = 0.0
    alpha: float = 1.0
    average: float = 0.0
    forget: float = 0.0
    intercept: bool = True
    intercept_rate: float = 1.0
    intercept_in_norm: bool = True


PLAIN = Settings()


class Uniform:
    """``w += step x``; L2 shrinks before the step, the cumulative L1 penalty (Tsuruoka 2009) is paid after it."""

    def __init__(self, rule: str, p: dict[str, Any], size: int, settings: Settings) -> None:
        self.rule, self.p, self.settings = rule, p, settings
        self.w = np.zeros(size)
        self.paid = np.zeros(size)
        self.owed = self.count = 0.0

    def step(self, e: Example) -> float:
        p = self.p
        if e.slope == 0.0:
            return 0.0
        sign = -np.sign(e.slope)
        length = e.norm * e.movers
        match self.rule:
            case "perceptron":
                return -p["rate"] * e.h * e.slope
            case "sgd":
                return -rate(p["schedule"], self.t) * e.h * np.clip(e.slope, -1e12, 1e12)
            case "importance_aware":
                return (e.flow(p["rate"] * e.h * e.norm) - e.score) / e.norm
            case "pa":
                return e.h * sign * e.shortfall / length
            case "pa1":
                return e.h * sign * min(p["C"], e.shortfall / length)
            case "pa2":
                return e.h * sign * e.shortfall / (length + 1.0 / (2.0 * p["C"]))
        raise KeyError(self.rule)

    def learn(self, e: Example) -> None:
        self.t = 1.0 + self.count  # the example before still counts in full, those before it fade
        self.count = self.count * (1.0 - self.settings.forget) + 1.0
        speed = 0.0
        if self.settings.l1 or self.settings.l2:
            speed = self.p["rate"] if self.rule == "perceptron" else rate(self.p["schedule"], self.t)
        features = slice(0, -1)
        step = self.step(e)
        self.w[features] *= max(0.0, 1.0 - speed * self.settings.l2 * self.settings.alpha)
        self.w[features] += step * e.x[features]
        self.w[-1] += step * e.x[-1] * self.settings.intercept_rate
        self.owed += speed * self.settings.l1 * self.settings.alpha
        for j in range(len(self.w) - 1):
            before = self.w[j]
            if before > 0.0:
                self.w[j] = max(0.0, before - (self.owed + self.paid[j]))
            elif before < 0.0:
                self.w[j] = min(0.0, before + (self.owed - self.paid[j]))
            self.paid[j] += self.w[j] - before


class Cells:
    """A rate for every weight. Penalties follow ``dw = -(l2 w + l1 sign w) da`` for the weight's own rate."""

    def __init__(self, rule: str, p: dict[str, Any], size: int, settings: Settings) -> None:
        self.rule, self.p, self.settings = rule, p, settings
        self.w = np.zeros(size)
        self.lead = np.zeros(size)  # FTRL's z, the second-order perceptron's v
        self.gathered = np.zeros(size)  # squared gradients, precisions, curvatures
        self.largest = np.zeros(size)
        self.own_rate = np.zeros(size)
        self.importance = self.spread = 0.0

    def learn(self, e: Example) -> None:
        if e.slope != 0.0 or (self.rule == "diagonal_newton" and e.curvature != 0.0):
            getattr(self, self.rule)(e)
        self.penalise()
        if self.settings.forget:
            self.forget()

    def adagrad(self, e: Example) -> None:
        g = e.h * e.slope * e.x
        self.gathered += g**2
        self.own_rate = self.p["rate"] / (np.sqrt(self.gathered) + self.p["epsilon"])
        self.w -= self.own_rate * g

    def normalised(self, e: Example) -> None:
        if abs(e.slope) < 2.0**-24 * e.unit:
            return
        x, seen = np.abs(e.x), e.x != 0.0
        grown = x > self.largest
        self.w[grown] *= np.where(self.largest > 0.0, self.largest, x)[grown] / x[grown]
        self.largest = np.maximum(self.largest, x)
        self.gathered += e.h * (e.slope * e.x) ** 2
        self.own_rate[seen] = 1.0 / (self.largest * np.sqrt(self.gathered))[seen]
        self.importance += e.h
        self.spread += e.h * np.sum((x[seen] / self.largest[seen]) ** 2)
        common = np.sqrt(self.importance / self.spread)
        reach = common * np.sum(self.own_rate * e.x**2)
        change = e.flow(self.p["rate"] * e.h * reach * e.unit) - e.score
        self.w += common * self.own_rate * e.x * change / reach

    def ftrl(self, e: Example) -> None:
        alpha, beta, l1, l2 = (self.p[k] for k in ("alpha", "beta", "l1", "l2"))
        g = e.h * e.slope * e.x
        sigma = (np.sqrt(self.gathered + g**2) - np.sqrt(self.gathered)) / alpha
        self.lead += g - sigma * self.w
        self.gathered += g**2
        curb = (beta + np.sqrt(self.gathered)) / alpha + l2
        self.w = np.where(np.abs(self.lead) > l1, -(self.lead - np.sign(self.lead) * l1) / curb, 0.0)

    def arow(self, e: Example) -> None:
        if e.value == 0.0:
            return
        variance = 1.0 / (1.0 + self.gathered)
        step = e.value / (np.sum(variance * e.x**2) + self.p["r"] / e.h)
        self.w += step * e.y * variance * e.x
        self.gathered += e.h * e.x**2 / self.p["r"]

    def diagonal_second_order(self, e: Example) -> None:
        self.lead += e.h * e.y * e.x
        self.gathered += e.h * e.x**2
        self.w = self.lead / (self.p["a"] + self.gathered)

    def diagonal_newton(self, e: Example) -> None:
        self.gathered += e.h * e.curvature * e.x**2
        self.w -= e.h * e.slope * e.x / (self.p["a"] + self.gathered)

    def penalise(self) -> None:
        l1, l2 = self.settings.l1 * self.settings.alpha, self.settings.l2 * self.settings.alpha
        if not (l1 or l2):
            return
        if self.rule == "adagrad":  # a weight that was never touched is 0 and owes nothing
            speed = self.own_rate
        else:
            speed = self.p["rate"] * self.largest**2 * self.own_rate
        for j in range(len(self.w) - 1):
            size = abs(self.w[j])
            if l2:
                size = size * np.exp(-l2 * speed[j]) - l1 / l2 * -np.expm1(-l2 * speed[j])
            else:
                size -= l1 * speed[j]
            self.w[j] = np.sign(self.w[j]) * max(0.0, size)

    def forget(self) -> None:
        self.gathered *= 1.0 - self.settings.forget
        if self.rule == "diagonal_second_order":  # the weights stay, so v = (a + S) w
            self.lead = self.w * (self.p["a"] + self.gathered)


class Matrix:
    """The whole matrix, solved anew after every example."""

    def __init__(self, rule: str, p: dict[str, Any], size: int, settings: Settings) -> None:
        assert not settings.forget  # which would make the matrix singular
        self.rule = rule
        self.A = p["a"] * np.eye(size)
        self.v = np.zeros(size)
        self.w = np.zeros(size)

    def learn(self, e: Example) -> None:
        outer = np.outer(e.x, e.x)
        if self.rule == "second_order":
            if e.slope != 0.0:
                self.A += e.h * outer
                self.v += e.h * e.y * e.x
                self.w = np.linalg.solve(self.A, self.v)
        else:
            self.A += e.h * e.curvature * outer
            self.w -= np.linalg.solve(self.A, e.h * e.slope * e.x)


UNIFORM = {"perceptron", "sgd", "importance_aware", "pa", "pa1", "pa2"}
MATRIX = {"second_order", "newton"}


def machine(rule: str, p: dict[str, Any], size: int, settings: Settings) -> Any:
    kind = Uniform if rule in UNIFORM else Matrix if rule in MATRIX else Cells
    return kind(rule, p, size, settings)


# ------------------------------------------------------------------ learning


class Learned(NamedTuple):
    weights: np.ndarray  # [output, feature]
    intercepts: np.ndarray
    scores: np.ndarray  # [row, output]: made before the row was learned; NaN for rows of importance 0
    losses: np.ndarray  # [row, output], too
    updates: np.ndarray  # [output]
    mistakes: np.ndarray  # [output]; several classes: all in the first
    answer_losses: np.ndarray  # [row, output]: of the averaged weights of before, where weights are averaged
    answer_mistakes: np.ndarray  # [output], too


def mistakes_of(loss: str, s: np.ndarray, y: float, classes: int) -> np.ndarray:
    """Which outputs are wrong about a row; several classes: the first."""
    if classes:
        return np.arange(classes) == 0 if np.argmax(s) != y else np.zeros(classes, bool)
    return (s > 0.0) != (y > 0.0) if loss in BINARY else np.zeros(len(s), bool)


def learn(
    loss: str,
    rule: str,
    X: np.ndarray,
    y: np.ndarray,
    importance: np.ndarray | None = None,
    *,
    loss_params: dict[str, float] | None = None,
    rule_params: dict[str, Any] | None = None,
    classes: int = 0,
    settings: Settings = PLAIN,
) -> Learned:
    """Learn the rows one after the other; ``classes`` of 3 or more learn labels, one output each."""
    lp = loss_params or {}
    n, d = X.shape
    outputs = max(1, classes)
    importance = np.ones(n) if importance is None else importance
    machines = [machine(rule, rule_params or {}, d + 1, settings) for _ in range(outputs)]
    unit = 0.0 if loss not in BINARY | SEVERAL else 1.0
    sums, averaged, t = np.zeros((outputs, d + 1)), 0, 0
    scores, losses = np.full((n, outputs), np.nan), np.full((n, outputs), np.nan)
    updates, mistakes = np.zeros(outputs, int), np.zeros(outputs, int)
    answer_losses, answer_mistakes = losses.copy(), mistakes.copy()
    for i in range(n):
        if importance[i] == 0.0:
            continue
        x = np.append(X[i], 1.0 if settings.intercept else 0.0)
        s = np.array([m.w @ x for m in machines])
        scores[i] = s
        answers = sums @ x / averaged if averaged else s
        mistakes += mistakes_of(loss, s, y[i], classes)
        answer_mistakes += mistakes_of(loss, answers, y[i], classes)
        if loss not in BINARY | SEVERAL:
            unit = max(unit, abs(y[i]))
        h = float(importance[i])
        answer_losses[i] = [e.value for e in examples(loss, lp, answers, x, y[i], h, unit, classes, settings)]
        for m, e in enumerate(examples(loss, lp, s, x, y[i], h, unit, classes, settings)):
            losses[i, m] = e.value
            updates[m] += e.slope != 0.0
            machines[m].learn(e)
        t += 1
        if settings.average and t >= settings.average:
            sums += [m.w for m in machines]
            averaged += 1
    final = sums / averaged if averaged else np.array([m.w for m in machines])
    return Learned(final[:, :-1], final[:, -1], scores, losses, updates, mistakes, answer_losses, answer_mistakes)


def examples(
    loss: str,
    p: dict[str, float],
    s: np.ndarray,
    x: np.ndarray,
    y: float,
    h: float,
    unit: float,
    classes: int,
    settings: Settings,
) -> list[Example]:
    """The example as every output sees it."""
    norm = float(np.sum(x[:-1] ** 2)) + float(settings.intercept and settings.intercept_in_norm)
    if loss in SEVERAL:
        v = row_value(loss, s, int(y), p)
        g = row_slopes(loss, s, int(y), p)
        movers = float(np.sum(g**2))
        return [
            Example(
                x, 1.0 if m == y else -1.0, s[m], v, g[m], 0.0, h, norm, movers, unit, v,
                lambda a, m=m: row_flow(loss, s[m], g[m], v, a),
            )
            for m in range(len(s))
        ]  # fmt: skip
    targets = [y] if not classes else [1.0 if m == y else -1.0 for m in range(classes)]
    seen = []
    for score, target in zip(s, targets, strict=True):
        v = value(loss, score, target, p)
        seen.append(
            Example(
                x, target, score, v, slope(loss, score, target, p), curvature(loss, score, target, p),
                h, norm, 1.0, unit, np.sqrt(v) if loss.startswith("squared") else v,
                lambda a, score=score, target=target: flow(loss, score, target, a, p),
            )
        )  # fmt: skip
    return seen
