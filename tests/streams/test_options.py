"""The reading options: one list, from which signatures, documentation and the command line are made."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import onlinear
from onlinear.cli import app
from onlinear.errors import OnlinearError
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


#: what options are not, and what is said of it
WRONG = [
    ({"header": 0}, "header is 0: choose True or False"),
    ({"header": "no"}, "header is 'no': choose True or False"),
    ({"quoted": 0}, "quoted is 0: choose True or False"),
    ({"keep_names": "no"}, "keep_names is 'no': choose True or False"),
    ({"text": ["town"], "lower": "no"}, "lower is 'no': choose True or False"),
    ({"text": ["town"], "presence": None}, "presence is None: choose True or False"),
    ({"text": ["town"], "ngrams": "2"}, "ngrams is '2': choose 1 to 5"),
    ({"text": ["town"], "ngrams": 2.0}, r"ngrams is 2\.0: choose 1 to 5"),
    ({"bits": "18"}, "bits is '18': choose 1 to 30"),
    ({"bits": 18.5}, r"bits is 18\.5: choose 1 to 30"),
    ({"delimiter": ""}, "'' is no delimiter"),
    ({"delimiter": b","}, "b',' is no delimiter"),
    ({"frequent": {"town": [3000]}}, r"frequent\['town'\] has 3000 among its texts: .*, in quotes"),
]


@pytest.mark.parametrize(("options", "problem"), WRONG, ids=str)
def test_an_option_that_is_of_another_kind_is_refused(tmp_path: Path, options: dict[str, Any], problem: str) -> None:
    """It would mean something else than was said: to pandas ``header=0`` says that there is a header."""
    file = tmp_path / "rows.csv"
    file.write_text("age,town,y\n1,Bern,p\n2,Thun,q\n")
    with pytest.raises(OnlinearError, match=problem):
        onlinear.open_stream(file, target="y", **options)


def test_numbers_and_truth_values_of_numpy_are_those_of_python() -> None:
    options = ReadOptions(header=np.True_, lower=np.False_, ngrams=np.int64(2), bits=np.int64(10), quoted=None)
    assert (options.header, options.lower, options.ngrams, options.bits) == (True, False, 2, 10)
    assert all(type(each) in (bool, int) for each in (options.header, options.lower, options.ngrams, options.bits))
