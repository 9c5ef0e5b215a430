"""XOR: no line separates it, with the witness; what a perceptron does there, and four remedies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from onlinear.estimators.expansions import RandomFeatures
from onlinear.estimators.kernel import KernelPerceptron, VotedPerceptron
from onlinear.estimators.perceptron import MarginPerceptron, Perceptron
from onlinear.plots.drawing import BLUE, GREEN, SIDES, VERMILION
from onlinear.plots.following import examples_of, follow
from onlinear.theory.certifying import certify
from onlinear.workflow.demos.seeds import seed_of
from onlinear.workflow.demos.telling import Cells, paragraph, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "XOR: no line separates it, and four remedies"
X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = np.array([-1, 1, 1, -1])
#: passes that are looked at for weights that come again, and the most for those that come to rest
SEEN, PASSES = 6, 1000
COMPONENTS = 50


@dataclass(frozen=True)
class Witness:
    """Multipliers of the rows, which combine y (x, 1) to 0: so no weights can have all scores on their sides."""

    rows: list[int]
    multipliers: list[str]


@dataclass(frozen=True)
class Remedy:
    """A learner after a pass without an update, and how many rows it answers wrongly."""

    name: str
    updates: int
    passes: int
    wrong: int


@dataclass(frozen=True)
class Trial:
    """A row, its score before it was learned, and the weights (w1, w2, b) after it."""

    row: int
    score: float
    weights: tuple[float, float, float]


@dataclass(frozen=True)
class Xor:
    """All of it: the witness, a perceptron's first passes, how many of them bring the weights back, the remedies."""

    seed: int
    witness: Witness
    trials: list[Trial]
    period: int
    wrong_votes: int
    remedies: list[Remedy]


class Learned(NamedTuple):
    """A remedy that has learned."""

    name: str
    model: Any
    updates: int
    passes: int


def compute(seed: int) -> Xor:
    trials = perceptron_trials()
    voted = VotedPerceptron(max_iter=SEEN, order="stream").fit(X, Y)
    remedies = [
        Remedy(each.name, each.updates, each.passes, int((each.model.predict(X) != Y).sum())) for each in learned(seed)
    ]
    return Xor(seed, witness(), trials, period_of(trials), int((voted.predict(X) != Y).sum()), remedies)


def perceptron_trials() -> list[Trial]:
    before, trials = np.zeros(3), []
    for step in follow(Perceptron(), examples_of(X, Y), SEEN):
        w1, w2, b = (0.0 + step.weights).tolist()  # -0.0 becomes 0.0
        trials.append(Trial(step.row, float(X[step.row] @ before[:2] + before[2]), (w1, w2, b)))
        before = step.weights
    return trials


def witness() -> Witness:
    model = Perceptron().partial_fit(X, Y, classes=[-1, 1])
    proven: Any = certify(model, X, Y)
    return Witness(proven["witness"]["rows"], proven["witness"]["multipliers"])


def period_of(trials: list[Trial]) -> int:
    """After how many passes the weights at the end of one come again."""
    ends = [trial.weights for trial in trials[len(Y) - 1 :: len(Y)]]
    return next(back for back in range(1, len(ends)) if ends[-1 - back] == ends[-1])


def learned(seed: int) -> list[Learned]:
    """The remedies: each lets the perceptron see more than x1 and x2."""
    plain: dict[str, Any] = {"max_iter": PASSES, "order": "stream"}
    product = make_pipeline(FunctionTransformer(with_product), MarginPerceptron(0.0, **plain)).fit(X, Y)
    drawn = make_pipeline(RandomFeatures(COMPONENTS, random_state=seed_of(seed)), MarginPerceptron(0.0, **plain)).fit(
        X, Y
    )
    polynomial = KernelPerceptron("poly", degree=2, vote="last", **plain).fit(X, Y)
    voted = KernelPerceptron("rbf", vote="vote", **plain).fit(X, Y)
    return [
        Learned("one more feature, x1 x2", product, product[-1].updates_, product[-1].n_iter_),
        Learned("kernel perceptron, (x.z + 1)^2", polynomial, polynomial.updates_, polynomial.n_iter_),
        Learned(f"{COMPONENTS} random features", drawn, drawn[-1].updates_, drawn[-1].n_iter_),
        Learned("voted, exp(-|x - z|^2)", voted, voted.updates_, voted.n_iter_),
    ]


def with_product(rows: Any) -> Any:
    return np.column_stack([rows, rows[:, 0] * rows[:, 1]])


def lines(result: Xor) -> Iterator[str]:
    yield from lines_of_witness(result.witness)
    yield ""
    yield from lines_of_perceptron(result)
    yield ""
    cells: Cells = [("remedy", "updates", "passes", "wrong rows")]
    cells += [(each.name, str(each.updates), str(each.passes), str(each.wrong)) for each in result.remedies]
    yield from table(cells, names=True)


def lines_of_witness(witness: Witness) -> Iterator[str]:
    yield "The witness, exactly: multipliers a of the rows with sum a y (x1, x2, 1) = 0"
    cells: Cells = [("a", "y", "x1", "x2", "1")]
    for row, a in zip(witness.rows, witness.multipliers, strict=True):
        cells.append((a, f"{Y[row]:+d}", *(f"{x:.0f}" for x in X[row]), "1"))
    yield from table(cells)
    yield from paragraph("Weights with y (<w,x> + b) > 0 on all rows would make that sum of zeros positive.")


def lines_of_perceptron(result: Xor) -> Iterator[str]:
    """The trials after which the weights are what they were before."""
    yield "A perceptron goes round, as each score comes again in every pass:"
    cells: Cells = [("x1", "x2", "y", "score", "w1", "w2", "b")]
    for trial in result.trials[-len(Y) * result.period :]:
        x1, x2 = X[trial.row]
        weights = (f"{w:+.0f}" for w in trial.weights)
        cells.append((f"{x1:.0f}", f"{x2:.0f}", f"{Y[trial.row]:+d}", f"{trial.score:+.0f}", *weights))
    yield from table(cells)
    yield f"Its versions get {result.wrong_votes} of 4 rows wrong when they vote: that alone is no remedy."


def draw(result: Xor, figure: Figure) -> None:
    """The weights that go round, and what each remedy answers in the plane."""
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(5, 6))[0]
    draw_weights(left.subplots(3, 1, sharex=True), result)
    for ax, each in zip(right.subplots(2, 2).flat, learned(result.seed), strict=True):
        draw_answers(ax, each)


def draw_weights(panels: Any, result: Xor) -> None:
    path = np.array([(0.0, 0.0, 0.0), *(trial.weights for trial in result.trials)])
    for ax, name, colour, weight in zip(panels, ("w1", "w2", "b"), (BLUE, GREEN, VERMILION), path.T, strict=True):
        ax.step(np.arange(len(path)), weight, where="post", color=colour, linewidth=3)
        ax.set(ylabel=name, xlim=(0, len(path) - 1), yticks=np.unique(path), ylim=(path.min() - 0.3, path.max() + 0.3))
    panels[0].set_title("a perceptron: its weights never rest")
    panels[-1].set(xlabel="trials", xticks=range(0, len(path), len(Y)))


def draw_answers(ax: Axes, each: Learned) -> None:
    ends = np.linspace(-0.4, 1.4, 120)
    across, up = np.meshgrid(ends, ends)
    scores = each.model.decision_function(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    most = float(abs(scores).max())
    ax.contourf(across, up, scores, levels=[-most, 0.0, most], colors=SIDES)
    ax.contour(across, up, scores, levels=[0.0], colors="black", linewidths=2)
    for sign, marker, colour in ((-1, "o", VERMILION), (1, "^", BLUE)):
        ax.plot(*X[sign == Y].T, marker, color=colour, markersize=13)
    ax.set(aspect="equal", xticks=[0, 1], yticks=[0, 1])
    ax.set_title(each.name.replace(", ", ",\n"), fontsize=14)
