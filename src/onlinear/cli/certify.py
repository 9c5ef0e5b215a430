"""``onlinear certify``: what is proven about a run; ``onlinear verify``: prove it again."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from onlinear.cli import arguments as cli
from onlinear.cli.commands import with_some_read_options
from onlinear.cli.ending import BAD_DATA, ending, say
from onlinear.system.paths import printable_lines

if TYPE_CHECKING:
    from onlinear.streams.recipe import Recipe

NEEDS_EXPORT = (
    "the certificate is of the rows as the model learns them, not as they stand in the file: "
    "to verify it, write these too (--export rows.svm), and name that file"
)
#: how a refusal begins that rows cause which are not those of the certificate
OF_OTHER_ROWS = ("NOT verified: data_sha256", "NOT verified: rows:")


@with_some_read_options("format", "target")
def certify(
    files: cli.Files,
    model: cli.Certified = None,
    reading: Any = None,
    passes: cli.MostPasses = 100,
    intercept: cli.Intercept = True,
    against: cli.Against = None,
    gap: cli.Gap = 0.01,
    output: cli.CertificateFile = None,
    export: cli.ExportedRows = None,
    as_json: cli.AsJson = False,
) -> None:
    """Prove what can be proven of a model and the rows it has learned: margins, mistake bounds, separability."""
    with ending():
        from onlinear.errors import Refused
        from onlinear.files.trained import open_model
        from onlinear.streams.sources import expand, refuse_pipes
        from onlinear.streams.stream import open_stream
        from onlinear.theory.best_margin import check_gap
        from onlinear.theory.computed import computed_words
        from onlinear.workflow.certificates import certificates_of, classes_of, examples_in, perceptron_of
        from onlinear.workflow.given_weights import read_lines, weights_in
        from onlinear.workflow.run import MOST_PASSES

        check_gap(gap)
        refuse_pipes(expand(files), "a certificate, which reads all rows more than once")
        lines = None if against is None else read_lines(against)  # before anything is learned
        if model is None:
            trained = perceptron_of(open_stream(files, **reading), passes, intercept)
        elif intercept:
            trained = open_model(model)
        else:
            raise Refused(
                "--no-intercept says how a perceptron is learned, and a model is given: leave one of them out"
            )
        weights = None if lines is None else weights_in(lines, trained, files)
        found: Any = certificates_of(trained, files, max(passes, MOST_PASSES), weights, gap)
        if model is not None:
            digest = hashlib.sha256(model.read_bytes()).hexdigest()
            found = change_certificates(found, lambda _: {"file_sha256": digest})
        if export is not None:
            found = export_rows(examples_in(trained, files), len(classes_of(trained)), export, found)
        text = json.dumps(found, indent=2)
        if output is not None:
            with writing(output) as file:
                file.write(f"{text}\n".encode())
        print(text if as_json else printable_lines([*words_of(found), *computed_words(found)]))
        is_kept = output is not None or as_json
        if is_kept and export is None and not learns_as_written(trained.recipe):
            say(NEEDS_EXPORT)


def learns_as_written(recipe: Recipe) -> bool:
    """Whether the rows that a model learns are those in its files, which onlinear verify reads."""
    from onlinear.streams.formats import name_of

    return name_of(recipe.format) == "svmlight" and not recipe.steps()


def export_rows(examples: Any, classes: int, path: str, found: dict[str, Any]) -> dict[str, Any]:
    """Write the prepared rows, and let the certificates speak of their labels."""
    from onlinear.theory.certificates import is_one
    from onlinear.workflow.certificates import export

    with writing(path) as rows:
        labels = export(examples, classes, rows)
    together = is_one(found)
    return change_certificates(found, lambda place: {"classes": labels if together else [None, labels[place]]})


def change_certificates(found: dict[str, Any], change: Callable[[int], dict[str, Any]]) -> dict[str, Any]:
    """A certificate, or each of several, that says some things otherwise under a new seal."""
    from onlinear.theory.certificates import is_one, replace_and_seal

    if is_one(found):
        return replace_and_seal(found, **change(0))
    return {label: replace_and_seal(each, **change(place)) for place, (label, each) in enumerate(found.items())}


@contextmanager
def writing(path: str) -> Iterator[BinaryIO]:
    """A file that takes the place of the one before once it is whole."""
    from onlinear.errors import NotSaved
    from onlinear.system.atomic import replacing

    try:
        with replacing(path) as file:
            yield file
    except OSError as error:
        raise NotSaved(f"{path} cannot be written ({error.strerror}): choose another place, or make room") from error


def words_of(found: dict[str, Any]) -> Iterator[str]:
    """A certificate for people; of several classes one after the other."""
    from onlinear.theory.certificates import claim_of, is_one
    from onlinear.theory.wording import cancelling_words

    if not is_one(found):
        for label, each in found.items():
            yield f"{label if str(label).isprintable() else ascii(label)} against the rest:"
            yield from (f"  {line}" for line in words_of(each))
        return
    yield claim_of(found)
    if found["separable"] is False:
        yield cancelling_words(found)
    if found["replayed"]:
        mistakes = "" if found["mistakes"] is None else f" and {found['mistakes']:,} mistakes"
        yield f"{found['updates']:,} updates{mistakes} in {found['examples']:,} examples."
    else:
        yield (
            "Nothing is proven of the model's run: these rows, learned again in this order, do not make its weights, "
            "in 1,000 passes or as many more as --passes allows. "
            "What is said here holds of its weights on these rows, whatever it has learned from."
        )
    where = "" if found["kernel"][0] == "linear" else " in the kernel's feature space"
    yield f"Every row has length at most {found['radius']:.6g}, the weights {found['norm']:.6g}{where}."
    yield from margin_words(found)
    if found["bound"] is not None:
        yield f"Bound ({found['bound_kind']}): {found['bound']:,.2f}."
    for name in ("inseparable_bound", "hinge_bound"):
        if found[name] is not None:
            yield deviation_words(found, name)


def margin_words(found: dict[str, Any]) -> Iterator[str]:
    """The box that the best margin lies in, how wide it is, and the margin of the weights that were learned."""
    low, high = (found[name] for name in ("margin_lower", "margin_upper"))
    if low is None:
        return
    most = "" if high is None else f", and at most {high:.6g}"
    if high is not None and low > 0.0:
        most += f", which is {1e2 * (high / low - 1.0):.2g} % more"
    yield f"The best margin of any unit vector is at least {low:.6g}{most}; the intercept counts as a weight."
    if low > 0.0 and found["bound"] is not None and found["run_margin"] == "0":
        most = min(len(found["weights"]), 2) * (found["radius"] / low) ** 2
        yield f"So (R / g)^2 = {most:,.2f} bounds the updates of any number of passes."
    if found["separable"] and found["norm"] > 0.0:
        own = float(Fraction(found["least_score"])) / found["norm"]
        yield f"The weights that were learned have the margin {own:.6g}."


def deviation_words(found: dict[str, Any], name: str) -> str:
    """A bound of rows that nothing has to separate, in plain numbers: those of a unit vector u."""
    if not found[name]["norm"]:
        kind = "Hinge loss" if name == "hinge_bound" else "Freund-Schapire"
        return f"{kind}: the best u is 0, which is vacuous: as many updates as trials."
    proven, radius = found[name], math.sqrt(min(len(found["weights"]), 2)) * found["radius"]
    loss, gamma = (float(Fraction(proven[each])) for each in ("loss", "gamma"))
    trials = f"gamma = {gamma / proven['norm']:.6g} over all {found['examples']:,} trials"
    if name == "hinge_bound":
        words = f"Hinge loss: R = {radius:.6g}, and the best u has L = {loss / proven['norm']:.6g} for {trials}: "
        words += f"k <= (L + R sqrt(k)) / gamma, so k <= {proven['bound']:,.2f}"
    else:
        deviation = math.sqrt(loss) / proven["norm"]
        words = f"Freund-Schapire: R = {radius:.6g}, and the best u has D = {deviation:.6g} for {trials}; "
        words += f"Delta = {math.sqrt(radius * deviation):.6g}: ((R + D) / gamma)^2 = {proven['bound']:,.2f}"
    return f"{words}{', which is vacuous: there were no more trials' if proven['vacuous'] else ''}."


def verify(
    certificate: cli.Certificate,
    file: cli.CertifiedRows,
    model: cli.CertifiedModel = None,
    replay: cli.Replay = False,
) -> None:
    """Prove a certificate again, from the rows alone, by code that shares nothing with the learners."""
    with ending():
        if replay:
            from onlinear.replay import main
        else:
            from onlinear.verify import main

        check_readable(certificate, "a certificate that certify has written")
        check_readable(file, "the rows that the certificate is of")
        answer: str | int = ""
        if model is not None:
            from onlinear.workflow.certificates import differing_from, says_sums

            answer = differing_from(model, certificate)
        answer = answer or main([str(certificate), str(file)])
        if answer:
            of_other_rows = any(words in str(answer) for words in OF_OTHER_ROWS)
            say(f"{answer}; is this the file that certify exported (--export)?" if of_other_rows else str(answer))
            raise SystemExit(BAD_DATA)
        if model is not None:
            print("verified, from the model file:")
            if says_sums(certificate):
                print("  Its weights, examples, updates and sums of steps are those of the certificate.")
            else:
                print("  Its weights, examples and updates are those of the certificate, which names no sums of steps.")


def check_readable(path: Path, wanted: str) -> None:
    """Refuse what is not there, or may not be read; nothing is opened, since a pipe could not be opened twice."""
    from onlinear.errors import BadSource
    from onlinear.system.paths import STANDARD, printable

    name = printable(path)
    if not path.exists():
        if name == STANDARD:
            raise BadSource(f"standard input is not read by verify: save it to a file, and name {wanted}")
        raise BadSource(f"{name}: no such file: name {wanted}")
    if path.is_dir():
        raise BadSource(f"{name}: is a directory: name {wanted}")
    if not os.access(path, os.R_OK):
        raise BadSource(f"{name}: may not be read by you: change its mode (chmod +r), or name {wanted}")
