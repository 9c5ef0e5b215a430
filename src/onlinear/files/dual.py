"""Models in dual form as header and arrays: the kept rows, the updates in order, and the block that is not full.

A file names the estimator that has learned the same; what is the model's own is packed here, and unpacked, in one way.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

import onlinear
from onlinear.errors import BadModel, NotSaved
from onlinear.features.names import ExactNames
from onlinear.files.classes import pack_classes, unpack_classes
from onlinear.files.container import Arrays, Header
from onlinear.files.figures import is_count
from onlinear.files.names import NamesNow, pack_names, unpack_names
from onlinear.files.trained import IN_DUAL_FORM
from onlinear.files.values import Packer, Unpacker
from onlinear.learning.dual.forgetron import ALLOWANCE
from onlinear.learning.dual.kernel import Kernel
from onlinear.learning.dual.model import DualModel, room_for_names
from onlinear.learning.dual.perceptrons import BLOCK, Drop, Perceptrons, Step, largest_square
from onlinear.learning.dual.versions import VOTES, Versions, last_coefficients
from onlinear.learning.progress import Totals
from onlinear.streams.packing import Number, unpack_value

#: the estimators that have learned what the learners of the command line learn, by what these are called there
HOLDS = {name.removesuffix("Perceptron").lower(): name for name in IN_DUAL_FORM}
#: the attributes of an estimator that has learned, and those of its model that stand among them
PLAIN: dict[str, type] = {"converged_": bool, "n_features_in_": int, "n_iter_": int}
OF_MODEL: dict[str, type] = {"_mistakes": int, "_seed": int}
#: those that all have
NEEDED = ("_mistakes", "_seed", "n_iter_")
#: more examples than anyone has
MOST_EXAMPLES = 1 << 62
#: columns without names of which no row has been learned: there is nothing in the file but their number
MOST_UNSEEN = 1 << 16
ROW_TYPES = ("float64", "float32")
KERNELS = ("linear", "poly", "rbf")


def pack_dual(packer: Packer, model: DualModel, estimator: Header, state: Header, names: NamesNow | None) -> Header:
    """The header of an estimator with its model; ``estimator`` are its class and parameters, ``state`` attributes."""
    header: Header = {"onlinear": onlinear.__version__, **estimator}
    header["figures"] = {name: getattr(model, name) for name in ("examples", "mistakes", "updates")}
    header["figures"]["loss"] = packer.pack(model.loss, "the loss")
    header["state"] = {"_mistakes": model.mistakes, "_seed": model.seed, **state}
    header["seen"] = sorted(model.seen)
    header["classes"] = pack_classes(packer, model.classes)
    if names is not None:
        header["names"] = pack_names(packer, names)
    sums = {"budget": model.budget, "loss": packer.pack(model.totals().loss, "the loss")}
    header["perceptrons"] = pack_perceptrons(packer, model.perceptrons) | sums
    packer.arrays["history"] = np.array([each[1:] for each in model.history()], np.float64).reshape(-1, 3)
    return header


def check_seen(model: DualModel, named: bool) -> None:
    """Refuse to write what would be read as a number of columns that nobody has seen."""
    if model.examples == 0 and model.features > MOST_UNSEEN and not named:
        raise NotSaved(
            f"of {model.features:,} columns no row has been learned, so there is nothing to save: learn one first"
        )


def pack_dual_from_files(
    model: DualModel, names: list[str] | None = None, *, unfinished: bool = False
) -> tuple[Header, Arrays]:
    """Header and arrays of a model that has learned from files, whose columns may have ``names``.

    Those of one on its way say which row of a pass each kept row is.
    """
    packer, kernel = Packer(), model.kernel
    if names is not None:
        model.make_room(len(names))  # also for those of rows that were refused
    vote = {} if model.kind == "pocket" else {"vote": model.vote, "budget": model.budget}
    shape: Header = {"fit_intercept": kernel.name == "poly"}
    if model.kind == "kernel":
        shape = {"kernel": kernel.name, "degree": kernel.degree, "gamma": kernel.gamma, "coef0": kernel.coef0}
    estimator = {"holds": HOLDS[model.kind], "parameters": shape | vote}
    columns = {} if names is not None else {"n_features_in_": model.features}
    check_seen(model, names is not None)
    now = None if names is None else NamesNow(0, list(names), None, [])
    header = pack_dual(packer, model, estimator, {**columns, "n_iter_": model.passes}, now)
    if unfinished:
        packer.arrays["numbers"] = numbers_of(model.perceptrons)
    return header, packer.arrays


def numbers_of(machine: Perceptrons) -> np.ndarray:
    """Which row of a pass each kept row is; -1 for those that are none any more."""
    numbers = np.full(machine.support.size, -1, np.int64)
    for number, position in machine.positions.items():
        numbers[position] = number
    return numbers


def pack_perceptrons(packer: Packer, machine: Perceptrons) -> Header:
    if not isinstance(machine.kernel.name, str):
        raise NotSaved("a kernel of your own has no form in a file: pickle the estimator, or take one of ours")
    support, updates = machine.support, [versions.arrays() for versions in machine.versions]
    packer.arrays["rows"] = support.rows[: support.size]
    packer.arrays["coefficients"] = support.coefficients[: support.size]
    packer.arrays["block"] = machine.block
    packer.arrays["positions"] = np.concatenate([one.positions for one in updates])
    packer.arrays["amounts"] = np.concatenate([one.amounts for one in updates])
    packer.arrays["times"] = np.concatenate([one.times for one in updates])
    return {
        "kernel": machine.kernel._asdict(),
        "share": machine.budget,
        "type": support.rows.dtype.name,
        "examples": machine.examples,
        "importance": machine.importance,
        "radius2": machine.radius2,
        "square": machine.square,
        "outputs": [pack_output(one) for one in machine.versions],
        "steps": [[step.place, step.position, step.amounts.tolist(), step.drops] for step in machine.steps],
    }


def pack_output(versions: Versions) -> Header:
    """What there is to say of the versions beside their updates."""
    packed = {"updates": len(versions.positions), "made": versions.made, "debt": versions.debt}
    return packed if versions.chosen is None else {**packed, "chosen": versions.chosen}


def unpack_dual(unpacker: Unpacker, header: Header, kind: str, vote: str, named: int | None = None) -> DualModel:
    """The model of which :func:`pack_dual` made a header; there are names for so many columns of tables."""
    state = header["state"]
    check_state(state)
    classes = unpack_classes(unpacker, header["classes"])
    machine = unpack_perceptrons(unpacker.arrays, header["perceptrons"])
    model = DualModel(
        machine, classes, kind=kind, vote=vote, budget=header["perceptrons"]["budget"], seed=state["_seed"]
    )
    model.seen = unpack_seen(header["seen"], len(classes))
    if "names" in header:
        names = unpack_names(unpacker, header["names"])
        if not isinstance(names, ExactNames):
            raise BadModel("the model has hashed names: it is not one that we wrote")
        model.names = names
    model.passes = state["n_iter_"]
    give_sums(model, unpacker, header)
    check_together(model, state.get("n_features_in_"), named)
    return model


def unpack_dual_from_files(header: Header, arrays: Arrays) -> DualModel:
    """The model of which :func:`pack_dual_from_files` made header and arrays."""
    unpacker = Unpacker(arrays)
    (kind,) = (kind for kind, holds in HOLDS.items() if holds == header["holds"])
    vote = "pocket" if kind == "pocket" else header["parameters"]["vote"]
    expect(vote in VOTES, "a vote that there is not")
    model = unpack_dual(unpacker, header, kind, vote)
    model.names = None  # the recipe has them
    if "numbers" in arrays:
        model.perceptrons.positions = unpack_numbers(arrays["numbers"], model.perceptrons)
    return model


def unpack_numbers(numbers: np.ndarray, machine: Perceptrons) -> dict[int, int]:
    """Where rows of a pass are kept, by their numbers."""
    expect(numbers.dtype == np.int64 and numbers.shape == (machine.support.size,), "numbers of other rows than it has")
    places = np.flatnonzero(numbers >= 0)
    found = dict(zip(numbers[places].tolist(), places.tolist(), strict=True))
    expect(len(found) == len(places), "kept a row twice")
    return found


def check_state(state: Header) -> None:
    """Refuse other attributes than an estimator that has learned has."""
    expect(state.keys() >= set(NEEDED), "learned, but lacks an attribute of those who have")
    for name, value in state.items():
        expect(type(value) is (PLAIN | OF_MODEL).get(name), f"an attribute {name!r:.60}")
        expect(0 <= value < MOST_EXAMPLES, f"an attribute {name} of {value!r:.60}")


def give_sums(model: DualModel, unpacker: Unpacker, header: Header) -> None:
    """The sums over all examples, and after 1, 2, 4, 8, ...: an older version has counted mistakes alone."""
    machine, mistakes = model.perceptrons, header["state"]["_mistakes"]
    loss = unpacker.unpack(header["perceptrons"].get("loss", 0.0))
    powers = machine.examples.bit_length()
    history = np.asarray(unpacker.arrays.get("history", np.zeros((powers, 3))))
    expect(history.shape == (powers, 3) and history.dtype == np.float64, "a history of another length")
    expect(bool((history >= 0.0).all() and np.isfinite(history[:, ::2]).all()), "a history that counts nothing")
    expect(type(loss) is float and loss >= 0.0 and mistakes <= machine.examples, "sums that are none")
    model.set_sums(
        Totals(machine.examples, mistakes, loss, machine.importance),
        [Totals(1 << power, int(row[0]), float(row[1]), float(row[2])) for power, row in enumerate(history)],
    )


def unpack_seen(seen: Any, classes: int) -> frozenset[int]:
    """The codes of the classes that rows were of."""
    codes: tuple[int, ...] = unpack_value(tuple[int, ...], seen)
    expect(all(0 <= code < classes for code in codes), "seen classes that there are not")
    return frozenset(codes)


def check_together(model: DualModel, columns: int | None, named: int | None) -> None:
    """Refuse parts of which one would lead out of another's bounds."""
    machine, classes, names, width = model.perceptrons, model.classes, model.names, model.features
    if names is None:
        fits = width == (columns or 0)
    elif columns is None:  # the room for names doubles as they come
        fits = names.size <= width <= room_for_names(names.size)
    else:
        fits = columns == width == names.size == names.cap
    expect(fits, "rows of another width than its features")
    is_seen = machine.examples > 0 or named is not None or names is not None
    expect(is_seen or width <= MOST_UNSEEN, "columns that no row has")
    expect(named is None or named == columns, "other names of columns than columns")
    closed = 1 if len(classes) == 2 else len(classes)
    expect(machine.outputs == (len(classes) + 1 if classes.open else closed), "outputs for no class")
    expect(classes.open or len(classes) > 1, "one class, and no other will come")


def unpack_perceptrons(arrays: Any, header: Header) -> Perceptrons:
    check_numbers(header)
    rows, block = np.array(arrays["rows"]), np.array(arrays["block"])
    expect(header["type"] in ROW_TYPES and rows.dtype == block.dtype == header["type"], "rows of another type")
    expect(rows.ndim == block.ndim == 2 and rows.shape[1] == block.shape[1], "rows of another width")
    expect(len(block) == (BLOCK if header["examples"] else 0), "a block of another size")
    kernel = Kernel(**header["kernel"])
    expect([type(part) for part in kernel] == [str, int, float, float], "a kernel of another kind")
    expect(kernel.gamma > 0.0 <= kernel.coef0, "a kernel that is none")
    expect(bool(np.isfinite(rows).all() and np.isfinite(block).all()), "rows that are not finite")
    expect(kernel.name in KERNELS and kernel.degree >= 1, "a kernel that there is not")
    coefficients = np.asarray(arrays["coefficients"])
    expect(coefficients.shape == (len(rows), len(header["outputs"])), "coefficients of another shape")
    expect(coefficients.dtype == np.float64 and bool(np.isfinite(coefficients).all()), "coefficients that are none")
    machine = Perceptrons(kernel, rows.shape[1], len(header["outputs"]), rows.dtype, header["share"])
    machine.examples, machine.radius2, machine.square = header["examples"], header["radius2"], header["square"]
    machine.importance = float(header["importance"])
    machine.block = block
    for row in rows:
        machine.support.append(row)
    machine.support.coefficients[: len(rows)] = coefficients
    machine.versions = unpack_versions(arrays, header["outputs"], len(rows))
    check_times(machine)
    machine.steps = [unpack_step(step, machine) for step in header["steps"]]
    check_coefficients(machine)
    check_lengths(machine, rows)
    return machine


def check_numbers(header: Header) -> None:
    """Refuse counts and sums that are none."""
    expect(is_count(header["examples"]) and header["examples"] < MOST_EXAMPLES, "examples that nobody counts")
    budgets = [header["share"], header["budget"]]
    expect(budgets == [None] * 2 or all(is_count(each) and each > 0 for each in budgets), "a budget that is none")
    expect(bool(header["outputs"]), "no outputs")
    sums = unpack_value(tuple[Number, ...], [header[name] for name in ("importance", "radius2", "square")])
    expect(min(sums) >= 0.0, "sums below 0")
    for output in header["outputs"]:
        expect(is_count(output["updates"]) and is_count(output["made"]), "updates that nobody counts")
        unpack_value(Number, output["debt"])


def check_times(machine: Perceptrons) -> None:
    """Refuse updates that were not made one after the other, at examples that there were; a budget forgets some."""
    for versions in machine.versions:
        times, made, kept = versions.times, versions.made, len(versions.times)
        ascending = all(one < next_ for one, next_ in pairwise([-1, *times, machine.examples]))
        expect(ascending, "updates at examples that there were not")
        expect(made == kept or (machine.budget is not None and kept <= made), "updates that nobody made")
        expect(versions.debt < ALLOWANCE * (made + 1), "a debt that no budget leads to")


def check_coefficients(machine: Perceptrons) -> None:
    """Refuse coefficients, by which a machine learns, that are not those of its updates, by which it answers.

    They lack the block that is not full. Under a budget what they were is not known while it lasts.
    """
    if machine.budget is not None and machine.steps:
        return
    before = machine.examples - machine.examples % BLOCK if machine.budget is None else machine.examples
    for output, versions in enumerate(machine.versions):
        done = versions.arrays().before(before)
        expected = last_coefficients(done, machine.support.size)
        found = machine.support.coefficients[: machine.support.size, output]
        expect(np.array_equal(found, expected), "coefficients that are not those of its updates")


def check_lengths(machine: Perceptrons, rows: np.ndarray) -> None:
    """Refuse lengths of rows that the kept ones do not have, up to rounding."""
    kept, slack = largest_square(rows), 1.0 + 1e-3
    fits = kept <= machine.square * slack and machine.radius2 <= machine.kernel.largest(machine.square) * slack
    expect(fits and machine.kernel.largest(kept) * bool(len(rows)) <= machine.radius2 * slack, "rows of other lengths")


def unpack_versions(arrays: Any, outputs: Iterable[Header], kept: int) -> list[Versions]:
    columns = [np.asarray(arrays[name]) for name in ("positions", "amounts", "times")]
    total = sum(output["updates"] for output in outputs)
    expect([column.dtype.kind for column in columns] == ["i", "f", "i"], "updates of another type")
    expect(all(column.shape == (total,) for column in columns), "updates of another number")
    expect(bool(np.isfinite(columns[1]).all()), "updates by amounts that are not finite")
    positions = columns[0]
    expect(not total or 0 <= positions.min() <= positions.max() < kept, "updates with rows that are not kept")
    answer, start = [], 0
    for output in outputs:
        versions, stop = Versions(), start + output["updates"]
        versions.positions, versions.amounts, versions.times = (column[start:stop].tolist() for column in columns)
        versions.made, versions.debt, start = output["made"], output["debt"], stop
        versions.chosen = unpack_chosen(output)
        answer.append(versions)
    return answer


def unpack_chosen(output: Header) -> int | None:
    """The version that a ratchet has chosen, if there was one."""
    if "chosen" not in output:
        return None
    expect(is_count(output["chosen"]) and output["chosen"] < output["updates"], "a version in the pocket that none is")
    return int(output["chosen"])


def unpack_step(step: Any, machine: Perceptrons) -> Step:
    place, position, amounts, drops = step
    place, position = unpack_value(tuple[int, int], [place, position])
    inside = 0 <= place < machine.examples % BLOCK and 0 <= position < machine.support.size
    expect(inside, "a step outside of its block")
    amounts = unpack_value(tuple[Number, ...], amounts)
    expect(len(amounts) == machine.outputs, "a step of other outputs")
    made = [Drop(*drop) for drop in unpack_value(tuple[tuple[int, Number, int, Number], ...], drops)]
    for drop in made:
        expect(0 <= drop.output < machine.outputs and 0 <= drop.position < machine.support.size, "a drop of no row")
    return Step(place, position, np.array(amounts, np.float64), made)


def expect(fine: bool, what: str) -> None:
    if not fine:
        raise BadModel(f"the model has {what}: it is not one that we wrote")
