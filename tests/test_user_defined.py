"""A loss, a rule and a schedule of the user's own: named tuples in the user's file, with the same bits as ours."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse
from scipy.special import expit

import onlinear
from cases import bits_of
from onlinear import losses, registry, rules
from onlinear.data.batch import Batch, rows_of
from onlinear.data.targets import Labels, Numbers, Signs
from onlinear.errors import Diverged, Refused
from onlinear.learning.configuration import Settings
from onlinear.learning.learner import Learner
from onlinear.powers import exp_of_less


class LogCosh(NamedTuple):
    """A loss that is not in the package, with argument names of its own."""

    width: float = 1.0

    def value(self, prediction, truth):
        z = abs(prediction - truth) / self.width
        return self.width * (z + math.log1p(math.exp(-2.0 * z)) - math.log(2.0))

    def slope(self, prediction, truth):
        return math.tanh((prediction - truth) / self.width)


class SignDescent(NamedTuple):
    """A uniform rule that is not in the package: the size of the slope does not count."""

    rate: float = 0.1

    def step(self, loss, seen):
        return -math.copysign(self.rate * seen.importance, seen.slope)


class RootMeanSquare(NamedTuple):
    """A cell rule that is not in the package (RMSProp)."""

    rate: float = 0.01
    keep: float = 0.9

    CELL = ("weight", "mean_square")

    def move(self, cell, x, step, seen):
        w, mean_square = cell
        pull = step * x
        mean_square = self.keep * mean_square + (1.0 - self.keep) * pull * pull
        return w + self.rate * pull / (math.sqrt(mean_square) + 1e-8), mean_square


class MyLogistic(NamedTuple):
    """Our logistic loss, written by a user."""

    def value(self, score, target):
        z = target * score
        return math.log1p(math.exp(-z)) if z > 0.0 else math.log1p(math.exp(z)) - z

    def slope(self, score, target):
        z = target * score
        tail = exp_of_less(-abs(z))
        return -target * (tail if z > 0.0 else 1.0) / (1.0 + tail)


class MyAdaGrad(NamedTuple):
    """Our AdaGrad, written by a user."""

    rate: float = 0.1
    epsilon: float = 1e-8

    CELL = ("weight", "squares")

    def move(self, cell, x, step, seen):
        w, squares = cell
        pull = step * x
        squares += pull * pull
        return w + self.rate * pull / (math.sqrt(squares) + self.epsilon), squares


class MySteps(NamedTuple):
    """Our SGD at a constant rate, written by a user."""

    rate: float = 0.1

    def step(self, loss, seen):
        return -self.rate * min(max(seen.slope, -1e12), 1e12) * seen.importance


class SumOfRivals(NamedTuple):
    """A row loss that is not in the package: every class above the label's score minus one is pushed down."""

    def value(self, scores, label):
        total = 0.0
        for m in range(scores.shape[0]):
            if m != label:
                total += max(0.0, 1.0 + scores[m] - scores[label])
        return total

    def slopes(self, scores, label, out):
        out[:] = 0.0
        for m in range(scores.shape[0]):
            if m != label and 1.0 + scores[m] - scores[label] > 0.0:
                out[m] = 1.0
                out[label] -= 1.0


def numbers(rows: int = 40, features: int = 6) -> Batch:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, features))
    y = X @ rng.normal(size=features) + 0.1 * rng.normal(size=rows)
    return Batch(rows_of(X), Numbers(y), rng.choice([0.5, 1.0, 2.0], size=rows))


def learned(loss: Any, rule: Any, batch: Batch, compiled: bool, **more: Any) -> Learner:
    learner = Learner(loss, rule, features=batch.rows.values.shape[1], compiled=compiled, **more)
    learner.learn(batch)
    return learner


# ------------------------------------------------------------------ they run, compiled as interpreted


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("loss", "rule", "settings"),
    [
        (LogCosh(), SignDescent(), Settings(average=3.0)),
        (LogCosh(0.5), RootMeanSquare(), Settings()),
        (LogCosh(), rules.Normalised(), Settings(l2=0.01)),  # takes an implicit step: LogCosh has no flow
        (losses.Squared(), RootMeanSquare(), Settings(intercept=False)),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_compiled_is_interpreted(loss: Any, rule: Any, settings: Settings) -> None:
    batch = numbers()
    compiled = learned(loss, rule, batch, True, settings=settings)
    interpreted = learned(loss, rule, batch, False, settings=settings)
    assert bits_of(compiled) == bits_of(interpreted)
    assert np.abs(compiled.weights()).max() > 0.0


@pytest.mark.compiles
def test_a_row_loss_of_ones_own() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 4))
    batch = Batch(rows_of(X), Labels((X @ rng.normal(size=(4, 3))).argmax(axis=1), 0, 3), np.ones(40))
    compiled = learned(SumOfRivals(), rules.SGD(), batch, True, outputs=3)
    interpreted = learned(SumOfRivals(), rules.SGD(), batch, False, outputs=3)
    assert bits_of(compiled) == bits_of(interpreted)
    assert compiled.mistakes[0] < 25


def test_the_implicit_step_solves_its_equation() -> None:
    """``s' = s - amount slope(s')``, for a loss without a flow."""
    from onlinear.rules.context import StepContext
    from onlinear.rules.dispatch import loss_flow

    loss = LogCosh(0.7)
    for score, target, amount in ((3.0, -1.0, 0.5), (-2.0, 1.0, 30.0), (0.1, 0.0, 1e-3)):
        seen = StepContext(**dict.fromkeys(StepContext._fields, 0.0))._replace(
            score=score, target=target, slope=loss.slope(score, target)
        )
        end = loss_flow(loss, seen, amount)
        assert end == pytest.approx(score - amount * loss.slope(end, target), rel=1e-9)
        assert (end - target) * (score - target) >= 0.0


def test_what_a_loss_of_ones_own_may_be_paired_with() -> None:
    for name in ("sgd", "adagrad", "normalised", "ftrl", "importance_aware"):
        Learner(LogCosh(), registry.RULES[name](), features=2)
    for name in ("pa", "arow", "second_order", "newton", "diagonal_newton", "perceptron"):
        with pytest.raises(Refused, match=f"'{name}' does not take the loss 'LogCosh'"):
            Learner(LogCosh(), registry.RULES[name](), features=2)
    with pytest.raises(Refused, match="'SignDescent' takes no penalty"):
        Learner(LogCosh(), SignDescent(), features=2, settings=Settings(l2=0.1))
    with pytest.raises(Refused, match="'RootMeanSquare' has nothing to forget"):
        Learner(LogCosh(), RootMeanSquare(), features=2, settings=Settings(forget=0.1))


# ------------------------------------------------------------------ a mistake is told with the user's own line


class PlainLoss:
    """No NamedTuple."""

    def value(self, score, target):
        return abs(score - target)

    def slope(self, score, target):
        return 1.0 if score > target else -1.0


@dataclasses.dataclass
class PlainRule:
    rate: float = 0.1

    def step(self, loss, seen):
        return -self.rate * seen.slope


class Misspelt(NamedTuple):
    def value(self, score, target):
        return abs(score - target)

    def slope(self, score, target):
        return copysing(1.0, score - target) if score > 1.0 else 0.0  # noqa: F821 the mistake


class AnswersNothing(NamedTuple):
    def value(self, score, target):
        abs(score - target)

    def slope(self, score, target):
        return 0.0


class NoValue(NamedTuple):
    def slope(self, score, target):
        return 0.0


class ShortSlope(NamedTuple):
    def value(self, score, target):
        return 0.0

    def slope(self, score):
        return 0.0


class NeverANumber(NamedTuple):
    def value(self, score, target):
        return math.sqrt(-1.0 - score * score)

    def slope(self, score, target):
        return 0.0


class SometimesNoNumber(NamedTuple):
    """Compiled code makes NaN or infinity of a domain error or a division by 0, and goes on."""

    def value(self, score, target):
        return math.log(score)

    def slope(self, score, target):
        return 1.0 / score


class WrongField(NamedTuple):
    rate: float = 0.1

    def step(self, loss, seen):
        return -self.speed * seen.slope


class NoCell(NamedTuple):
    def move(self, cell, x, step, seen):
        return cell


class OldName(NamedTuple):
    CELL = ("weight",)

    def stretch(self, cell, x, seen):
        return cell, x * x, 1.0

    def move(self, cell, x, step, seen):
        return (cell[0] + step * x,)


class ShortCell(NamedTuple):
    CELL = ("weight", "squares")

    def move(self, cell, x, step, seen):
        return (cell[0] + step * x,)


class BareCell(NamedTuple):
    CELL = ("weight",)

    def move(self, cell, x, step, seen):
        return cell[0] + step * x


class NoNumberInCell(NamedTuple):
    CELL = ("weight", "squares")

    def move(self, cell, x, step, seen):
        return cell[0] + step * x, None


class PrintingLoss(NamedTuple):
    """Its loop would compile, and wait for ever for the interpreter that it has."""

    def value(self, score, target):
        return abs(score - target)

    def slope(self, score, target):
        print("the score", score)
        return 1.0 if score > target else -1.0


class PrintingRule(NamedTuple):
    CELL = ("weight",)

    def move(self, cell, x, step, seen):
        show = lambda number: print(number)  # noqa: E731
        show(x)
        return (cell[0] + step * x,)


class BadSchedule(NamedTuple):
    def at(self, t):
        return 1.0 / tt  # noqa: F821 the mistake


class BadRowLoss(NamedTuple):
    def value(self, scores, label):
        return scores.highest() - scores[label]

    def slopes(self, scores, label, out):
        out[:] = 0.0


@pytest.mark.parametrize(
    ("loss", "rule", "message"),
    [
        (
            PlainLoss(),
            "sgd",
            r"of the class PlainLoss, which is no NamedTuple.* write class PlainLoss\(typing.NamedTuple\)",
        ),
        (
            PlainLoss,
            "sgd",
            r"of the class PlainLoss, which is no NamedTuple.* write class PlainLoss\(typing.NamedTuple\)",
        ),
        ("hinge", PlainRule(), "of the class PlainRule, which is no NamedTuple"),
        (
            Misspelt(),
            "sgd",
            r"Misspelt.slope\(2.0, -1.0\) fails: NameError: .*'copysing'.*test_user_defined.py, line \d+: ret",
        ),
        (AnswersNothing(), "sgd", r"AnswersNothing.value\(.*\) answers None, and has to answer a number"),
        (NoValue(), "sgd", "NoValue has no method value: write one"),
        (ShortSlope(), "sgd", r"ShortSlope.slope\(.*\) fails: TypeError: .*test_user_defined.py, line \d+: def slope"),
        (NeverANumber(), "sgd", r"NeverANumber.value\(.*\) fails: ValueError: "),
        ("hinge", WrongField(), "WrongField.step.* fails: AttributeError: .* 'speed'"),
        ("hinge", OldName(), "OldName has the method stretch: name it prepare"),
        ("hinge", NoCell(), "NoCell has the method move and no CELL: name the numbers"),
        ("hinge", ShortCell(), r"ShortCell.move\(.*\) answers \(0.05,\), and has to answer a tuple of 2"),
        (
            "hinge",
            BareCell(),
            r"BareCell.move\(.*\) answers 0.05, and has to answer a tuple of 1: mend .*, line \d+: def",
        ),
        (
            "hinge",
            NoNumberInCell(),
            r"NoNumberInCell.move\(.*\) answers \(0.05, None\), and has to answer a tuple of 2",
        ),
        (
            PrintingLoss(),
            "sgd",
            r"PrintingLoss.slope prints, and compiled code cannot print: mend .*defined.py, line \d+: print\(\"the",
        ),
        ("hinge", PrintingRule(), r"PrintingRule.move prints, and compiled code cannot print: .* line \d+: show = "),
        ("hinge", rules.SGD(BadSchedule()), r"BadSchedule.at\(1.0\) fails: NameError: .*'tt'"),
        (BadRowLoss(), "sgd", "BadRowLoss.value.* fails: AttributeError: .*'highest'"),
    ],
)
def test_a_mistake_is_told_before_anything_is_compiled(loss: Any, rule: Any, message: str) -> None:
    for make in (
        lambda: Learner(loss, rule, features=1),
        lambda: onlinear.OnlineClassifier(loss, rule).fit([[1.0], [2.0]], [0, 1]),
    ):
        with pytest.raises(Refused, match=message) as refused:
            make()
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 400


def test_a_loss_need_not_have_a_number_everywhere() -> None:
    Learner(SometimesNoNumber(), rules.SGD(), features=1)


class NamedPrint(NamedTuple):
    """A field of that name, and a word for it."""

    print: float = 1.0

    def value(self, score, target):
        return self.print * abs(score - target)

    def slope(self, score, target):
        print = self.print
        return print if score > target else -print


def test_who_is_interpreted_may_print(capsys: pytest.CaptureFixture[str]) -> None:
    Learner(NamedPrint(), rules.SGD(), features=1)
    learner = Learner(PrintingLoss(), rules.SGD(), features=1, compiled=False)
    learner.learn(Batch(rows_of(np.ones((1, 1))), Numbers(np.ones(1)), np.ones(1)))
    assert "the score" in capsys.readouterr().out


class InfiniteSlope(NamedTuple):
    """No number at a score of 0, where every learner begins."""

    def value(self, score, target):
        return abs(score - target)

    def slope(self, score, target):
        return -target / score


class InfiniteValue(NamedTuple):
    """No number at the second row."""

    def value(self, score, target):
        return abs(score - target) if target < 3.0 else math.inf

    def slope(self, score, target):
        return 1.0 if score > target else -1.0


@pytest.mark.parametrize("rule", ["normalised", "adagrad"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("loss", "row", "said"),
    [
        (InfiniteSlope(), 0, r"InfiniteSlope.slope\(0.0, 2.0\) fails: ZeroDivisionError: .*: return -target / score\)"),
        (InfiniteValue(), 1, r"InfiniteValue.value\(.*, 4.0\) answers inf \(.*user_defined.py, line \d+: def value"),
    ],
)
def test_a_loss_without_a_number_is_named_and_not_the_rows(
    loss: Any, row: int, said: str, sparse: bool, rule: str
) -> None:
    X = scipy.sparse.csr_matrix([[1.0], [2.0]]) if sparse else np.array([[1.0], [2.0]])
    model = onlinear.OnlineRegressor(loss, rule)
    with pytest.raises(Diverged, match=rf"\(row {row} of the batch\).*no finite number there: {said}") as diverged:
        model.partial_fit(X, [2.0, 4.0])
    assert "too large" not in str(diverged.value)
    assert model.examples_ == row


def test_a_loss_of_ones_own_may_be_the_reason_in_a_dict_row() -> None:
    with pytest.raises(Diverged, match="or InfiniteSlope, a loss of your own, has no finite number at that score"):
        onlinear.OnlineRegressor(InfiniteSlope()).learn_one({"a": 1.0}, 2.0)


class NotCompiled(NamedTuple):
    """A loss that Python runs and Numba does not: a ufunc of SciPy, in a method of its own."""

    def value(self, score, target):
        return 0.0

    def slope(self, score, target):
        return -target * float(expit(-score * target))


@pytest.mark.compiles
def test_what_cannot_be_compiled_is_told_in_a_sentence() -> None:
    batch = numbers(4)
    message = r"^NotCompiled.slope cannot be compiled: .*expit.* line \d+\)\. .*compiled=False"
    learner = Learner(NotCompiled(), rules.SGD(), features=6)
    with pytest.raises(Refused, match=message) as refused:
        learner.learn(batch)
    assert "\n" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert len(str(refused.value.__context__).splitlines()) > 50  # the wall is there for who wants it
    assert learner.examples == 0
    with pytest.raises(Refused, match=message):
        onlinear.OnlineClassifier(NotCompiled(), "sgd").learn_one({"a": 1.0}, "yes")
    assert np.abs(learned(NotCompiled(), rules.SGD(), batch, False).weights()).max() > 0.0


# ------------------------------------------------------------------ as good as ours


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(rules.AdaGrad(), MyAdaGrad()), (rules.SGD(rules.Constant(0.1)), MySteps(0.1))],
    ids=["cells", "uniform"],
)
def test_the_same_bits_as_the_built_in_ones(ours: Any, theirs: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 60))
    y = np.where(X[:, 0] + rng.normal(size=10_000) > 0.0, 1.0, -1.0)
    batch = Batch(rows_of(X), Signs(y), np.ones(10_000))
    pairs = {"ours": (losses.Logistic(), ours), "theirs": (MyLogistic(), theirs)}
    learners = {name: Learner(*pair, features=60) for name, pair in pairs.items()}
    for learner in learners.values():
        learner.learn(batch)
    np.testing.assert_array_equal(learners["ours"].weights(), learners["theirs"].weights())


# ------------------------------------------------------------------ and they stay the user's


SCHEDULE = """
from typing import NamedTuple

class Mine(NamedTuple):
    rate: float = 1.0

    def at(self, t):
        return self.rate * {factor}
"""
PROGRAM = """
import numpy as np
from onlinear import losses, rules
from onlinear.data.batch import Batch, rows_of
from onlinear.learning.learner import Learner
from onlinear.data.targets import Signs
{imported}
learner = Learner(losses.Hinge(), rules.SGD({schedule}), features=1)
learner.learn(Batch(rows_of(np.ones((1, 1))), Signs(np.ones(1)), np.ones(1)))
print(learner.weights()[0, 0])
"""


def run(folder: Path, cache: Path, schedule: str, imported: str = "") -> str:
    import os

    program = folder / "program.py"
    program.write_text(PROGRAM.format(schedule=schedule, imported=imported))
    ran = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


@pytest.mark.compiles
def test_a_schedule_of_ones_own_is_not_cached_for_everybody(tmp_path: Path) -> None:
    mine, others, cache = tmp_path / "mine", tmp_path / "others", tmp_path / "cache"
    mine.mkdir()
    others.mkdir()
    (mine / "my_schedule.py").write_text(SCHEDULE.format(factor="0.5"))
    assert run(mine, cache, "Mine()", "from my_schedule import Mine") == "0.5"
    (mine / "my_schedule.py").write_text(SCHEDULE.format(factor="0.25"))
    assert run(mine, cache, "Mine()", "from my_schedule import Mine") == "0.25"  # edited: noticed
    assert run(others, cache, "rules.Constant(1.0)") == "1.0"  # knows no my_schedule


def too_large(x: float) -> float:
    if x > 100.0:
        raise ValueError("too large")
    return x


class RaisingRule(NamedTuple):
    CELL = ("weight", "steps")

    def move(self, cell: Any, x: float, step: float, seen: Any) -> Any:
        return cell[0] + step * too_large(x), cell[1] + 1.0


class RaisingLoss(NamedTuple):
    def value(self, score: float, target: float) -> float:
        return abs(score - target)

    def slope(self, score: float, target: float) -> float:
        if score > 1e9:
            raise OverflowError
        return math.copysign(1.0, score - target)


@pytest.mark.parametrize(
    ("parts", "message"),
    [({"rule": RaisingRule()}, "RaisingRule.move may raise"), ({"loss": RaisingLoss()}, "RaisingLoss.slope may raise")],
)
def test_what_would_raise_in_the_midst_of_a_row_is_refused(parts: Any, message: str) -> None:
    model = onlinear.OnlineRegressor(**parts)
    with pytest.raises(Refused, match=rf"{message}, in the midst of a row: answer math.nan.*_defined.py, line"):
        model.partial_fit([[1.0]], [1.0])
