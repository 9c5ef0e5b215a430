"""Recipe: how files become the rows that a model learns; saved in the model, so that answers need no options.

Formats read, in any number of threads; what has a memory, names and scales, comes here and takes rows in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from onlinear.errors import OnlinearError, Refused
from onlinear.features.blocks import Block
from onlinear.features.naming import cells_of
from onlinear.streams.formats import FORMATS, Format, class_of, import_name, name_of
from onlinear.streams.packing import pack_value, unpack_value

if TYPE_CHECKING:
    from onlinear.features.scaling import ClipBounds, Clipping, ColumnsOf, MaxAbs, Standardise, UnitLength
    from onlinear.features.vocabulary import Vocabulary

Arrays = dict[str, np.ndarray]
#: what comes behind scaling, by the name in model files; see :class:`Stage`
STAGES = {
    "random_features": "features.random_features.RandomFeatures",
    "own_features": "features.own_features.OwnFeatures",
}
#: what each of them does, in words
STEPS = {"random_features": "draws random features", "own_features": "gives each row a feature of its own"}
#: what has a memory, by module and class: loaded by recipes that have it
VOCABULARY = "features.vocabulary.Vocabulary"
CLIPPING = "features.scaling.Clipping"
SCALINGS = {
    "standardise": "features.scaling.Standardise",
    "max-abs": "features.scaling.MaxAbs",
    "unit": "features.scaling.UnitLength",
}


class Stage(Protocol):
    """What makes other columns of those of a row, and is made of its ``State``, a record."""

    def state(self) -> Any:
        """What there is to remember."""

    def begin(self) -> None:
        """The rows that come now are others than those before."""

    def learn(self, block: Block) -> Block:
        """The rows as they are learned."""

    def apply(self, block: Block, *, again: bool = False) -> Block:
        """The rows as they are answered, or as those that were learned, once ``again``. Changes nothing."""

    def name_of(self, column: int) -> str | None:
        """What a column is called that the stage has made; None for one that was there before."""


class Recipe:
    """The format of files, the names that are remembered, how values are clipped and scaled, and ``stages`` behind."""

    def __init__(self, format: Format, scaling: str | None = None, bounds: Sequence[ClipBounds] = ()) -> None:
        if scaling not in (None, *SCALINGS):
            raise Refused(f"the scaling {scaling!r:.60} is unknown: choose one of {', '.join(SCALINGS)}")
        naming = format.naming
        self.format = format
        self.scaling = scaling
        remembers = naming is not None and naming.remembers
        self.vocabulary: Vocabulary | None = import_name(VOCABULARY)(naming) if remembers else None
        self.bounds = tuple(bounds)
        self.clipping = self._new_clipping()
        self.scaler = self._new_scaler({})
        self.stages: dict[str, Stage] = {}

    def add_stage(self, name: str, *state: Any) -> None:
        """Let one of the stages come behind all others."""
        made = import_name(STAGES[name])
        self.stages[name] = made(made.State(*state))

    def begin(self) -> None:
        """The rows that come now are others than those before."""
        for stage in self.stages.values():
            stage.begin()

    @property
    def bits(self) -> int | None:
        """To how many bits the names of columns are hashed; None where each has a name or a number of its own."""
        return None if self.stages else self._bits

    @property
    def _bits(self) -> int | None:
        """The same before the stages."""
        return None if self.format.naming is None else self.format.naming.bits

    @property
    def exact_names(self) -> list[str] | None:
        """The names of the columns, where each has its own."""
        is_exact = self.vocabulary is not None and self._bits is None and not self.stages
        return self.vocabulary.names() if self.vocabulary is not None and is_exact else None

    def steps(self) -> list[str]:
        """What it does to rows beside naming their features, in words: nothing of it happens to dicts and arrays."""
        naming, format = self.format.naming, self.format
        columns: Sequence[Any] = getattr(format, "columns", ())
        done = {
            "cuts texts into words": bool(getattr(format, "text", ())) or any(each.kind == "text" for each in columns),
            "multiplies columns": naming is not None and bool(naming.crosses),
            "puts rare categories together": naming is not None and bool(naming.frequent),
            "cuts numbers into ranges": naming is not None and bool(naming.ranges),
            "clips numbers": bool(self.bounds),
            "scales numbers": self.scaling is not None,
        }
        return [step for step, is_done in done.items() if is_done] + [STEPS[name] for name in self.stages]

    @property
    def text_columns(self) -> frozenset[str]:
        """The columns in which a number is a name, too: dicts have to say it as a text."""
        columns: Sequence[Any] = getattr(self.format, "columns", ())
        keys: frozenset[str] = getattr(self.format, "categories", frozenset())
        of_table = {column.name for column in columns if column.kind == "category"}
        return (keys | of_table) - {getattr(self.format, "target", None)}

    @property
    def number_columns(self) -> frozenset[str]:
        """The columns of numbers, in which a text is none: dicts have to say it as a number."""
        return frozenset(self.format.numbers())

    # -------------------------------------------------------------- rows

    def learn(self, block: Block, stop_at_bad: bool) -> Block:
        """The rows as the model learns them; their names and values are counted in."""
        if self.vocabulary is not None:
            block = self.vocabulary.take(block, stop_at_bad)
        block = self.clip(block)
        block = block if self.scaler is None else self.scaler.learn(block)
        for stage in self.stages.values():
            block = stage.learn(block)
        return block

    def apply(self, block: Block, stop_at_bad: bool, *, again: bool = False) -> Block:
        """The rows as the model knows them: new ones, or those that it has learned ``again``. Changes nothing."""
        if self.vocabulary is not None:
            block = self.vocabulary.look_up(block, stop_at_bad)
        block = self.clip(block)
        block = block if self.scaler is None else self.scaler.apply(block)
        for stage in self.stages.values():
            block = stage.apply(block, again=again)
        return block

    def clip(self, block: Block) -> Block:
        return block if self.clipping is None else self.clipping.apply(block)

    def names_at(self, column: int) -> list[str]:
        """The names of a column, as far as they are known."""
        for stage in reversed(self.stages.values()):
            if (name := stage.name_of(column)) is not None:
                return [name]
        if self.vocabulary is not None:
            return self.vocabulary.names_at(column)
        if self._bits is None:
            return [str(column + getattr(self.format, "first_index", 0))]
        names = self.format.numbers()
        return [names[place] for place in np.flatnonzero(cells_of(names, self._bits) == column).tolist()]

    # -------------------------------------------------------------- model files

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """JSON and arrays for a model file."""
        header: dict[str, Any] = {"format": {name_of(self.format): pack_value(self.format)}, "scaling": self.scaling}
        if self.bounds:
            header["clipping"] = [pack_value(bounds) for bounds in self.bounds]
        if self.stages:
            header["stages"] = {name: pack_value(stage.state()) for name, stage in self.stages.items()}
        names = {} if self.vocabulary is None else self.vocabulary.arrays()
        scales = {} if self.scaler is None else self.scaler.arrays()
        return header, under("vocabulary/", names) | under("scaling/", scales)

    @classmethod
    def from_header(cls, header: Any, arrays: Arrays) -> Recipe:
        """The recipe that :meth:`parts` came from."""
        ((name, fields),) = header["format"].items()
        if name not in FORMATS:
            raise OnlinearError(f"the format {name!r:.60} is unknown to this version: install a newer onlinear")
        bounds = [unpack_value(import_name("features.scaling.Bounds"), each) for each in header.get("clipping", [])]
        recipe = cls(unpack_value(class_of(name), fields), header["scaling"], bounds)
        if recipe.vocabulary is not None:
            recipe.vocabulary = import_name(VOCABULARY).from_arrays(
                below("vocabulary/", arrays), recipe.vocabulary.naming
            )
        recipe.clipping = recipe._new_clipping()
        recipe.scaler = recipe._new_scaler(below("scaling/", arrays))
        for stage, state in header.get("stages", {}).items():
            if stage not in STAGES:
                raise OnlinearError(f"the stage {stage!r:.60} is unknown to this version: install a newer onlinear")
            recipe.add_stage(stage, *unpack_value(import_name(STAGES[stage]).State, state))
        return recipe

    def _new_clipping(self) -> Clipping | None:
        if not self.bounds:
            return None
        clipping: Clipping = import_name(CLIPPING)(self.bounds, self.format.numbers(), self._columns_of())
        return clipping

    def _new_scaler(self, arrays: Arrays) -> MaxAbs | Standardise | UnitLength | None:
        """The scaler of these arrays, or one that has seen nothing."""
        if self.scaling is None:
            return None
        columns = self._number_columns() if self.scaling == "standardise" else ()
        cls = import_name(SCALINGS[self.scaling])
        scaler: MaxAbs | Standardise | UnitLength = cls.from_arrays(arrays, *columns) if arrays else cls(*columns)
        return scaler

    def _number_columns(self) -> tuple[list[str], ColumnsOf]:
        """The names of the number columns, and how they become columns of the rows."""
        names = self.format.numbers()
        if not names:
            raise Refused("there are no number columns to standardise, as only a table has them: scale by max-abs")
        return names, self._columns_of()

    def _columns_of(self) -> ColumnsOf:
        """How names become columns of the rows."""
        if self._bits is not None:
            return partial(cells_of, bits=self._bits)
        if self.vocabulary is None:
            raise Refused("the columns have numbers, and no names that could be clipped or scaled by: leave out clip")
        return self.vocabulary.columns_of


def under(prefix: str, arrays: Arrays) -> Arrays:
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def below(prefix: str, arrays: Arrays) -> Arrays:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
