"""The reading options: one list, from which signatures, documentation and the command line are made."""

from __future__ import annotations

import inspect
from dataclasses import fields

import click
import pytest

import onlinear
from onlinear.cli import app
from onlinear.streams.options import DEFAULTS, ReadOptions, read_options

NAMES = [each.name for each in fields(ReadOptions)]
PROFILED = [name for name in NAMES if read_options()[name].profiled]


@pytest.mark.parametrize(
    ("function", "names"), [("open_stream", NAMES), ("race", NAMES), ("profile_of", PROFILED)], ids=str
)
def test_functions_show_every_option_with_its_default_and_what_it_means(function: str, names: list[str]) -> None:
    found = getattr(onlinear, function)
    shown = inspect.signature(found).parameters
    assert [name for name in shown if name in NAMES] == names
    for each in fields(ReadOptions):
        if each.name in names:
            assert shown[each.name].default == each.default
            assert f"\n{each.name} : " in inspect.getdoc(found)
    assert "{options}" not in found.__doc__


@pytest.mark.parametrize("function", ["open_stream", "race", "profile_of"])
def test_an_option_that_there_is_not_is_refused_by_name(function: str) -> None:
    with pytest.raises(TypeError, match=rf"{function}\(\) got an unexpected keyword argument 'tarket'"):
        getattr(onlinear, function)("rows.csv", tarket="y")
    with pytest.raises(TypeError, match=r"profile_of\(\) got an unexpected keyword argument 'ngrams'"):
        onlinear.profile_of("rows.csv", ngrams=2)


@pytest.mark.parametrize(("command", "names"), [("train", NAMES), ("select", PROFILED)])
def test_the_command_line_has_every_option(command: str, names: list[str]) -> None:
    found = {each.name: each for each in app.commands[command].params}
    for name in names:
        option = read_options()[name]
        if option.kind is not None:
            parameter = found[name]
            assert isinstance(parameter, click.Option)
            assert parameter.help == option.help
            assert parameter.multiple == option.repeated
            assert option.repeated or parameter.default == getattr(DEFAULTS, name)
