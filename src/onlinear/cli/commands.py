"""Commands from functions: the types of their parameters declare the arguments and options.

Options of losses, rules and schedules are read off their fields, and those of reading off
:class:`onlinear.streams.options.ReadOptions`, so that a new one is in ``--help`` by itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import click

from onlinear.registry import LOSSES, RULES, SCHEDULES

if TYPE_CHECKING:
    from onlinear.streams.options import Option

Function = TypeVar("Function", bound=Callable[..., None])
#: makes parameters, called with the names of those that there are
Several = Callable[[Collection[str]], Iterable[inspect.Parameter]]

#: parts of the help
ARGUMENTS, OPTIONS, READING = "Arguments", "Options", "Reading"
#: what a file is to a command: rows to read (also a glob, or standard input), something else to read, or to write
ROWS, INPUT, OUTPUT = "rows", "input", "output"
#: what is written line by line, and may stand among what is printed; and what - prints, with nothing else
LOG, PRINTED = "log", "printed"
WRITTEN = (OUTPUT, LOG, PRINTED)


class Declared(NamedTuple):
    """What a command takes, by its place if the panel is that of arguments, or by name.

    A panel is a part of the help with its heading. The shell completes a choice, and the name of a ``file``, which is
    ROWS, an INPUT or one of what is WRITTEN; one of the ``words`` may stand in its place.
    """

    says: str
    panel: str = OPTIONS
    names: tuple[str, ...] = ()
    metavar: str | None = None
    min: Any = None
    max: Any = None
    choices: Collection[str] = ()
    file: str = ""
    words: tuple[str, ...] = ()


def parameter_of(parameter: inspect.Parameter) -> click.Parameter:
    """The argument or the option that a parameter of a function declares."""
    annotation, declared = get_args(parameter.annotation)
    make = argument_of if declared.panel == ARGUMENTS else option_of
    return make(parameter, *kind_of(annotation), declared)


def argument_of(parameter: inspect.Parameter, kind: Any, several: bool, declared: Declared) -> click.Parameter:
    required = parameter.default is parameter.empty
    return click.Argument(
        [parameter.name],
        required=required,
        metavar=declared.metavar if required else f"[{declared.metavar}]",
        type=type_of(kind, declared),
        nargs=-1 if several else 1,
        callback=as_list if several else refusing(declared.choices),
        shell_complete=completing(declared.choices),
    )


def option_of(parameter: inspect.Parameter, kind: Any, several: bool, declared: Declared) -> click.Parameter:
    return click.Option(
        [parameter.name, *(declared.names or [f"--{parameter.name.replace('_', '-')}"])],
        help=declared.says,
        metavar=declared.metavar,
        default=parameter.default,
        show_default=True,
        type=type_of(kind, declared),
        is_flag=kind is bool,
        multiple=several,
        callback=as_list if several else refusing(declared.choices),
        shell_complete=completing(declared.choices),
    )


def kind_of(annotation: Any) -> tuple[Any, bool]:
    """The type of a value, and whether there may be several.

    >>> kind_of(list[str] | None), kind_of(float)
    ((<class 'str'>, True), (<class 'float'>, False))
    """
    if NoneType in get_args(annotation):
        annotation = get_args(annotation)[0]
    return (get_args(annotation)[0], True) if get_origin(annotation) is list else (annotation, False)


def type_of(kind: Any, declared: Declared) -> Any:
    """The click type of a value."""
    if declared.file in (OUTPUT, LOG):
        return OutputPath(readable=False, path_type=kind)
    if declared.file or kind is Path:
        return click.Path(readable=False, path_type=kind)  # whoever opens the file says more of what is wrong with it
    if declared.min is None and declared.max is None:
        return kind
    return (Whole if kind is int else Real)(declared.min, declared.max)


class OutputPath(click.Path):
    """A file to write, where - has no meaning: as a path it could not be told from the file of that name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            self.fail("- is not standard output here: name a file, or say ./- for one of that name.", param, ctx)
        return super().convert(value, param, ctx)


class Whole(click.IntRange):
    name = "whole number"


class Real(click.FloatRange):
    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        return number if number == number else self.fail(f"{value!r} is not a number.", param, ctx)


def as_list(context: click.Context, parameter: click.Parameter, values: tuple[Any, ...]) -> list[Any] | None:
    return list(values) or None


def refusing(table: Collection[str]) -> Callable[[click.Context, click.Parameter, Any], Any] | None:
    """A callback that refuses what is not in a table, if there is one."""

    def check(context: click.Context, parameter: click.Parameter, name: str | None) -> str | None:
        if name is None or name in table:
            return name
        from difflib import get_close_matches

        close = get_close_matches(name, table, 1)
        hint = f"did you mean {close[0]}?" if close else f"choose one of {', '.join(table)}"
        raise click.BadParameter(f"{name!r} is none that there is: {hint}")

    return check if table else None


def completing(table: Collection[str]) -> Callable[[click.Context, click.Parameter, str], list[str]] | None:
    """What the shell may complete a name to, if there is a table."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        return [name for name in table if name.startswith(incomplete)]

    return complete if table else None


def check_files(declared: Mapping[str, Declared], given: Mapping[str, Any]) -> None:
    """Refuse, before anything is read or learned, files that are not there and outputs that cannot be written.

    Nor may an output take the place of an input, or of another output, or stand among what is printed; nor may two
    options read the same pipe.
    """
    from onlinear.system.places import check_outputs, check_printed

    rows = files_in(declared, given, ROWS)
    if rows:
        from onlinear.streams.sources import expand, refuse_repeated

        rows = [file for option in rows for file in expand(option)]
        refuse_repeated(rows)
    inputs = [*rows, *files_in(declared, given, INPUT)]
    check_outputs(files_in(declared, given, *WRITTEN), inputs)
    if prints(declared, given):
        advice = "say --quiet, and no --json, or name a file" if "quiet" in declared else "name a file"
        among = (OUTPUT, LOG) if given.get("as_json") else (OUTPUT,)  # bad lines between words harm nobody
        check_printed(files_in(declared, given, *among), inputs, advice)


def prints(declared: Mapping[str, Declared], given: Mapping[str, Any]) -> bool:
    """Whether a command prints what is none of its outputs."""
    if any(each.file == PRINTED for each in declared.values()):
        return False
    return bool(given.get("as_json") or not given.get("quiet"))


def files_in(declared: Mapping[str, Declared], given: Mapping[str, Any], *kinds: str) -> list[Any]:
    """The files of some kinds that were named; a list of rows counts as one."""
    return [
        given[name]
        for name, each in declared.items()
        if each.file in kinds and given.get(name) and given[name] not in each.words
    ]


class Command(click.Command):
    """The command of a function, with an argument or an option for each of its parameters; its help is in panels.

    They are made when they are asked for: of all commands, a process has one.
    """

    def __init__(self, name: str, function: Callable[..., None]) -> None:
        says = inspect.getdoc(function) or ""
        self._function = function
        super().__init__(
            name,
            callback=self._call,
            help=says,
            short_help=says.partition("\n")[0],  # click would cut one that is longer than a line
        )

    @cached_property
    def parameters(self) -> dict[str, list[inspect.Parameter]]:
        """The parameters of the command line for each of the function: itself, or those that it is told together."""
        own = inspect.signature(self._function, eval_str=True).parameters
        together = MANY.get(self._function, {})
        return {name: list(together[name](own)) if name in together else [each] for name, each in own.items()}

    @property
    def declared(self) -> dict[str, Declared]:
        """What the parameters declare, by their names."""
        return {each.name: get_args(each.annotation)[1] for some in self.parameters.values() for each in some}

    @cached_property
    def _params(self) -> list[click.Parameter]:
        return [parameter_of(each) for some in self.parameters.values() for each in some]

    @property
    def params(self) -> list[click.Parameter]:
        return self._params

    @params.setter
    def params(self, given: list[click.Parameter]) -> None:
        """Nothing: click sets none."""

    def _call(self, **given: Any) -> None:
        """Call the function, with a dict for those parameters that it has together."""
        for name in MANY.get(self._function, {}):
            given[name] = {each.name: given.pop(each.name) for each in self.parameters[name]}
        self._function(**given)

    def invoke(self, ctx: click.Context) -> Any:
        from onlinear.cli.ending import ending

        with ending():
            check_files(self.declared, ctx.params)
        return super().invoke(ctx)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        for panel, records in self.panels(ctx).items():
            with formatter.section(panel):
                formatter.write_dl(records)

    def panels(self, context: click.Context) -> dict[str, list[tuple[str, str]]]:
        """The names of all arguments and options with what the help says of them, by panel."""
        found: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(context):
            declared = self.declared.get(parameter.name)
            if isinstance(parameter, click.Argument) and declared:
                found.setdefault(ARGUMENTS, []).append((parameter.human_readable_name, declared.says))
            elif record := parameter.get_help_record(context):
                found.setdefault(declared.panel if declared else OPTIONS, []).append(record)
        return found


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


#: parameters of functions that stand for several of the command line: they are called with the names that there are
MANY: dict[Callable[..., None], dict[str, Several]] = {}


def with_options(name: str, parameters: Several) -> Callable[[Function], Function]:
    """A decorator for commands: in place of the parameter of this name, others, handed to it together as a dict."""

    def decorate(command: Function) -> Function:
        MANY.setdefault(command, {})[name] = parameters
        return command

    return decorate


def of_fields(taken: Collection[str]) -> Iterator[inspect.Parameter]:
    """A parameter for each field of the losses, rules and schedules that no option of the command has."""
    for name, owners in fields().items():
        if name not in taken:
            yield parameter_for(name, float | None, None, Declared(help_of(owners), PANEL))


def of_reading(chosen: Callable[[str, Option], bool]) -> Several:
    """A parameter for each reading option that is chosen, and has a form on the command line."""

    def parameters(taken: Collection[str]) -> Iterator[inspect.Parameter]:
        from onlinear.streams.options import DEFAULTS, read_options

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


def with_some_read_options(*names: str) -> Callable[[Function], Function]:
    """Gives a command those of these names."""
    return with_options("reading", of_reading(lambda name, option: name in names))


def reading_in(given: Mapping[str, Any]) -> dict[str, Any]:
    """The reading options among the values that a command line gives, as Python takes them."""
    from onlinear.streams.options import read_options

    options = {name: each for name, each in read_options().items() if each.kind and given.get(name) is not None}
    return {
        name: [option.value(word) for word in given[name]] if option.repeated else given[name]
        for name, option in options.items()
    }
