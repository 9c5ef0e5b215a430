"""Choice: what becomes of each column of a table, with the reasons, and a stream of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onlinear.errors import BadInput, Refused
from onlinear.streams.options import BITS, several
from onlinear.streams.stream import Stream, open_stream
from onlinear.workflow.profile import sentences
from onlinear.workflow.profile.columns import ColumnProfile
from onlinear.workflow.profile.table import Profile

#: so many names have a weight each; more are hashed
MOST_NAMES = 50_000
#: weights for each hashed name, so that few of them share one; and at most 2**MOST_BITS of them
WEIGHTS_OF_A_NAME, MOST_BITS = 4, 24
#: categories with fewer rows share one feature, if there are at least two of them
RARE_BELOW, FEWEST_RARE = 5, 2

#: with fewer rows, a weight for each range is learned from too few of them
FEWEST_ROWS = 2_000

#: why a column is ignored, by what is true of it
REASONS = {"empty": "all missing", "constant": "always the same", "id": "an id", "useless": "dates, each for itself"}


@dataclass(frozen=True, slots=True)
class Choice:
    """The recipe for a table.

    ``roles`` says of each column what it is: "feature", "target", "ignored", "time", "group" or "weight"; ``sentences``
    say what is done, one a choice; ``stream`` are the options for :func:`onlinear.open_stream`. Rows without a target
    are bad lines to a stream: give it ``on_bad`` if the profile has counted any.
    """

    profile: Profile
    roles: dict[str, str]
    sentences: list[str]
    stream: dict[str, Any]

    def columns(self) -> list[dict[str, Any]]:
        """The columns for JSON, each with its role."""
        return [column.as_dict() | {"role": self.roles[column.name]} for column in self.profile.columns]

    def open(self, source: Any = None, **others: Any) -> Stream:
        """A stream of the table, read as the recipe says; or of another one, if that means the same there.

        It does not where columns are numbered as their names come, or scaled by the rows that were read.
        """
        if source is not None and (self.stream["names"] == "exact" or self.stream["scale"] not in (None, "unit")):
            raise Refused(
                "another table would be numbered and scaled anew, and a model of this one would misread it: choose "
                'names="hashed" and scale="none", or let onlinear select make a model, which onlinear.predict asks'
            )
        profiled = self.profile.sources
        return open_stream(
            (profiled if isinstance(profiled[0], str) else profiled[0]) if source is None else source,
            **self.stream | others,
        )


def choose_recipe(
    profile: Profile,
    *,
    keep: str | int | Sequence[str | int] = (),
    names: str | None = None,
    scale: str | None = None,
    clip: bool = True,
    ranges: bool | None = None,
    rare_below: int = RARE_BELOW,
) -> Choice:
    """What to do with the columns of a table, from its profile.

    Ids, constants and columns of which nothing is known are ignored, and so is what gives the target away.

    Parameters
    ----------
    profile : what :func:`onlinear.profile_of` has found
    keep : columns to learn from all the same
    names : "exact" or "hashed"; by default exact for up to 50,000 names
    scale : "standardise", "max-abs" or "none"; by default numbers are standardised
    clip : whether outliers are clipped
    ranges : whether numbers also give the range that they lie in; by default if there are at least 2,000 rows, and
        these come in no order of time, as later numbers may lie in other ranges
    rare_below : categories with fewer rows than that share one feature; with 0 or 1, none do
    """
    kept = {profile.column(name).name for name in several(keep, "keep")}
    ignored = {column.name: reason for column in profile.columns if (reason := reason_against(column, kept))}
    features = [column for column in profile.columns if column.role == "feature" and column.name not in ignored]
    if not features:
        raise nothing_left(ignored, [column.misread for column in profile.columns if column.misread])
    frequent = {column.name: found for column in features if (found := frequent_of(column, rare_below))}
    bounds = {column.name: column.bounds for column in features if clip and column.bounds is not None}
    cut = cuts(profile) if ranges is None else ranges
    edges = {column.name: column.edges for column in features if cut and column.kind == "number" and column.edges}
    scaling = scaling_of(features, scale)
    naming = naming_of(names, names_in(features, frequent, edges, profile.rows))
    roles = {column.name: "ignored" if column.name in ignored else column.role for column in profile.columns}
    said = sentences.of_recipe(features, ignored, kept, scaling, naming, bounds, edges, frequent, rare_below)
    stream = profile.reading | naming | {"scale": scaling, "clip": bounds, "frequent": frequent, "ranges": edges}
    stream["ignore"] = [name for name, role in roles.items() if role in ("ignored", "time", "group")]
    stream["text"] = [column.name for column in features if column.kind == "text"]
    return Choice(profile, roles, said, stream)


def nothing_left(ignored: dict[str, str], misread: Sequence[str]) -> BadInput:
    if misread:
        return BadInput(f"no column is left to learn from ({sentences.of_ignored(ignored)}). {misread[0]}")
    if not ignored:
        return BadInput("there is no column beside the target to learn from: is the delimiter right?")
    return BadInput(f"no column is left to learn from: {sentences.of_ignored(ignored)}; keep one of them (--keep)")


def reason_against(column: ColumnProfile, kept: set[str]) -> str | None:
    """Why a feature is ignored, if it is."""
    if column.strange is not None:
        reason = f"of the type {column.strange}, neither numbers nor texts"
        if column.name in kept:
            raise Refused(f"column {column.name!r} cannot be kept, as it is {reason}: convert it first")
        return reason
    if column.role != "feature":
        return None
    if column.leak and column.name not in kept:
        return sentences.LEAK
    reasons = [reason for name, reason in REASONS.items() if getattr(column, name)]
    return reasons[0] if reasons and (column.empty or column.name not in kept) else None


def frequent_of(column: ColumnProfile, rare_below: int) -> tuple[str, ...] | None:
    """The categories of a column that are not rare; None if it has hardly any rare ones, or not all are known."""
    known = column.categories
    if column.kind != "category" or known is None:
        return None
    frequent = tuple(sorted(name for name, count in known.items() if count >= rare_below))
    return frequent if len(known) - len(frequent) >= FEWEST_RARE else None


def cuts(profile: Profile) -> bool:
    """Whether numbers are cut into ranges by default.

    Not in order of time: later numbers may lie in ranges of which little was learned. On the prices of electricity the
    winner's progressive error was 8.4 % without ranges, and 11.9 % with them.
    """
    return profile.rows >= FEWEST_ROWS and profile.times is None


def scaling_of(features: Sequence[ColumnProfile], scale: str | None) -> str | None:
    if scale is None:
        return "standardise" if any(column.kind == "number" for column in features) else None
    return None if scale == "none" else scale


def names_in(
    features: Sequence[ColumnProfile],
    frequent: dict[str, tuple[str, ...]],
    edges: dict[str, tuple[float, ...]],
    rows: int,
) -> int:
    """How many names there will be, at most; of texts, as many as words."""
    total = 0
    for column in features:
        missing = int(column.missing > 0.0)
        if column.kind == "number":
            total += 1 + missing + (len(edges[column.name]) + 1 if column.name in edges else 0)
        elif column.kind == "text":
            total += int(rows * column.words) + missing
        else:
            several = len(frequent[column.name]) + 1 if column.name in frequent else column.distinct
            total += (rows if column.capped else several) + missing
    return total


def naming_of(names: str | None, count: int) -> dict[str, Any]:
    """How so many names become columns, as options of a stream."""
    if names == "exact" or (names is None and count <= MOST_NAMES):
        return {"names": "exact"}
    bits = (WEIGHTS_OF_A_NAME * count - 1).bit_length()
    return {"names": names or "hashed", "bits": min(max(bits, BITS), MOST_BITS), "keep_names": True}
