"""Values as JSON and back, types and all: what parameters, labels and feature names are made of.

None, bools, ints, strings, finite floats and lists are what JSON makes of them; everything else is an object with one
key, which says what it is: ``{"tuple": [1, 2]}``, ``{"numpy": ["float32", 0.5]}``, ``{"loss": ["hinge", {"margin":
1.0}]}``. A class of the user's own is only named; who loads the file gives the class. Nothing is ever imported.

>>> packed = Packer().pack((1, float("inf"), {"a": None}), "an example")
>>> packed
{'tuple': [1, {'float': 'inf'}, {'dict': [['a', None]]}]}
>>> Unpacker({}).unpack(packed)
(1, inf, {'a': None})
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from onlinear import registry
from onlinear.errors import BadModel, NotSaved, OnlinearError
from onlinear.files.container import DTYPES, Arrays, PathLike
from onlinear.rules.passive import DecayingPA1, DecayingPA2
from onlinear.streams.packing import is_number

#: our own losses, rules and schedules; "perceptron" is a loss and a rule
TABLES: dict[str, dict[str, type]] = {
    "loss": registry.LOSSES,
    "rule": {**registry.RULES, "decaying_pa1": DecayingPA1, "decaying_pa2": DecayingPA2},
    "schedule": registry.SCHEDULES,
}
OURS = {cls: (kind, name) for kind, table in TABLES.items() for name, cls in table.items()}

NUMPY: dict[str, Any] = {
    **{np.dtype(kind).name: kind for kind in (np.int8, np.int16, np.int32, np.int64)},
    **{np.dtype(kind).name: kind for kind in (np.uint8, np.uint16, np.uint32, np.uint64)},
    **{np.dtype(kind).name: kind for kind in (np.float16, np.float32, np.float64)},
    "bool": np.bool_,
    "str": np.str_,
}
NAMES_OF_NUMPY = {kind: name for name, kind in NUMPY.items()}

#: generators whose state has a form here
TWISTER, PCG = "MT19937", "PCG64"
TWISTER_WORDS = 624


class Packer:
    """Turns values into JSON, and puts what JSON has no room for into ``arrays``."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}

    def pack(self, value: Any, what: str) -> Any:
        """The value as JSON; ``what`` it is, for the refusal of one that cannot be saved."""
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is int:
            return self._int(value, what)
        if kind is str:
            return self._text(value)
        if kind is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if kind is list:
            return [self.pack(item, what) for item in value]
        if kind is tuple:
            return {"tuple": [self.pack(item, what) for item in value]}
        if kind is dict:
            return {"dict": [[self.pack(key, what), self.pack(item, what)] for key, item in value.items()]}
        if hasattr(kind, "_fields") and isinstance(value, tuple):
            return self._named_tuple(value, what)
        return self._of_numpy(value, what)

    def _int(self, value: int, what: str) -> int:
        if value.bit_length() > 4096:
            raise NotSaved(f"{what} holds an integer of {value.bit_length()} bits, and 4096 is the most: use a float")
        return value

    def _text(self, value: str) -> Any:
        try:
            value.encode()
        except UnicodeEncodeError:  # half a surrogate pair, which JSON would join with its neighbour
            return {"text": value.encode("utf-8", "surrogatepass").hex()}
        return value

    def _named_tuple(self, value: Any, what: str) -> Any:
        fields = {name: self.pack(field, what) for name, field in zip(value._fields, value, strict=True)}
        if type(value) in OURS:
            kind, name = OURS[type(value)]
            return {kind: [name, fields]}
        return {"own": [type(value).__module__, type(value).__qualname__, fields]}

    def _of_numpy(self, value: Any, what: str) -> Any:
        if type(value) in NAMES_OF_NUMPY:
            return {"numpy": [NAMES_OF_NUMPY[type(value)], self.pack(value.item(), what)]}
        if type(value) is np.ndarray and value.dtype.name in DTYPES and value.dtype.isnative:
            return {"array": self._keep(value)}
        if type(value) is np.random.RandomState:
            return {"random_state": self._generator(value.get_state(legacy=False), value, what)}
        if type(value) is np.random.Generator:
            return {"generator": self._generator(value.bit_generator.state, value, what)}
        raise NotSaved(
            f"{what} holds {value!r:.60} ({type(value).__name__}), which a model file has no form for: "
            "use numbers, strings, None, lists, tuples or dicts of them, or a NamedTuple of your own"
        )

    def _keep(self, array: np.ndarray) -> str:
        name = f"values/{len(self.arrays)}"
        self.arrays[name] = array.copy()
        return name

    def _generator(self, state: Mapping[str, Any], value: Any, what: str) -> Any:
        kinds = (TWISTER, PCG) if type(value) is np.random.Generator else (TWISTER,)
        if state["bit_generator"] not in kinds:
            raise NotSaved(f"{what} is {value!r}, whose state has no form here: use {' or '.join(kinds)}, or a seed")
        return self.pack(dict(state), what)


class Unpacker:
    """Turns JSON back into values; ``classes`` are the user's own, to be found by their names."""

    def __init__(self, arrays: Mapping[str, np.ndarray], classes: Iterable[type] = ()) -> None:
        self.arrays = arrays
        self.classes = list(classes)
        for cls in self.classes:
            if not isinstance(cls, type):
                raise BadModel(f"classes holds {cls!r:.60}, which is no class: pass the classes themselves")
        self.forms: dict[str, Callable[[Any], Any]] = {
            "float": self._float,
            "text": lambda packed: bytes.fromhex(packed).decode("utf-8", "surrogatepass"),
            "tuple": lambda packed: tuple(map(self.unpack, packed)),
            "dict": lambda packed: {self.unpack(key): self.unpack(item) for key, item in packed},
            "numpy": lambda packed: NUMPY[packed[0]](self.unpack(packed[1])),
            "array": lambda packed: self.arrays[packed],
            "random_state": self._random_state,
            "generator": self._generator,
            "own": self._own,
            **{kind: partial(self._ours, kind) for kind in TABLES},
        }

    def unpack(self, packed: Any) -> Any:
        """The value that :meth:`Packer.pack` was given."""
        if isinstance(packed, list):
            return [self.unpack(item) for item in packed]
        if not isinstance(packed, dict):
            return packed
        if len(packed) != 1 or next(iter(packed)) not in self.forms:
            raise BadModel(f"the model holds a value of an unknown form, {packed!r:.80}: it is not one that we wrote")
        form, content = next(iter(packed.items()))
        return self.forms[form](content)

    def _float(self, packed: Any) -> float:
        if packed not in ("nan", "inf", "-inf"):
            raise BadModel(f"the model holds the float {packed!r:.80}: it is not one that we wrote")
        return float(packed)

    def _ours(self, kind: str, packed: Any) -> Any:
        name, fields = packed
        if name not in TABLES[kind]:
            raise BadModel(
                f"the model needs the {kind} {name!r:.80}, which this version does not have: install another"
            )
        return self._made(TABLES[kind][name], fields, name)

    def _own(self, packed: Any) -> Any:
        module, name, fields = packed
        return self._made(self.find(module, name), fields, name)

    def _made(self, cls: Any, fields: Any, name: str) -> Any:
        known = getattr(cls, "_fields", None)
        if known is None or set(fields) != set(known):
            raise BadModel(
                f"the model was saved with a {name} of the fields {list(fields)}, and the class here has {known}: "
                "give the class as it was when the model was saved"
            )
        values = [self.unpack(fields[field]) for field in known]
        if cls in OURS and not all(is_number(value) or hasattr(value, "_fields") for value in values):
            raise BadModel(f"the model's {name} has a field that is no number: it is not one that we wrote")
        return cls._make(values)

    def find(self, module: Any, name: Any) -> type:
        """The user's class of this name: in that module, or else the only one of that name."""
        short = str(name).rpartition(".")[2]
        alike = [cls for cls in self.classes if cls.__name__ == short]
        exact = [cls for cls in alike if (cls.__module__, cls.__qualname__) == (module, name)]
        found = exact or alike
        if not found:
            raise BadModel(
                f"the model needs your own class {short} (saved from {module!s:.80}): "
                f"pass it, as in load(path, classes=[{short}])"
            )
        if len(set(found)) > 1:
            raise BadModel(f"the model needs your own class {short}, and two of that name were given: pass one")
        return found[0]

    def _random_state(self, packed: Any) -> np.random.RandomState:
        restored = np.random.RandomState(0)
        restored.set_state(checked_state(self.unpack(packed), (TWISTER,)))
        return restored

    def _generator(self, packed: Any) -> np.random.Generator:
        state = checked_state(self.unpack(packed), (TWISTER, PCG))
        bits: Any = np.random.MT19937(0) if state["bit_generator"] == TWISTER else np.random.PCG64(0)
        bits.state = state
        return np.random.Generator(bits)


def checked_state(state: dict[str, Any], kinds: tuple[str, ...]) -> dict[str, Any]:
    """The state of a generator, if it is one: NumPy would take a position outside of the words, and read there."""
    kind, inner = state["bit_generator"], state["state"]
    fine = kind in kinds
    if kind == TWISTER:
        key, position = inner["key"], inner["pos"]
        fine = fine and isinstance(key, np.ndarray) and key.dtype == np.uint32 and key.shape == (TWISTER_WORDS,)
        fine = fine and type(position) is int and 0 <= position <= TWISTER_WORDS
    if not fine:
        raise BadModel("the model's random state is none that NumPy was ever in: it is not one that we wrote")
    return state


@contextmanager
def only_bad_models(path: PathLike | None = None) -> Iterator[None]:
    """Whatever a header leads to that is not as we write it is a bad model, and nothing else."""
    where = "" if path is None else f"{path} cannot be loaded: "
    try:
        yield
    except OnlinearError as error:
        raise BadModel(f"{where}{error}") from error.__cause__
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        said = f"{type(error).__name__}: {error}"
        raise BadModel(f"{where}the model is not one that we wrote ({said:.200}); save it again") from error
