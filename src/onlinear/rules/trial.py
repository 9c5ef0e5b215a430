"""A trial of the user's own losses, rules and schedules: a mistake in one is told before it is compiled.

Each method is called with a few numbers, interpreted. What Python itself cannot run is refused, with the user's
own line. A number without an answer (the logarithm of 0, a division by 0) is no mistake: compiled code goes on there.
What Python can run and a compiled loop cannot, though it compiles, is refused too: to print.
"""

from __future__ import annotations

import dis
import linecache
import math
import traceback
from collections.abc import Callable, Iterator, Sequence
from numbers import Real
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from onlinear.errors import Refused
from onlinear.rules.context import StepContext
from onlinear.rules.dispatch import loss_curvature, rule_move, rule_step

HOME = Path(__file__).parent
SCORES = (-2.0, -0.5, 0.0, 0.5, 2.0)
TARGETS = (-1.0, 1.0)
#: scores of three classes, with a tie and without
ROWS = ((0.0, 0.0, 0.0), (1.0, -0.5, 0.25))
#: what a method answers, where it is no tuple of so many numbers
NUMBER, NOTHING = "a number", "nothing"


class Call(NamedTuple):
    """A method with arguments that it has to take; ``answers`` with NUMBER, a tuple of so many, or NOTHING."""

    thing: Any
    method: str
    arguments: tuple[Any, ...]
    answers: int | str = NUMBER

    def __str__(self) -> str:
        return f"{type(self.thing).__name__}.{self.method}"


def try_out(losses: Sequence[Any], rules: Sequence[Any], compiled: bool = True) -> None:
    """Refuse a loss or a rule of the user's own with a method that fails, or does not answer with numbers.

    One that is to be ``compiled`` may not print, either.
    """
    for loss in losses:
        if not is_ours(loss):
            run(calls_of_loss(loss), compiled)
    for rule in rules:
        if not is_ours(rule):
            run(calls_of_rule(rule, losses[0]), compiled)


def is_ours(thing: Any) -> bool:
    """Whether the class of a named tuple, and of those in it, is of this package."""
    if not isinstance(thing, tuple):
        return True
    return type(thing).__module__.partition(".")[0] == "onlinear" and all(map(is_ours, thing))


# ------------------------------------------------------------------ what is called


def calls_of_loss(loss: Any) -> Iterator[Call]:
    """The methods of a loss, with scores and targets."""
    if hasattr(loss, "slopes"):
        yield from calls_of_row_loss(loss)
        return
    for score in SCORES:
        for target in TARGETS:
            yield Call(loss, "value", (score, target))
            yield Call(loss, "slope", (score, target))
            yield from optional(loss, "curvature", (score, target))
            yield from optional(loss, "flow", (score, target, 0.5))
        yield from optional(loss, "link", (score,))


def calls_of_row_loss(loss: Any) -> Iterator[Call]:
    """The methods of a loss over all scores of a row."""
    for row in ROWS:
        for label in range(len(row)):
            yield Call(loss, "value", (np.array(row), label))
            yield Call(loss, "slopes", (np.array(row), label, np.zeros(len(row))), NOTHING)
        yield from optional(loss, "link", (np.array(row), np.zeros(len(row))), NOTHING)
    yield from optional(loss, "row_flow", (context_of(loss, 0.5, 1.0), 0.5))


def calls_of_rule(rule: Any, loss: Any) -> Iterator[Call]:
    """The methods of a rule, and of its schedule, with what it may see of a few rows."""
    for part in rule:
        if hasattr(part, "at"):
            yield from (Call(part, "at", (t,)) for t in (1.0, 2.0, 100.0))
    yield from optional(rule, "penalty_rate", (1.0,))
    for score in SCORES:
        for target in TARGETS:
            context = context_of(loss, score, target)
            yield from optional(rule, "growth", (context,))
            if hasattr(rule, "move"):
                yield from calls_of_cells(rule, loss, context)
            else:
                yield Call(rule, "step", (loss, context))


def calls_of_cells(rule: Any, loss: Any, context: StepContext) -> Iterator[Call]:
    """The methods of a rule that keeps numbers beside each weight: for a new cell, and for one that has moved."""
    if not hasattr(rule, "CELL"):
        raise Refused(
            f"the rule {type(rule).__name__} has the method move and no CELL: "
            'name the numbers that it keeps for each weight, as in CELL = ("weight", "squares")'
        )
    if hasattr(rule, "stretch"):
        raise Refused(f"the rule {type(rule).__name__} has the method stretch: name it prepare")
    cell = (0.0,) * len(rule.CELL)
    yield from optional(rule, "step", (loss, context))
    for _ in range(2):
        yield from optional(rule, "prepare", (cell, 0.5, context), 3)
        yield from optional(rule, "pace", (cell,))
        yield from optional(rule, "fade", (cell, 0.5), len(cell))
        yield Call(rule, "move", (cell, 0.5, 0.1, context), len(cell))
        try:
            cell = rule_move(rule, cell, 0.5, rule_step(rule, loss, context), context)
        except (ArithmeticError, ValueError):
            return


def optional(thing: Any, method: str, arguments: tuple[Any, ...], answers: int | str = NUMBER) -> Iterator[Call]:
    """A method that need not be there."""
    if hasattr(thing, method):
        yield Call(thing, method, arguments, answers)


def context_of(loss: Any, score: float, target: float) -> StepContext:
    """What a rule may see of a row with this score and target."""
    value, slope, curvature = 0.5, -0.5 * target, 0.0
    if not hasattr(loss, "slopes"):
        try:
            value, slope = float(loss.value(score, target)), float(loss.slope(score, target))
            curvature = float(loss_curvature(loss, score, target))
        except (ArithmeticError, ValueError):
            pass  # another row will do
    return StepContext(score, target, value, slope, curvature, 1.0, 1.25, 1.0, 2.0, 0.5, 2.0, 1.0, 1.0)


# ------------------------------------------------------------------ calling


def run(calls: Iterator[Call], compiled: bool) -> None:
    """Make all calls; a method may have no number for some arguments, but not for all."""
    answered: set[str] = set()
    looked_at: set[Any] = set()
    failed: dict[str, tuple[Call, Exception]] = {}
    for call in calls:
        if not hasattr(call.thing, call.method):
            raise Refused(f"{type(call.thing).__name__} has no method {call.method}: write one")
        if (type(call.thing), call.method) not in looked_at:
            looked_at.add((type(call.thing), call.method))
            refuse_steps(call, compiled)
        try:
            check_answer(call, getattr(call.thing, call.method)(*call.arguments))
            answered.add(call.method)
        except Refused:
            raise
        except (ArithmeticError, ValueError) as error:
            failed.setdefault(call.method, (call, error))
        except Exception as error:
            raise Refused(failure_message(call, error)) from error
    for method, (call, reason) in failed.items():
        if method not in answered:
            raise Refused(failure_message(call, reason)) from reason


def without_number(loss: Any, score: float, target: float) -> str:
    """Which method of a loss has no finite number for this score and target, and where it is; "" if both have."""
    for method in ("value", "slope"):
        call = Call(loss, method, (score, target))
        try:
            answer = float(getattr(loss, method)(score, target))
        except (ArithmeticError, ValueError) as error:
            return failure_message(call, error)
        if not math.isfinite(answer):
            return f"{call}({short_arguments(call)}) answers {answer} ({line_of(call)})"
    return ""


def check_answer(call: Call, answer: Any) -> None:
    """Refuse an answer of another kind than compiled code takes."""
    if call.answers == NOTHING:
        return
    if call.answers == NUMBER:
        fine, wanted = isinstance(answer, Real), NUMBER
    else:
        fine = isinstance(answer, tuple) and len(answer) == call.answers
        fine = fine and all(isinstance(each, Real | tuple) for each in answer)  # numbers, and perhaps the cell
        wanted = f"a tuple of {call.answers}"
    if not fine:
        raise Refused(
            f"{call}({short_arguments(call)}) answers {answer!r:.40}, and has to answer {wanted}: mend {line_of(call)}"
        )


def refuse_steps(call: Call, compiled: bool) -> None:
    """Refuse a method that raises, which would leave half a row learned, or that prints.

    Compiled as a part of a loop one that prints would wait for the interpreter for ever.
    """
    method = getattr(type(call.thing), call.method)
    place = find_step(method, raises, set())
    if place is not None:
        raise Refused(
            f"{call} may raise, in the midst of a row: answer math.nan instead, and the row is undone and named "
            f"({place})"
        )
    place = find_step(method, prints, set()) if compiled else None
    if place is not None:
        raise Refused(
            f"{call} prints, and compiled code cannot print: mend {place}, "
            "or run it as it is, slowly, by Learner(..., compiled=False)"
        )


def find_step(function: Any, wanted: Callable[[Any, Any], bool], known: set[Any]) -> str | None:
    """The line at which a function, or one that it calls by its name, does what is ``wanted`` of one instruction."""
    function = getattr(function, "py_func", function)  # of one that Numba compiles
    code = getattr(function, "__code__", None)
    return None if code is None else find_in_code(code, function, wanted, known)


def find_in_code(code: Any, function: Any, wanted: Callable[[Any, Any], bool], known: set[Any]) -> str | None:
    """As :func:`find_step`, in the code of a function or of one within it."""
    if code in known:
        return None
    known.add(code)
    for step in dis.get_instructions(code):
        named = function.__globals__.get(step.argval) if step.opname == "LOAD_GLOBAL" else None
        if wanted(step, named):
            return said_line(code.co_filename, (step.positions and step.positions.lineno) or code.co_firstlineno)
        is_users = hasattr(named, "py_func") or getattr(named, "__module__", None) == function.__module__
        place = find_step(named, wanted, known) if is_users else None
        if isinstance(step.argval, CodeType):
            place = find_in_code(step.argval, function, wanted, known)
        if place is not None:
            return place
    return None


def raises(step: Any, named: Any) -> bool:
    """Whether an instruction raises, as ``assert`` does, too."""
    return bool(step.opname == "RAISE_VARARGS")


def prints(step: Any, named: Any) -> bool:
    """Whether an instruction takes the built-in ``print``."""
    return step.opname == "LOAD_GLOBAL" and (named is print or (named is None and step.argval == "print"))


def failure_message(call: Call, error: Exception) -> str:
    """What went wrong, and in which line of the user's."""
    where = line_of(call)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if HOME not in Path(frame.filename).parents:
            where = f"{frame.filename}, line {frame.lineno}"
            where += f": {frame.line}" if frame.line else ""
            break
    return f"{call}({short_arguments(call)}) fails: {type(error).__name__}: {error} ({where})"


def line_of(call: Call) -> str:
    """Where the method begins."""
    return place_of(getattr(type(call.thing), call.method)) or str(call)


def place_of(function: Any) -> str:
    """Where a function begins; nothing for one that is not written in Python."""
    code = getattr(function, "__code__", None)
    if code is None:
        return ""
    return said_line(code.co_filename, code.co_firstlineno)


def said_line(file: str, number: int) -> str:
    """A line of a file, with what it says if that can be read."""
    line = linecache.getline(file, number).strip()
    return f"{file}, line {number}" + (f": {line}" if line else "")


def short_arguments(call: Call) -> str:
    """The arguments, in short."""
    return ", ".join(type(each).__name__ if hasattr(each, "_fields") else f"{each}" for each in call.arguments)
