"""Options of the losses, rules and schedules: read off their fields, so that a new one is in ``--help`` by itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import wraps
from typing import Annotated, Any, NamedTuple, get_type_hints

from onlinear.cli.arguments import READING
from onlinear.cli.declaring import Declared
from onlinear.errors import Refused
from onlinear.parameters import ranges_of
from onlinear.registry import LOSSES, RULES, SCHEDULES
from onlinear.streams.options import DEFAULTS, Option, read_options

TABLES = {"loss": LOSSES, "rule": RULES, "schedule": SCHEDULES}
PANEL = "Options of losses, rules and schedules"


class Field(NamedTuple):
    """A number that a loss, a rule or a schedule has."""

    owner: str
    kind: str
    default: float
    says: str


def fields() -> dict[str, list[Field]]:
    """All fields by name, with everything that has one."""
    found: dict[str, list[Field]] = {}
    for kind, table in TABLES.items():
        for owner, cls in table.items():
            for name, default, says in fields_of(cls, cls._field_defaults):  # type: ignore[attr-defined]
                found.setdefault(name, []).append(Field(owner, kind, default, says))
    return found


def fields_of(cls: Any, defaults: Mapping[str, Any]) -> Iterator[tuple[str, float, str]]:
    """Name, default and description of each field; those of a rule's own schedule among them."""
    hints = get_type_hints(cls, include_extras=True)
    for name, default in defaults.items():
        if isinstance(default, tuple):
            yield from fields_of(type(default), default._asdict())  # type: ignore[attr-defined]
        else:
            yield name, default, hints[name].__metadata__[0]


def help_of(owners: list[Field]) -> str:
    """What an option does for each of its owners, with the defaults.

    >>> help_of([Field("hinge", "loss", 1.0, "the margin"), Field("arow", "rule", 2.0, "the margin")])
    'The margin: hinge (1), arow (2).'
    """
    sayings: dict[str, list[str]] = {}
    for field in owners:
        sayings.setdefault(field.says, []).append(f"{field.owner} ({field.default:g})")
    return " ".join(f"{says[0].upper()}{says[1:]}: {', '.join(each)}." for says, each in sayings.items())


def with_options(name: str, parameters: Callable[[Collection[str]], Iterable[inspect.Parameter]]) -> Callable[..., Any]:
    """A decorator for commands: in place of the parameter of this name, others, handed to it together as a dict.

    ``parameters`` is called with the names that the command has.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        several = list(parameters(own.parameters))

        @wraps(command)
        def widened(**given: Any) -> None:
            together = {each.name: given.pop(each.name) for each in several}
            command(**given, **{name: together})

        shown = [new for each in own.parameters.values() for new in (several if each.name == name else [each])]
        widened.__signature__ = own.replace(parameters=shown)  # type: ignore[attr-defined]
        return widened

    return decorate


def of_fields(taken: Collection[str]) -> Iterator[inspect.Parameter]:
    """A parameter for each field of the losses, rules and schedules that no option of the command has."""
    for name, owners in fields().items():
        if name not in taken:
            yield parameter_for(name, float | None, None, Declared(help_of(owners), PANEL))


def of_reading(chosen: Callable[[str, Option], bool]) -> Callable[[Collection[str]], Iterator[inspect.Parameter]]:
    """A parameter for each reading option that is chosen, and has a form on the command line."""

    def parameters(taken: Collection[str]) -> Iterator[inspect.Parameter]:
        for name, option in read_options().items():
            if option.kind is not None and name not in taken and chosen(name, option):
                default = None if option.repeated else getattr(DEFAULTS, name)
                kind = list[option.kind] if option.repeated else option.kind  # type: ignore[name-defined]
                declared = Declared(
                    option.help, READING, option.names, option.metavar, option.min, option.max, option.choices
                )
                yield parameter_for(name, kind | None if default is None else kind, default, declared)

    return parameters


def parameter_for(name: str, annotation: Any, default: Any, declared: Declared) -> inspect.Parameter:
    annotation = Annotated[annotation, declared]
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation)


#: gives a command an option for each field of a loss, a rule or a schedule: the dict ``chosen``
with_field_options = with_options("chosen", of_fields)
#: gives a command all reading options: the dict ``reading``
with_read_options = with_options("reading", of_reading(lambda name, option: True))
#: gives a command those of a table's profile
with_profile_options = with_options("reading", of_reading(lambda name, option: option.profiled))


def with_some_read_options(*names: str) -> Callable[..., Any]:
    """Gives a command those of these names."""
    return with_options("reading", of_reading(lambda name, option: name in names))


def reading_in(given: Mapping[str, Any]) -> dict[str, Any]:
    """The reading options among the values that a command line gives, as Python takes them."""
    options = {name: each for name, each in read_options().items() if each.kind and given.get(name) is not None}
    return {
        name: [option.value(word) for word in given[name]] if option.repeated else given[name]
        for name, option in options.items()
    }


class Chosen:
    """The values of options; each is to be used once."""

    def __init__(self, given: Mapping[str, float | None]) -> None:
        self.left = {name: value for name, value in given.items() if value is not None}

    def made(self, cls: Any, **parts: Any) -> Any:
        """A loss, a rule or a schedule with the values that belong to it."""
        return cls(**parts, **self.taken(cls))

    def taken(self, cls: Any) -> dict[str, float]:
        """The values that belong to the fields of a class; one out of its range is refused."""
        taken = {name: float(self.left.pop(name)) for name in cls._fields if name in self.left}
        for name, value in taken.items():
            if value not in (limits := ranges_of(cls)[name]):
                raise Refused(f"--{name} is {value}: give {limits.words}")
        return taken

    def refuse_rest(self, loss: str, rule: str) -> None:
        """Refuse values that nothing has taken."""
        for name in self.left:
            owners = ", ".join(f"the {field.kind} {field.owner}" for field in fields()[name])
            raise Refused(f"--{name} means nothing for the loss {loss} and the rule {rule}: it belongs to {owners}")


def loss_and_rule(loss: str, rule: str, schedule: str | None, given: Mapping[str, float | None]) -> tuple[Any, Any]:
    """The loss and the rule of these names, with the values that were given."""
    if schedule is not None and "schedule" not in RULES[rule]._fields:  # type: ignore[attr-defined]
        raise Refused(f"--schedule means nothing for the rule {rule}: it belongs to the rule sgd")
    chosen = Chosen(given)
    made_loss = chosen.made(LOSSES[loss])
    parts = {}
    if "schedule" in RULES[rule]._fields:  # type: ignore[attr-defined]
        default = RULES[rule]._field_defaults["schedule"]  # type: ignore[attr-defined]
        parts["schedule"] = (
            chosen.made(SCHEDULES[schedule]) if schedule else default._replace(**chosen.taken(type(default)))
        )
    made_rule = chosen.made(RULES[rule], **parts)
    chosen.refuse_rest(loss, rule)
    return made_loss, made_rule
