"""The state of a learner as header and arrays: all of it, to go on to the bit, or only what answers need.

The full form holds every array the learner has. Of the table the room that no feature has taken yet is left out, up
to three quarters of it: its cells are all alike, and come back as copies of the last one that is there.

The slim form holds weights and intercepts as of now. It scores in the same order of additions as the learner it was
taken from, and so to the same bits; learning is refused.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import onlinear
from onlinear import rules
from onlinear.data.batch import writeable
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.errors import BadModel
from onlinear.files.container import Arrays, Header, PathLike, read_model, write_model
from onlinear.files.values import Packer, Unpacker, only_bad_models
from onlinear.kernels.learn.bank import shape_of
from onlinear.learning.configuration import Settings
from onlinear.learning.learner import Learner
from onlinear.learning.reading import read_columns, read_intercepts
from onlinear.learning.saved_counters import (
    MOST_EXAMPLES,
    are_counts,
    current_counters,
    fault_of_counters,
    has_known_width,
    slim_counters,
)
from onlinear.streams.packing import is_number
from onlinear.system.locks import VERSION

#: how many times as many features a table may have as are in the file
ROOM = 4

#: how the table lies, by the word for it in a file
LAYOUTS: dict[str, type] = {"dense": DenseRows, "sparse": SparseRows}
LAYOUT_NAMES = {layout: name for name, layout in LAYOUTS.items()}
FEATURE_AXIS = {DenseRows: 2, SparseRows: 0}


class LearnerNow(NamedTuple):
    """A learner's state as of a whole example."""

    numbers: dict[str, Any]  # plain JSON
    losses: list[Any]
    rules: list[Any]
    settings: list[Settings]
    arrays: Arrays  # may be the learner's own

    def copy(self) -> LearnerNow:
        """The same for a learner that may learn on before all is written."""
        return self._replace(arrays={name: array.copy() for name, array in self.arrays.items()})


def learner_now(learner: Learner, *, slim: bool = False, features: int | None = None) -> LearnerNow:
    """What there is to save of a learner, for a caller who holds its lock; slim of the first ``features`` only."""
    slim = slim or learner.slim
    arrays = slim_arrays(learner, features) if slim else full_arrays(learner)
    arrays["history"] = np.array(learner.counters.history).reshape(-1, learner.outputs, 3)
    numbers = {
        "form": "slim" if slim else "full",
        "features": arrays["weights"].shape[1] if slim else learner.features,
        "outputs": learner.outputs,
        "facing": LAYOUT_NAMES[learner.table.layout],
        "compiled": learner.compiled and (not slim or answers_compiled(learner)),
        "version": learner.version,
        "first_pass_examples": learner.counters.first_pass_examples,
    }
    if slim:
        numbers["in_turn"] = sums_in_turn(learner)
    return LearnerNow(numbers, learner.losses, learner.rules, learner.settings, arrays)


def answers_compiled(learner: Learner) -> bool:
    """Whether compiled code adds up the score of a dict row, not NumPy."""
    from onlinear.learning.dict_path import is_simple  # and with it the compiler's part, which others need not wait for

    return learner.kind != "matrix" and is_simple(learner.rules[0])


def full_arrays(learner: Learner) -> Arrays:
    table = learner.table
    axis = FEATURE_AXIS[table.layout]
    kept = [slice(None)] * 3
    kept[axis] = slice(features_to_keep(table.cells, axis))
    cells = np.ascontiguousarray(table.cells[tuple(kept)])  # without the room for more outputs
    arrays: Arrays = {"table": cells, "bias": table.bias, "clock": learner.counters.array}
    if learner.kind == "matrix":
        arrays["matrix"] = table.matrix
    return arrays


def features_to_keep(table: np.ndarray, axis: int) -> int:
    """All but those like the last one to the bit; yet not so few that a small file could ask for much memory."""
    features = table.shape[axis]
    if features == 0:
        return 0
    cells = np.moveaxis(table.view(np.int64), axis, 0)
    stop, step = features, 1 << 8
    while stop > 0:  # from the end: where hashes are spread over a table, one unlike the last is near
        start = max(stop - step, 0)
        unlike = np.flatnonzero((cells[start:stop] != cells[-1]).any(axis=(1, 2)))
        if unlike.size:
            return max(start + int(unlike[-1]) + 2, -(-features // ROOM))
        stop, step = start, 4 * step
    return max(1, -(-features // ROOM))


def sums_in_turn(learner: Learner) -> bool:
    """Whether a dict row's score is added up entry by entry, because each weight takes some arithmetic."""
    return learner.slots.are_lazy


def slim_arrays(learner: Learner, features: int | None) -> Arrays:
    """Weights, intercepts, and of the counters what counts examples and scales weights."""
    counters = slim_counters(learner.counters, scaled=not sums_in_turn(learner))
    if sums_in_turn(learner):
        weights = read_columns(learner, slice(features))
    else:
        weights = learner.table.cells_by_output[:, 0, :features].copy()
    return {"weights": weights, "intercepts": read_intercepts(learner), "clock": counters}


def pack_learner(packer: Packer, now: LearnerNow) -> dict[str, Any]:
    """The header's part of a learner; its arrays go to the packer's."""
    packer.arrays |= {f"learner/{name}": array for name, array in now.arrays.items()}
    return {
        **now.numbers,
        "losses": [packer.pack(loss, "the loss") for loss in now.losses],
        "rules": [packer.pack(rule, "the rule") for rule in now.rules],
        "settings": [
            {name: packer.pack(value, f"the setting {name}") for name, value in settings._asdict().items()}
            for settings in now.settings
        ],
    }


# ------------------------------------------------------------------ back


def unpack_learner(unpacker: Unpacker, header: dict[str, Any]) -> Learner:
    """A learner that goes on, or answers, where the saved one stood."""
    forms = {"full": unpack_full, "slim": unpack_slim}
    return forms[header["form"]](unpacker, header)


def unpack_full(unpacker: Unpacker, header: dict[str, Any]) -> Learner:
    arrays = arrays_of(unpacker)
    losses = unpack_bank(unpacker, header["losses"], ("slope", "slopes"))
    rules_ = unpack_bank(unpacker, header["rules"], ("step", "move"))
    settings = [unpack_settings(unpacker, each) for each in header["settings"]]
    outputs, compiled = checked_outputs(header, arrays), checked_field(header, "compiled", bool)
    learner = Learner(losses, rules_, features=0, outputs=outputs, settings=settings, compiled=compiled)
    table, slots = learner.table, learner.slots.size
    features, layout = checked_field(header, "features", int), LAYOUTS[header["facing"]]
    stored = arrays["table"].shape[FEATURE_AXIS[layout]]
    expect(stored <= features <= ROOM * stored, f"{features} features, of which {stored} are stored")
    shape = {DenseRows: (outputs, slots, stored), SparseRows: (stored, outputs, slots)}[layout]
    expect_shape(arrays, "table", shape)
    expect_shape(arrays, "bias", (outputs, slots))
    if learner.kind == "matrix":
        expect_shape(arrays, "matrix", (outputs, features + 1, features + 1))
        expect(layout is DenseRows, "a matrix rule that faces sparse rows")
        table.matrix = arrays["matrix"]
    expect_finite(arrays["table"], arrays["bias"])
    table.layout, table.bias = layout, arrays["bias"]
    table.base = with_room(arrays["table"], FEATURE_AXIS[layout], features)
    give_figures(learner, header, arrays)
    return learner


def unpack_slim(unpacker: Unpacker, header: dict[str, Any]) -> Learner:
    """A learner that only answers: with a rule whose weights are those in the table, times a scale."""
    arrays = arrays_of(unpacker)
    losses = unpack_bank(unpacker, header["losses"], ("slope", "slopes"))
    outputs, features = checked_outputs(header, arrays), checked_field(header, "features", int)
    expect_shape(arrays, "weights", (outputs, features))
    expect_shape(arrays, "intercepts", (outputs,))
    expect_finite(arrays["weights"], arrays["intercepts"])
    # an average of no examples yet is the weights themselves, and has them added up in turn
    settings = Settings(average=float(checked_field(header, "in_turn", bool)))
    compiled = checked_field(header, "compiled", bool)
    learner = Learner(losses, rules.SGD(), features=0, outputs=outputs, settings=settings, compiled=compiled)
    table = learner.table
    table.base = np.zeros((outputs, learner.slots.size, features))
    table.base[:, 0], table.bias[:, 0] = arrays["weights"], arrays["intercepts"]
    give_figures(learner, header, arrays)
    learner.slim = True
    return learner


def unpack_bank(unpacker: Unpacker, packed: list[Any], methods: tuple[str, str]) -> list[Any]:
    """Losses or rules: named tuples of one kind, with one of the methods."""
    bank = [unpacker.unpack(each) for each in packed]
    fine = all(isinstance(each, tuple) and any(hasattr(each, method) for method in methods) for each in bank)
    expect(fine and len({shape_of(each) for each in bank}) == 1, f"a bank of {packed!r:.80}")
    return bank


def give_figures(learner: Learner, header: dict[str, Any], arrays: Arrays) -> None:
    """Counters and history, which must agree: figures are kept at 1, 2, 4, 8, ... examples."""
    counters = learner.counters
    arrays["clock"] = current_counters(arrays["clock"], counters.averages)
    expect_shape(arrays, "clock", counters.array.shape)
    fault = fault_of_counters(arrays["clock"], slim=header["form"] == "slim")
    expect(fault is None, str(fault))
    counters.array = arrays["clock"]
    expect_shape(arrays, "history", (counters.examples.bit_length(), learner.outputs, 3))
    _, mistakes, importance = np.moveaxis(arrays["history"], 2, 0)
    expect(are_counts(mistakes) and bool((importance >= 0.0).all()), "a history that counts no examples")
    counters.history = [figures.copy() for figures in arrays["history"]]
    counters.first_pass_examples = checked_field(header, "first_pass_examples", int)
    expect(-1 <= counters.first_pass_examples < MOST_EXAMPLES, "a first pass that no examples end")
    version = checked_field(header, "version", int)
    expect(0 <= version < MOST_EXAMPLES, f"the version {version}")
    learner.busy.words[VERSION] = version


def with_room(table: np.ndarray, axis: int, features: int) -> np.ndarray:
    """The table with copies of its last cells for the features that were left out."""
    stored = table.shape[axis]
    if stored == features:
        return table
    shape = list(table.shape)
    shape[axis] = features
    whole = np.zeros(shape)
    cells, last = np.moveaxis(whole, axis, 0), np.moveaxis(table, axis, 0)[-1]
    cells[:stored] = np.moveaxis(table, axis, 0)
    if last.view(np.int64).any():  # zeros need no memory until someone learns there; minus zeros do
        cells[stored:] = last
    return whole


def arrays_of(unpacker: Unpacker) -> Arrays:
    prefix = "learner/"
    ours = {name: array for name, array in unpacker.arrays.items() if name.startswith(prefix)}
    arrays = {name.removeprefix(prefix): writeable(array) for name, array in ours.items()}
    expect(all(array.dtype == np.float64 for array in arrays.values()), "arrays that are not of float64")
    return arrays


def unpack_settings(unpacker: Unpacker, packed: dict[str, Any]) -> Settings:
    fields = {name: unpacker.unpack(value) for name, value in packed.items()}
    for name, value in fields.items():
        fine = name in Settings._fields and (type(value) is bool or is_number(value))
        expect(fine, f"the setting {name}={value!r:.60}")
    return Settings(**fields)


def checked_outputs(header: dict[str, Any], arrays: Arrays) -> int:
    """How many outputs there are, each with counters in the file: a learner of so many takes hardly more memory."""
    outputs = checked_field(header, "outputs", int)
    expect(outputs >= 1 and has_known_width(arrays["clock"]) and len(arrays["clock"]) == outputs, f"{outputs} outputs")
    return outputs


def checked_field(header: dict[str, Any], key: str, kind: type) -> Any:
    expect(type(header[key]) is kind, f"{key} {header[key]!r:.60}")
    return header[key]


def expect_shape(arrays: Arrays, name: str, shape: tuple[int, ...]) -> None:
    expect(arrays[name].shape == shape, f"an array {name} of shape {arrays[name].shape}, not {shape}")


def expect_finite(*weights: np.ndarray) -> None:
    expect(all(bool(np.isfinite(each).all()) for each in weights), "a weight that is no finite number")


def expect(fine: bool, what: str) -> None:
    if not fine:
        raise BadModel(f"the model's learner has {what}: it is not one that we wrote")


# ------------------------------------------------------------------ a learner alone


def learner_parts(learner: Learner, *, slim: bool = False) -> tuple[Header, Arrays]:
    """Header and arrays of a learner alone, as of a whole example."""
    with learner.lock, learner.busy:
        now = learner_now(learner, slim=slim)
    packer = Packer()
    header = {"onlinear": onlinear.__version__, "holds": "Learner", "learner": pack_learner(packer, now)}
    return header, packer.arrays


def save_learner(path: PathLike, learner: Learner, *, slim: bool = False) -> None:
    """Write a learner alone to a model file."""
    write_model(path, *learner_parts(learner, slim=slim))


def load_learner(path: PathLike, classes: Any = ()) -> Learner:
    """The learner that :func:`save_learner` wrote; ``classes`` are the user's own losses, rules and schedules."""
    header, arrays = read_model(path)
    with only_bad_models(path):
        return unpack_learner(Unpacker(arrays, classes), header["learner"])
