"""A certificate for people: what a teacher would put on a slide, in lines that any terminal has room for."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from onlinear.system.outputs import printable
from onlinear.theory.certificates import bound_words, is_one, is_plain, share_words, undecided_words
from onlinear.theory.rule_bounds import words_for
from onlinear.theory.wording import cancelling_words

WIDTH = 80
GLUE = "\N{NO-BREAK SPACE}"
NOVIKOFF = "Novikoff"
#: why a run was not learned again, by the word that a certificate has for it
NOT_AGAIN = {
    "slim": "it was saved slim, without what it takes to learn these rows again.",
    "adapted": "it was changed where its data drifted, and these rows cannot be learned again as it has had them.",
}
UNLIKE = (
    "these rows, learned again in this order, do not make its weights, in 1,000 passes or as many more as --passes "
    "allows."
)
#: rows of a table: their cells, and a text that may take several lines
Texts = Sequence[tuple[list[str], str]]


def slide_of(found: dict[str, Any]) -> Iterator[str]:
    """A certificate, or that of each class one after the other, and what is computed beside it."""
    if is_one(found):
        yield from lines_of(found, WIDTH)
    else:
        for label, each in found.items():
            yield f"{shown(label)} against the rest:"
            yield from (f"  {line}".rstrip() for line in lines_of(each, WIDTH - 2))
            yield ""
    yield from computed_lines(found)


def lines_of(found: dict[str, Any], width: int) -> Iterator[str]:
    """One certificate: the rows, the run, the best margin, and at most how many updates there are."""
    yield from wrap(rows_words(found), width)
    for words in separable_words(found):
        yield from wrap(words, width)
    yield ""
    for words in run_words(found):
        yield from wrap(words, width)
    if found["separable"] is not False and found["margin_lower"] is not None:
        yield ""
        yield from wrap(margin_words(found), width)
    if found["bound"] is not None:
        yield ""
        yield from bound_lines(found, width)


def rows_words(found: dict[str, Any]) -> str:
    """How many rows, how long, and in which space."""
    name, *_, squared = found["kernel"]
    constant = math.sqrt(Fraction(squared))
    space = f"with {constant:g} for the intercept" if constant else "no intercept"
    if name != "linear":
        space = "in the kernel's feature space"
    return f"{counted(found['rows'], 'row')}, none longer than R = {found['radius']:.6g} ({space})."


def separable_words(found: dict[str, Any]) -> list[str]:
    if found["separable"] is None:
        return [undecided_words(found)]
    if found["separable"]:
        return ["Separable: the witness has a positive margin on every row."]
    return ["Not separable: the witness combines the rows to zero.", cancelling_words(found)]


def run_words(found: dict[str, Any]) -> Iterator[str]:
    """What the learner did, if these rows make the same again, and the weights that it answers with."""
    if found["replayed"] or found["run_pull"] is not None:
        mistakes = "" if found["mistakes"] is None else f" and {counted(found['mistakes'], 'mistake')}"
        trials = f"{counted(found['examples'], 'trial')} ({counted(found['passes'], 'pass', 'passes')})"
        whose = "" if found["replayed"] else ", by the learner's word"
        yield f"The run{whose}: {counted(found['updates'], 'update')}{mistakes} in {trials}."
    else:
        yield (
            f"Nothing is proven of the model's run: {NOT_AGAIN.get(str(found['replay']), UNLIKE)} "
            "What is said here holds of its weights on these rows, whatever it has learned from."
        )
    if found["norm"] > 0.0:
        margin = ""
        if found["separable"]:
            margin = f" and the margin {float(Fraction(found['least_score'])) / found['norm']:.6g}"
        yield f"Its weights have the length {found['norm']:.6g}{margin}."


def margin_words(found: dict[str, Any]) -> str:
    """The box that the best margin lies in, how wide it is, and the share of it that is promised."""
    low, high = found["margin_lower"], found["margin_upper"]
    most = "" if high is None else f" <= {high:.6g}"
    if high is not None and low > 0.0 and high > low:
        most += f", known to {max(1e2 * (high / low - 1.0), 1e-4):.2g} %"
    return f"The best margin g of a unit vector: {low:.6g} <= g{most}. {share_words(found)}".rstrip()


def bound_lines(found: dict[str, Any], width: int) -> Iterator[str]:
    """The bounds that are proven, each with its formula and numbers, and that the least of them holds."""
    rows = [row for row in (novikoff_row(found), *map(deviation_row, deviations_in(found))) if row is not None]
    if rows:
        yield f"At most how many updates, of {counted(found['examples'], 'trial')}?"
        yield from table(rows, width)
    yield from wrap(bound_words(found), width)


def novikoff_row(found: dict[str, Any]) -> tuple[list[str], str] | None:
    """That of separable rows, if the run is one of equal steps."""
    low = found["margin_lower"]
    if low is None or low <= 0.0 or not is_plain(found):
        return None
    stretch = "2 " if len(found["weights"]) > 1 else ""
    if found["run_margin"] == "0":
        most, formula = (2.0 if stretch else 1.0) * (found["radius"] / low) ** 2, f"{stretch}(R / g)^2"
        return [NOVIKOFF, f"{most:,.2f}"], f"{formula}, in any number of passes"
    return [NOVIKOFF, f"{found['bound']:,.2f}"], f"({stretch}R^2 + 2 beta / a) / g^2, in any number of passes"


def deviations_in(found: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, bool]]:
    """The bounds of rows that nothing has to separate, whether that of the hinge loss, and what R is stretched by."""
    stretch = "sqrt(2) R" if len(found["weights"]) > 1 else "R"
    for name in ("inseparable_bound", "hinge_bound"):
        if found[name] is not None:
            yield {**found[name], "radius": found["radius"]}, stretch, name == "hinge_bound"


def deviation_row(given: tuple[dict[str, Any], str, bool]) -> tuple[list[str], str]:
    """One of them, in the plain numbers of a unit vector u."""
    proven, radius, is_hinge = given
    cells = ["hinge loss" if is_hinge else "Freund-Schapire", f"{proven['bound']:,.2f}"]
    if not proven["norm"]:
        return cells, "vacuous: the best u is 0"
    loss, gamma = (float(Fraction(proven[each])) for each in ("loss", "gamma"))
    at = f"gamma = {gamma / proven['norm']:.6g}"
    if is_hinge:
        words = f"k <= (L + {radius} sqrt(k)) / gamma: L = {loss / proven['norm']:.6g}, {at}"
    else:
        deviation = math.sqrt(loss) / proven["norm"]
        length = math.sqrt(2.0 if radius != "R" else 1.0) * proven["radius"]
        words = f"(({radius} + D) / gamma)^2: D = {deviation:.6g}, {at}, Delta = {math.sqrt(length * deviation):.6g}"
    return cells, f"{words}{'; vacuous' if proven['vacuous'] else ''}"


# ------------------------------------------------------------------ what is computed beside certificates


def computed_lines(found: dict[str, Any]) -> Iterator[str]:
    """What is computed beside a certificate, or beside each of several: what all have in common once, at the end."""
    each = {"": found} if is_one(found) else found
    known = {name: one["computed"] for name, one in each.items() if one.get("computed")}
    if not known:
        return
    if is_one(found):
        yield ""
    yield "Computed by onlinear, and not checked by onlinear verify:"
    for name, computed in known.items():
        whose = f"{shown(name)} against the rest: " if len(each) > 1 else ""
        if "against" in computed:
            yield from wrap(f"{whose}{own_words(computed['against'])}", WIDTH, "  ")
        if computed.get("theorem") is not None:
            yield from wrap(f"{whose}{words_for(computed['theorem'])}", WIDTH, "  ")
    of_first_pass = next(iter(known.values())).get("online_to_batch")
    if of_first_pass is not None:
        yield from new_rows_lines(of_first_pass)


def own_words(found: dict[str, Any]) -> str:
    """What weights of the user's own prove."""
    if found["margin"] is None:
        return "Your weights are all 0, and have no margin."
    said = f"Your weights have the margin {found['margin']:.6g}"
    if found["bound"] is None:
        return f"{said}."
    vacuous = ", vacuous" if found["vacuous"] else ""
    return f"{said}, and prove at most {found['bound']:,.2f} updates ({found['bound_kind']}{vacuous})."


def new_rows_lines(found: dict[str, Any]) -> Iterator[str]:
    """What follows for new rows if all are drawn alike."""
    if "refused" in found:
        yield from wrap(f"Nothing follows for new rows: {found['refused']}.", WIDTH, "  ")
        return
    sure = f"the error on new rows, with {100 * found['confidence']:g} % confidence each"
    yield from (f"  {line}" for line in wrap(f"{found['assumption'].capitalize()}: {sure}", WIDTH - 2))
    drawn, picked, any_time = (found[name] for name in ("drawn_at_random", "picked", "at_any_time"))
    low, high = any_time["mean_error"]
    rows = [
        ([error_words(drawn)], f"of a hypothesis drawn at random from the first pass ({drawn['theorem']})"),
        ([error_words(picked)], f"of the one that the penalised estimate picks ({picked['theorem']})"),
        (
            [f"{100 * low:.2f} to {100 * high:.2f} %"],
            f"of its hypotheses in the mean, whenever one looks ({any_time['theorem']})",
        ),
        (["no bound"], "on the mistakes of their average: the 0/1 loss is not convex"),
    ]
    yield from (f"  {line}" for line in table(rows, WIDTH - 2))


def error_words(bound: dict[str, Any]) -> str:
    return "vacuous: 100 %" if bound["vacuous"] else f"at most {100 * bound['error_at_most']:.2f} %"


# ------------------------------------------------------------------ lines


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """A text in lines, of which none begins within a number; those behind the first are indented once more if it is.

    >>> wrap("The bound holds of k = 5 rows.", 22, "  ")
    ['  The bound holds of', '    k = 5 rows.']
    """
    together = printable(text).replace(" = ", f"{GLUE}={GLUE}").replace(" %", f"{GLUE}%")
    lines = textwrap.wrap(
        together,
        width,
        initial_indent=indent,
        subsequent_indent=2 * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(GLUE, " ") for line in lines]


def table(rows: Texts, width: int) -> Iterator[str]:
    """Lines with a first column of names, others of numbers, and a text that goes on below itself.

    >>> list(table([(["one", "1.00"], "in a few words"), (["two", "12.00"], "")], 25))
    ['  one   1.00  in a few', '              words', '  two  12.00']
    """
    widths = [max(map(len, column)) for column in zip(*(cells for cells, _ in rows), strict=True)]
    for (first, *others), text in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(size) for cell, size in zip(others, widths[1:], strict=True)]
        begun = f"  {'  '.join(cells)}  "
        lines = wrap(text, width - len(begun)) or [""]
        yield f"{begun}{lines[0]}".rstrip()
        yield from (f"{' ' * len(begun)}{line}" for line in lines[1:])


def counted(number: int, one: str, several: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "update"), counted(1200, "pass", "passes")
    ('1 update', '1,200 passes')
    """
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def shown(label: Any) -> str:
    return str(label) if str(label).isprintable() else ascii(label)
