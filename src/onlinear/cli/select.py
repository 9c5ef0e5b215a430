"""``onlinear select``: the whole job, from a table with a target column to a chosen and tested model."""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from onlinear.cli import arguments as cli
from onlinear.cli.commands import with_profile_options
from onlinear.cli.ending import Interrupted, ending
from onlinear.cli.jsontext import json_text
from onlinear.cli.progress import steps_for
from onlinear.system.paths import as_argument, printable

#: what may be said of a selection that is repeated
BESIDE_REPEAT = ("files", "test", "repeat", "model", "report", "export", "as_json", "quiet")

#: what the names of models end with
MODEL = ".onlinear"

#: what tells our reports and certificates, near their beginning
OURS, LOOK = (b"<title>A linear model", b'"onlinear_certificate"'), 1000

CHANGED = "The data are not those of {} any more, so this is no repetition of it."

PYTHON = """import onlinear

labels = onlinear.predict({model!r}, {file!r})"""


@with_profile_options
def select(
    files: cli.MaybeFiles = None,
    reading: Any = None,
    test: cli.HeldOutFiles = None,
    time: cli.TimeColumn = None,
    in_order: cli.InOrder = False,
    group: cli.GroupColumn = None,
    keep: cli.Keep = None,
    names: cli.SomeNames = None,
    scale: cli.SomeScale = None,
    clip: cli.Clip = True,
    ranges: cli.SomeRanges = None,
    task: cli.Task = None,
    losses: cli.Losses = None,
    rules: cli.Rules = None,
    configurations: cli.Configurations = 0,
    folds: cli.Folds = None,
    passes: cli.SomePasses = None,
    test_share: cli.TestShare = 0.2,
    replicates: cli.Replicates = 30,
    on_drift: cli.OnDriftOf = "ignore",
    references: cli.References = True,
    seed: cli.Seed = 0,
    repeat: cli.Repeat = None,
    model: cli.Model = None,
    report: cli.ReportFile = None,
    export: cli.CertifiedExport = None,
    as_json: cli.AsJson = False,
    quiet: cli.Quiet = False,
) -> None:
    """Choose, learn, test and explain a model of a table: columns, recipe, race, one honest test, report."""
    with ending():
        from onlinear.errors import Refused
        from onlinear.files.trained import save
        from onlinear.streams.sources import expand
        from onlinear.system.atomic import replacing
        from onlinear.system.paths import printable_lines
        from onlinear.system.pipes import remove
        from onlinear.system.places import check_outputs, is_in_place
        from onlinear.workflow.ledger import NAME, Ledger
        from onlinear.workflow.report import page, words
        from onlinear.workflow.select import select as whole_job
        from onlinear.workflow.select_options import result_in

        context = click.get_current_context()
        asked = select_options(context.params, reading) if repeat is None else repeated_options(repeat, context)
        files = expand(asked.files)
        path = model or Path(f"{stem_of(files[0])}{MODEL}")
        page_path = report or path_beside(path, "report.html")
        if is_in_place(path):
            raise Refused(
                f"{printable(path)} is no file, and select writes others beside the model: name a file with --model"
            )
        origin = origin_of(files, path)
        ledger = Ledger(path.with_name(NAME))
        outputs = [path, page_path, proof_path(path), ledger.path, *([] if export is None else [export])]
        check_outputs(outputs, [*expand(asked.files + asked.test_files), *([] if repeat is None else [repeat])])
        unnamed = [proof_path(path), *([page_path] if report is None else [])]
        refuse_others(path, unnamed, origin, named=model is not None)
        with steps_for(quiet or as_json) as watcher:

            def save_model(trained: Any) -> None:
                remove_of_earlier(page_path, proof_path(path))
                save(path, trained, origin=origin)

            found = whole_job(asked, ledger, watcher, on_model=save_model)
            result = found.result
            finish(result, path, page_path)
            if repeat is not None and result_in(repeat)["data"]["sha256"] != result["data"]["sha256"]:
                result["notes"].insert(0, CHANGED.format(repeat))
            if export is not None and found.certified is not None:
                result["certificate"] = exported_rows(found, export)
            if result["certificate"] is not None:
                with replacing(result["files"]["certificate"]) as file:
                    file.write(json.dumps(result["certificate"], indent=1).encode() + b"\n")
            else:
                remove(proof_path(path))  # what an earlier selection has proven is not of this model
            with replacing(page_path) as file:
                file.write(page(result).encode())
        if as_json:
            print(json_text(result, indent=1))
        elif not quiet:
            print(printable_lines(words(result)))
        if watcher.ended_by is not None:
            raise Interrupted(watcher.ended_by)  # what is done is kept, but it is not all that was asked for
        if export is not None and found.certified is None:
            raise Refused("nothing was proven, so there are no rows to export: leave out --export")


def select_options(options: dict[str, Any], reading: dict[str, Any]) -> Any:
    """What the options of the command line ask for."""
    from onlinear.cli.commands import reading_in
    from onlinear.errors import Refused
    from onlinear.streams.options import ReadOptions
    from onlinear.workflow.select_options import SelectOptions

    if not options["files"]:
        raise Refused("there is nothing to read: name at least one file")
    own = {each.name for each in fields(SelectOptions)} & options.keys() - {"files"}
    wanted: dict[str, Any] = {name: options[name] for name in own} | {"test_files": options["test"]}
    wanted |= {name: list(wanted[name] or ()) for name in ("test_files", "losses", "rules", "keep")}
    return SelectOptions(options["files"], ReadOptions(**reading_in(reading)), **wanted)


def repeated_options(repeat: Path, context: click.Context) -> Any:
    """What a result asked for, which says all there is to say but what to read and where to write."""
    from onlinear.errors import Refused
    from onlinear.workflow.select_options import SelectOptions

    said = [name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    others = [each for each in context.command.params if each.name in said and each.name not in BESIDE_REPEAT]
    if others:
        name = others[0].opts[0]
        raise Refused(f"{name} cannot be said beside --repeat, which does what {repeat} says: leave out one of them")
    asked = SelectOptions.from_result(repeat, context.params["files"] or (), context.params["test"] or ())
    options = asked.options()
    for each in context.command.params:  # what the command line would refuse
        value = options.get(str(each.name))
        if value not in (None, [], ()):
            each.type_cast_value(context, value)
    return asked


def exported_rows(found: Any, path: str) -> dict[str, Any]:
    """Write the rows that the certificate speaks of, for ``onlinear verify``; the certificate with their labels."""
    from onlinear.cli.certify import export_rows

    certificate = found.result["certificate"]
    return export_rows(found.certified, len(certificate["classes"]), path, certificate)


def proof_path(path: Path) -> Path:
    """Where the certificate of a model goes: beside it."""
    return path_beside(path, "certificate.json")


def path_beside(path: Path, ending: str) -> Path:
    """A file that belongs to a model, and to no other one."""
    return path.with_name(f"{path.name.removesuffix(MODEL) or path.name}.{ending}")


def stem_of(file: str) -> str:
    """The name of a file without what says how it is written: data.v2 of data.v2.csv.gz."""
    from onlinear.streams.formats import EXTENSIONS
    from onlinear.streams.sources import inner_name

    name = Path(inner_name(Path(file).name))
    return name.stem if name.suffix.lower() in EXTENSIONS else name.name


def origin_of(files: list[str], path: Path) -> list[str]:
    """The files that a model is selected from, as they lie from it: the same wherever both are."""
    folder = os.path.realpath(path.parent)
    return [printable(os.path.relpath(os.path.realpath(file), folder)) for file in files]


def refuse_others(path: Path, beside: list[Path], origin: list[str], *, named: bool) -> None:
    """Refuse to replace what nobody has named, unless it is of an earlier selection.

    That is one from the same files; if somebody has ``named`` the model, what goes beside it may be of any selection.
    """
    from onlinear.errors import Refused
    from onlinear.files.trained import origin_in

    there = [each for each in ([] if named else [path]) + beside if os.path.lexists(each)]
    if there and origin_in(path) != origin:
        others = [each for each in there if not is_ours(each)] if named else there
        if others:
            whose = "from a selection" if named else f"from a selection of {origin[0]}"
            raise Refused(
                f"{printable(others[0])} is there already, and not {whose}: name another with --model, or move it away"
            )


def is_ours(path: Path) -> bool:
    """Whether a file begins as a report or a certificate of ours."""
    if not path.is_file():
        return False
    try:
        with open(path, "rb") as file:
            beginning = file.read(LOOK)
    except OSError:  # whatever it is, it is somebody else's
        return False
    return any(words in beginning for words in OURS)


def remove_of_earlier(*outputs: Path) -> None:
    """Remove what an earlier selection has written of its model: whatever ends this one, it is not beside the new."""
    from onlinear.system.pipes import remove

    for path in filter(is_ours, outputs):
        remove(path)


def finish(result: dict[str, Any], path: Path, page_path: Path) -> None:
    """Say in the result where everything is, and how to go on with it."""
    proof = str(proof_path(path)) if result["certificate"] is not None else None
    result["files"] |= {"model": str(path), "certificate": proof, "report": str(page_path)}
    result["asked"]["command"] = shlex.join(["onlinear", *sys.argv[1:]])
    example = (result["asked"]["test_files"] or result["asked"]["files"])[0]
    result["use"] = {
        "command": shlex.join(["onlinear", "predict", as_argument(path), as_argument(example)]),
        "python": PYTHON.format(model=str(path), file=example),
    }
