"""``onlinear select``: the whole job, from a table with a target column to a chosen and tested model."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from onlinear.cli import arguments as cli
from onlinear.cli.ending import ending
from onlinear.workflow.watching import Watcher

PYTHON = """import onlinear

labels = onlinear.predict({model!r}, {file!r})"""


def select(
    files: cli.MaybeFiles = None,
    target: cli.Target = None,
    test: cli.HeldOutFiles = None,
    time: cli.TimeColumn = None,
    in_order: cli.InOrder = False,
    group: cli.GroupColumn = None,
    weight: cli.Weight = None,
    ignore: cli.Ignore = None,
    keep: cli.Keep = None,
    categories: cli.Categories = None,
    text: cli.TextColumns = None,
    missing: cli.Missing = None,
    header: cli.Header = None,
    delimiter: cli.Delimiter = None,
    format: cli.Format = None,
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
        from onlinear.cli.beginning import column
        from onlinear.cli.certify import writing
        from onlinear.errors import Refused
        from onlinear.modelfile import save
        from onlinear.report import page, words
        from onlinear.workflow.asked import Asked
        from onlinear.workflow.ledger import NAME, Ledger
        from onlinear.workflow.select import select as whole_job

        if repeat is not None:
            asked = Asked.repeated(repeat)
        elif not files:
            raise Refused("there is nothing to read: name at least one file, or the result to --repeat")
        else:
            asked = Asked(
                files=list(files),
                target=column(target),
                test_files=list(test or ()),
                time=column(time),
                in_order=in_order,
                group=column(group),
                weight=column(weight),
                ignore=[column(each) for each in ignore or ()],  # type: ignore[misc]
                keep=[column(each) for each in keep or ()],  # type: ignore[misc]
                categories=[column(each) for each in categories or ()],  # type: ignore[misc]
                text=[column(each) for each in text or ()],  # type: ignore[misc]
                missing=list(missing or ()),
                header=header,
                delimiter=delimiter,
                format=format,
                task=task,
                names=names,
                scale=scale,
                clip=clip,
                ranges=ranges,
                losses=list(losses or ()),
                rules=list(rules or ()),
                configurations=configurations,
                folds=folds,
                passes=passes,
                test_share=test_share,
                replicates=replicates,
                on_drift=on_drift,
                seed=seed,
                references=references,
            )
        path = model or Path(f"{stem_of(asked.files[0])}.onlinear")
        page_path = report or path.with_name(f"{path.stem}.report.html")
        with watching(quiet or as_json) as watcher:
            found = whole_job(
                asked, Ledger(path.with_name(NAME)), watcher, on_model=lambda trained: save(path, trained)
            )
            result = found.result
            save(path, found.trained)
            finish(result, path, page_path)
            if export is not None:
                result["certificate"] = exported_rows(found, export)
            if result["certificate"] is not None:
                with writing(result["files"]["certificate"]) as file:
                    file.write(json.dumps(result["certificate"], indent=1).encode() + b"\n")
            with writing(str(page_path)) as file:
                file.write(page(result).encode())
        if as_json:
            print(json.dumps(result, indent=1))
        elif not quiet:
            print("\n".join(words(result)))


def exported_rows(found: Any, path: str) -> dict[str, Any]:
    """Write the rows that the certificate speaks of, for ``onlinear verify``; the certificate with their labels."""
    from onlinear.cli.certify import exported
    from onlinear.errors import Refused

    if found.certified is None:
        raise Refused("nothing was proven, so there are no rows to export: leave out --export")
    certificate = found.result["certificate"]
    return exported(found.certified, len(certificate["classes"]), path, certificate)


def stem_of(file: str) -> str:
    """The name of a file without what says how it is written: data of data.csv.gz."""
    name = Path(file).name
    return name.split(".")[0] or name


def finish(result: dict[str, Any], path: Path, page_path: Path) -> None:
    """Say in the result where everything is, and how to go on with it."""
    proof = str(path.with_name(f"{path.stem}.certificate.json")) if result["certificate"] is not None else None
    result["files"] |= {"model": str(path), "certificate": proof, "report": str(page_path)}
    result["asked"]["command"] = shlex.join(["onlinear", *sys.argv[1:]])
    example = (result["asked"]["test_files"] or result["asked"]["files"])[0]
    result["use"] = {
        "command": shlex.join(["onlinear", "predict", str(path), example]),
        "python": PYTHON.format(model=str(path), file=example),
    }


class Steps(Watcher):
    """A line for each step."""

    def __init__(self) -> None:
        self.stopped = False
        self._step = ""
        self._before: Any = None

    def tell(self, step: str, share: float) -> None:
        if step != self._step:
            self._step = step
            self.show(step)

    def show(self, step: str) -> None:
        print(f"{step} ...", file=sys.stderr, flush=True)

    def __enter__(self) -> Steps:
        self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        """A first Ctrl-C ends what can be ended early; a second one everything."""
        if self.stopped:
            raise KeyboardInterrupt
        self.stopped = True
        print("ending with what is done; once more to end at once", file=sys.stderr, flush=True)


class Silent(Steps):
    """Shows nothing, but ends early all the same."""

    def show(self, step: str) -> None: ...


class Bar(Steps):
    """A bar that fills with each step."""

    def __enter__(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns: tuple[Any, ...] = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task("", total=None)
        self.bar.start()
        super().__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self.bar.stop()

    def tell(self, step: str, share: float) -> None:
        self.bar.update(self.task, description=step, total=1.0 if share else None, completed=share)


def watching(silent: bool) -> Steps:
    """What suits whoever looks."""
    if silent:
        return Silent()
    return Bar() if sys.stderr.isatty() else Steps()
