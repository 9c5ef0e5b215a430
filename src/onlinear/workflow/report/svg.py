"""Charts as inline SVG: lines with labels at their ends, dots against a diagonal, bars and intervals of one row.

A chart is drawn for a width. A page holds it for a wide and for a narrow screen and shows one of them, so that its
letters are as large as those around it. Colours are classes: the style sheet knows light from dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from onlinear.workflow.report.markup import NOTHING, Html, join, shorten, tag
from onlinear.workflow.report.scales import Axis, labels

Points = Sequence[tuple[float, float]]
LETTER = 7.2  # the width of a letter of 12 pixels, on the safe side
LINE = 15.0  # between the base lines of two labels


class PlottedCurve(NamedTuple):
    """A curve with its name, and a shorter one for narrow screens."""

    points: Points
    label: str = ""
    short: str = ""
    look: str = "s0"
    dots: bool = False
    stopped: bool = False


class Chart(NamedTuple):
    """What is drawn, and what is said to those who cannot see it."""

    name: str
    title: str
    description: str
    x: Axis
    y: Axis
    x_label: str
    y_label: str
    lines: Sequence[PlottedCurve] = ()
    levels: Sequence[tuple[float, str]] = ()
    marks: Sequence[float] = ()
    shares: tuple[bool, bool] = (False, False)


class Frame(NamedTuple):
    """The picture's size, and the plane within it where the data lie."""

    width: float
    height: float
    left: float
    top: float
    right: float
    bottom: float

    def x(self, place: float) -> float:
        return round(self.left + place * (self.right - self.left), 1)

    def y(self, place: float) -> float:
        return round(self.bottom - place * (self.bottom - self.top), 1)


def figure(chart: Chart, caption: object = None) -> Html:
    """A chart for wide and for narrow screens, with a caption."""
    said = tag("figcaption", caption) if caption else NOTHING
    return tag("figure", draw_chart(chart, 680.0, "wide"), draw_chart(chart, 340.0, "narrow"), said)


def draw_chart(chart: Chart, width: float, size: str) -> Html:
    """A chart of this width."""
    narrow = width < 500.0
    named = [(line, line.short if narrow else line.label) for line in chart.lines]
    named_levels = [(value, "" if narrow else name) for value, name in chart.levels]
    longest = max((len(name) for _, name in (*named, *named_levels)), default=0)
    margin = min(longest * LETTER + 14.0, 0.4 * width) if longest else 14.0
    y_ticks = chart.y.ticks(6)
    y_words = labels(y_ticks, chart.shares[1])
    left = 12.0 + LETTER * max((len(word) for word in y_words), default=0)
    height = 250.0 if narrow else 320.0
    frame = Frame(width, height, left, 26.0, max(width - margin, left + 60.0), height - 40.0)
    parts = [
        *_grid(chart, frame, y_ticks, y_words, 4 if narrow else 7),
        *(_mark(chart, frame, mark) for mark in chart.marks),
        *(_level(chart, frame, value) for value, _ in named_levels),
        *(_line(chart, frame, line) for line, _ in named),
        *_ends(chart, frame, named, named_levels, int((margin - 6.0) / 6.6)),
    ]
    return picture(f"{chart.name}-{size}", chart.title, chart.description, frame.width, frame.height, parts, size)


def picture(
    name: str, title: str, description: str, width: float, height: float, parts: Sequence[Html], class_: str
) -> Html:
    """An SVG element that screen readers announce by its title and description."""
    return tag(
        "svg",
        tag("title", title, id=f"{name}-title"),
        tag("desc", description, id=f"{name}-desc"),
        *parts,
        viewBox=f"0 0 {width:g} {height:g}",
        class_=class_,
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )


def _grid(chart: Chart, frame: Frame, y_ticks: list[float], y_words: list[str], most: int) -> list[Html]:
    x_ticks = chart.x.ticks(most)
    parts = []
    for tick, word in zip(y_ticks, y_words, strict=True):
        y = frame.y(chart.y.at(tick))
        parts.append(tag("line", x1=frame.left, x2=frame.right, y1=y, y2=y, class_="grid"))
        parts.append(tag("text", word, x=frame.left - 6.0, y=y + 4.0, text_anchor="end"))
    for tick, word in zip(x_ticks, labels(x_ticks, chart.shares[0]), strict=True):
        x, half = frame.x(chart.x.at(tick)), LETTER * len(word) / 2
        parts.append(tag("line", x1=x, x2=x, y1=frame.bottom, y2=frame.bottom + 4.0, class_="axis"))
        inside = round(min(max(x, half), frame.width - half), 1)
        parts.append(tag("text", word, x=inside, y=frame.bottom + 17.0, text_anchor="middle"))
    parts.append(tag("line", x1=frame.left, x2=frame.right, y1=frame.bottom, y2=frame.bottom, class_="axis"))
    parts.append(tag("text", chart.y_label, x=0, y=12, class_="label"))
    parts.append(
        tag("text", chart.x_label, x=frame.right, y=frame.height - 6.0, text_anchor="end", class_="label"),
    )
    return parts


def _line(chart: Chart, frame: Frame, line: PlottedCurve) -> Html:
    places = [(frame.x(chart.x.at(x)), frame.y(chart.y.at(y))) for x, y in line.points]
    if not places:
        return NOTHING
    parts = [tag("polyline", points=" ".join(f"{x:g},{y:g}" for x, y in places), class_=f"curve {line.look}")]
    if line.dots:
        parts += [tag("circle", cx=x, cy=y, r=3.5, class_=f"dot {line.look}") for x, y in places]
    if line.stopped:
        parts.append(_cross(*places[-1], line.look))
    return join(parts)


def _cross(x: float, y: float, look: str) -> Html:
    shape = f"M{x - 3:g} {y - 3:g}L{x + 3:g} {y + 3:g}M{x - 3:g} {y + 3:g}L{x + 3:g} {y - 3:g}"
    return tag("path", d=shape, class_=f"curve solid {look}")


def _level(chart: Chart, frame: Frame, value: float) -> Html:
    y = frame.y(chart.y.at(value))
    return tag("line", x1=frame.left, x2=frame.right, y1=y, y2=y, class_="level")


def _mark(chart: Chart, frame: Frame, value: float) -> Html:
    """A moment: a dashed line with a wedge on top, so that it is no part of the grid."""
    x = frame.x(chart.x.at(value))
    wedge = f"M{x - 5:g} {frame.top - 6:g}L{x + 5:g} {frame.top - 6:g}L{x:g} {frame.top + 3:g}Z"
    return join(
        [tag("line", x1=x, x2=x, y1=frame.top, y2=frame.bottom, class_="mark"), tag("path", d=wedge, class_="wedge")]
    )


def _ends(
    chart: Chart,
    frame: Frame,
    lines: list[tuple[PlottedCurve, str]],
    levels: list[tuple[float, str]],
    most: int,
) -> list[Html]:
    """The names of lines and levels, where they end, moved apart where they would lie on each other."""
    ends = [(line.points[-1][1], name, line.look) for line, name in lines if name and line.points]
    ends += [(value, name, "quiet") for value, name in levels if name]
    places = [frame.y(chart.y.at(value)) for value, _, _ in ends]
    moved = apart(places, LINE, frame.top + 6.0, frame.bottom)
    return [
        tag("text", shorten(name, most), x=frame.right + 6.0, y=round(y + 4.0, 1), class_=f"end {look}")
        for (_, name, look), y in zip(ends, moved, strict=True)
    ]


def apart(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The places, moved as little as it takes for ``gap`` between neighbours, within the limits; closer if need be."""
    order = sorted(range(len(places)), key=lambda k: places[k])
    gap = min(gap, (high - low) / max(len(places) - 1, 1))
    moved = [0.0] * len(places)
    edge = low
    for k in order:
        moved[k] = max(places[k], edge)
        edge = moved[k] + gap
    edge = high
    for k in reversed(order):
        moved[k] = max(min(moved[k], edge), low)
        edge = moved[k] - gap
    return moved


def draw_calibration(chart: Chart, dots: Sequence[tuple[float, float, float]], width: float, size: str) -> Html:
    """Dots against the diagonal, on which both axes agree; the third number of a dot is its share of the rows."""
    height = min(width, 380.0)
    left = 52.0
    frame = Frame(width, height, left, 26.0, min(width - 22.0, left + height - 66.0), height - 40.0)
    y_ticks = chart.y.ticks(6)
    diagonal = tag("line", x1=frame.left, y1=frame.bottom, x2=frame.right, y2=frame.top, class_="level")
    places = [(frame.x(chart.x.at(x)), frame.y(chart.y.at(y)), weight) for x, y, weight in dots]
    parts = [
        *_grid(chart, frame, y_ticks, labels(y_ticks, chart.shares[1]), 6),
        diagonal,
        *(tag("circle", cx=x, cy=y, r=_radius(weight), class_="bubble s0") for x, y, weight in places),
    ]
    return picture(f"{chart.name}-{size}", chart.title, chart.description, frame.width, frame.height, parts, size)


def _radius(share: float) -> float:
    """Areas are shares; the smallest can still be seen."""
    return round(3.0 + 11.0 * min(max(share, 0.0), 1.0) ** 0.5, 1)


BAR = 200.0


def bar(weight: float, low: float | None, high: float | None, axis: Axis) -> Html:
    """A bar from zero to a weight with a whisker for its interval, as a cell of a table."""
    zero, end = _across(axis, 0.0), _across(axis, weight)
    look = "up" if weight >= 0.0 else "down"
    parts = [tag("rect", x=min(zero, end), y=4, width=round(abs(end - zero), 1), height=12, class_=look)]
    if low is not None and high is not None:
        parts.append(_whisker(_across(axis, low), _across(axis, high)))
    parts.append(tag("line", x1=zero, x2=zero, y1=0, y2=20, class_="axis"))
    return _strip(parts)


def interval(low: float | None, high: float | None, middle: float | None, axis: Axis, zero: bool = False) -> Html:
    """An interval on a line, with a dot for what was measured."""
    parts = [tag("line", x1=0, x2=BAR, y1=10, y2=10, class_="grid")]
    if zero:
        parts.append(tag("line", x1=_across(axis, 0.0), x2=_across(axis, 0.0), y1=2, y2=18, class_="axis"))
    if low is not None and high is not None:
        left, right = sorted((_across(axis, low), _across(axis, high)))
        parts.append(tag("rect", x=left, y=6, width=round(max(right - left, 1.0), 1), height=8, class_="span"))
    if middle is not None:
        x = _across(axis, middle)
        parts.append(tag("line", x1=x, x2=x, y1=2, y2=18, class_="tick"))
    return _strip(parts)


def _across(axis: Axis, value: float) -> float:
    return round(4.0 + axis.at(value) * (BAR - 8.0), 1)


def _whisker(left: float, right: float) -> Html:
    shape = f"M{left:g} 10L{right:g} 10M{left:g} 6L{left:g} 14M{right:g} 6L{right:g} 14"
    return tag("path", d=shape, class_="whisker")


def _strip(parts: Sequence[Html]) -> Html:
    """A picture that is as wide as its cell; the cells beside it say the same in numbers."""
    return tag("svg", *parts, viewBox=f"0 0 {BAR:g} 20", preserveAspectRatio="none", class_="strip", aria_hidden="true")
