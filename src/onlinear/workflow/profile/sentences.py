"""The sentences of a recipe: what is done with the columns, one a choice."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from onlinear.workflow.profile.columns import ColumnProfile

LEAK = "it gives the target away"
#: names that a sentence has room for
NAMED = 6
#: so many different whole numbers may be codes
CODES = range(3, 21)
KINDS = {"number": "numbers", "category": "categories", "text": "texts"}


def of_recipe(
    features: Sequence[ColumnProfile],
    ignored: Mapping[str, str],
    kept: Collection[str],
    scaling: str | None,
    naming: Mapping[str, Any],
    bounds: Mapping[str, tuple[float, float]],
    edges: Mapping[str, tuple[float, ...]],
    frequent: Mapping[str, tuple[str, ...]],
    rare_below: int,
) -> list[str]:
    """All sentences, the most important first."""
    said = of_leaks(features, ignored, kept)
    others = {name: reason for name, reason in ignored.items() if reason != LEAK}
    if others:
        said.append(f"Not learned from: {of_ignored(others)}.")
    said.append(of_features(features))
    said += of_texts(features) + of_scaling(scaling) + of_bounds(features, bounds) + of_ranges(edges)
    said += of_missing(features)
    return said + of_rare(features, frequent, rare_below) + [of_naming(naming)] + of_codes(features)


def of_leaks(features: Sequence[ColumnProfile], ignored: Mapping[str, str], kept: Collection[str]) -> list[str]:
    said = [
        f"Column {name} is NOT learned from, as {LEAK}: if it is known when the target is not, keep it (--keep {name})."
        for name, reason in ignored.items()
        if reason == LEAK
    ]
    return said + [
        f"Column {column.name} is learned from, as you asked, though {LEAK}: the result may be too good to be true."
        for column in features
        if column.leak and column.name in kept
    ]


def of_ignored(ignored: Mapping[str, str]) -> str:
    """Columns by the reason why they are ignored."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in ignored.items():
        by_reason.setdefault(reason, []).append(name)
    return "; ".join(f"{list_names(names)} ({reason})" for reason, names in by_reason.items())


def of_features(features: Sequence[ColumnProfile]) -> str:
    counts = {kind: sum(column.kind == kind for column in features) for kind in KINDS}
    parts = [f"{count} of {KINDS[kind]}" for kind, count in counts.items() if count]
    columns = "1 column is" if len(features) == 1 else f"{len(features)} columns are"
    return f"{columns} learned from: {', '.join(parts)}."


def of_texts(features: Sequence[ColumnProfile]) -> list[str]:
    names = [column.name for column in features if column.kind == "text"]
    return [f"The texts of {list_names(names)} are cut into words, which are counted."] if names else []


def of_scaling(scaling: str | None) -> list[str]:
    if scaling == "standardise":
        return ["Numbers are standardised: less their mean and by their deviation in the rows learned."]
    return ["All values are divided by the largest of their column so far."] if scaling == "max-abs" else []


def of_bounds(features: Sequence[ColumnProfile], bounds: Mapping[str, tuple[float, float]]) -> list[str]:
    parts = [
        f"{title(column.name)} {beyond(column, *bounds[column.name])}" for column in features if column.name in bounds
    ]
    return [f"Outliers are moved to the bounds of their column: {list_names(parts, titles=False)}."] if parts else []


def beyond(column: ColumnProfile, low: float, high: float) -> str:
    """Where the outliers of a column are."""
    below = [f"below {low:.6g}"] if column.low is not None and column.low < low else []
    above = [f"above {high:.6g}"] if column.high is not None and column.high > high else []
    return " or ".join(below + above)


def of_ranges(edges: Mapping[str, tuple[float, ...]]) -> list[str]:
    """What is said of columns whose numbers are cut into ranges.

    >>> of_ranges({"age": (25.0, 37.0, 48.0), "hours": (40.0,)})
    ['The numbers of age and hours also give the range they lie in, up to 4 each, so that their effect may bend.']
    """
    if not edges:
        return []
    sizes = {len(each) + 1 for each in edges.values()}
    count = f"{'up to ' * (len(sizes) > 1)}{max(sizes)} each" if len(edges) > 1 else f"one of {max(sizes)}"
    names = list_names(list(edges))
    return [f"The numbers of {names} also give the range they lie in, {count}, so that their effect may bend."]


def of_missing(features: Sequence[ColumnProfile]) -> list[str]:
    names = [column.name for column in features if column.missing > 0.0]
    return [f"A missing cell is a feature of its own, such as {names[0]}=?: {list_names(names)}."] if names else []


def of_rare(features: Sequence[ColumnProfile], frequent: Mapping[str, tuple[str, ...]], rare_below: int) -> list[str]:
    rare = {column.name: column.distinct - len(frequent[column.name]) for column in features if column.name in frequent}
    if not rare:
        return []
    parts = [f"{count:,} of {title(name)}" for name, count in rare.items()]
    return [
        f"Categories with fewer than {rare_below} rows share one feature, as do those never seen, such as "
        f"{next(iter(rare))}=(rare): {list_names(parts, titles=False)}."
    ]


def of_naming(naming: Mapping[str, Any]) -> str:
    if naming["names"] == "exact":
        return "Each number, category and word has a weight of its own."
    return f"Names are hashed to {1 << naming['bits']:,} weights, as there may be very many of them."


def of_codes(features: Sequence[ColumnProfile]) -> list[str]:
    names = [column.name for column in features if column.whole and column.distinct in CODES]
    if not names:
        return []
    return [f"Few different whole numbers are taken for amounts: {list_names(names)} (--category if they are codes)."]


def list_names(names: Sequence[str], titles: bool = True) -> str:
    """Names of columns, as many as there is room for; or whatever else there are several of.

    >>> list_names(["a", "b", "3"])
    'a, b and column 3'
    """
    shown = [title(name) for name in names[:NAMED]] if titles else list(names[:NAMED])
    if len(names) > NAMED:
        return f"{', '.join(shown)} and {len(names) - NAMED} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def title(name: str) -> str:
    """The name of a column, which may be but a number."""
    return f"column {name}" if name.isdigit() else name
