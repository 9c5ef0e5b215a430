"""Classifiers in dual form as model files: the kept rows, the updates in order, and the block that is not full."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

import onlinear
from onlinear.errors import BadModel, NotSaved
from onlinear.estimators.dual_dicts import room_for_names
from onlinear.features.state import pack_texts
from onlinear.files.classes import pack_classes, unpack_classes
from onlinear.files.container import Arrays, Header
from onlinear.files.figures import is_count
from onlinear.files.names import names_now, pack_names, unpack_names, unpack_texts
from onlinear.files.values import Packer, Unpacker
from onlinear.learning.dual.forgetron import ALLOWANCE
from onlinear.learning.dual.kernel import Kernel
from onlinear.learning.dual.perceptrons import BLOCK, Drop, Perceptrons, Step, largest_square
from onlinear.learning.dual.versions import Versions, last_coefficients
from onlinear.streams.packing import Number, unpack_value

#: attributes beside the perceptrons, the classes and the names, and what they are
PLAIN: dict[str, type] = {
    "_mistakes": int,
    "_seed": int,
    "converged_": bool,
    "n_features_in_": int,
    "n_iter_": int,
}
#: those that all have that have learned
NEEDED = ("_mistakes", "_seed", "n_iter_")
#: more examples than anyone has
MOST_EXAMPLES = 1 << 62
#: columns without names of which no row has been learned: there is nothing in the file but their number
MOST_UNSEEN = 1 << 16
ROW_TYPES = ("float64", "float32")
KERNELS = ("linear", "poly", "rbf")


def dual_parts(estimator: Any, holds: Header) -> tuple[Header, Arrays]:
    """Header and arrays of a classifier in dual form; ``holds`` names its class."""
    packer = Packer()
    header: Header = {"onlinear": onlinear.__version__, **holds}
    parameters = estimator.get_params(deep=False)
    header["parameters"] = {name: packer.pack(value, f"the parameter {name}") for name, value in parameters.items()}
    machine = estimator._perceptrons
    if machine is None:
        return header, packer.arrays
    check_seen(estimator, machine)
    header["state"] = {name: getattr(estimator, name) for name in PLAIN if name in vars(estimator)}
    header["seen"] = sorted(estimator._seen)
    header["classes"] = pack_classes(packer, estimator._classes)
    if estimator._names is not None:
        header["names"] = pack_names(packer, names_now(estimator._names))
    if hasattr(estimator, "feature_names_in_"):
        pack_texts(packer.arrays, "columns", estimator.feature_names_in_.tolist())
    header["perceptrons"] = {**pack_perceptrons(packer, machine), "budget": estimator._began[1]}
    return header, packer.arrays


def check_seen(estimator: Any, machine: Perceptrons) -> None:
    """Refuse to write what would be read as a number of columns that nobody has seen."""
    width = machine.support.rows.shape[1]
    named = hasattr(estimator, "feature_names_in_") or estimator._names is not None
    if machine.examples == 0 and width > MOST_UNSEEN and not named:
        raise NotSaved(f"of {width:,} columns no row has been learned, so there is nothing to save: learn one first")


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


def restore_dual(unpacker: Unpacker, cls: Any, header: Header) -> Any:
    """The classifier of which :func:`dual_parts` made header and arrays."""
    unknown = sorted(header["parameters"].keys() - set(cls._get_param_names()))
    expect(not unknown, f"a parameter {unknown[:1]}")
    estimator = cls(**{name: unpacker.unpack(value) for name, value in header["parameters"].items()})
    if "perceptrons" not in header:
        return estimator
    estimator._validate_params()
    unpack_state(estimator, header["state"])
    estimator._classes = unpack_classes(unpacker, header["classes"])
    estimator._seen = unpack_seen(header["seen"], len(estimator._classes))
    estimator._names = unpack_names(unpacker, header["names"]) if "names" in header else None
    if "columns/ends" in unpacker.arrays:
        estimator.feature_names_in_ = np.array(unpack_texts(unpacker.arrays, "columns"), dtype=object)
    estimator._perceptrons = unpack_perceptrons(unpacker.arrays, header["perceptrons"])
    estimator._began = (estimator._perceptrons.kernel, header["perceptrons"]["budget"])
    check_together(estimator)
    return estimator


def unpack_state(estimator: Any, state: Header) -> None:
    """Give an estimator its plain attributes, if there are those, and nothing else."""
    expect(state.keys() >= set(NEEDED), "learned, but lacks an attribute of those who have")
    for name, value in state.items():
        expect(type(value) is PLAIN.get(name), f"an attribute {name!r:.60}")
        expect(0 <= value < MOST_EXAMPLES, f"an attribute {name} of {value!r:.60}")
        setattr(estimator, name, value)


def unpack_seen(seen: Any, classes: int) -> frozenset[int]:
    """The codes of the classes that rows were of."""
    codes: tuple[int, ...] = unpack_value(tuple[int, ...], seen)
    expect(all(0 <= code < classes for code in codes), "seen classes that there are not")
    return frozenset(codes)


def check_together(estimator: Any) -> None:
    """Refuse parts of which one would lead out of another's bounds."""
    machine, classes, names = estimator._perceptrons, estimator._classes, estimator._names
    width, columns = machine.support.rows.shape[1], getattr(estimator, "n_features_in_", None)
    if names is None:
        fits = width == (columns or 0)
    elif columns is None:  # the room for names doubles as they come
        fits = names.size <= width <= room_for_names(names.size)
    else:
        fits = columns == width == names.size == names.cap
    expect(fits, "rows of another width than its features")
    named = getattr(estimator, "feature_names_in_", None)
    is_seen = machine.examples > 0 or named is not None or names is not None
    expect(is_seen or width <= MOST_UNSEEN, "columns that no row has")
    expect(named is None or len(named) == columns, "other names of columns than columns")
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
