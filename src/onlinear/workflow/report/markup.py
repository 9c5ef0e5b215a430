"""HTML that cannot be broken by its content: whatever is not :class:`Html` is escaped where it enters an element."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

# Nothing may end up in a file that is not a character: half a surrogate pair cannot even be written.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")
_EMPTY = {"br", "meta", "wbr"}
_SHAPES = {"circle", "line", "path", "polyline", "rect"}


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


NOTHING = Html("")


def clean(given: Any) -> str:
    """The text of anything, less the characters that have no look: controls, halves of characters, turned directions.

    >>> clean("a" + chr(0) + "b"), clean(None)
    ('a�b', '')
    """
    return "" if given is None else _UNWRITABLE.sub("\ufffd", str(given))


def escape(given: Any) -> Html:
    """Anything, as the text that it is.

    >>> escape("<script>")
    '&lt;script&gt;'
    """
    return given if isinstance(given, Html) else Html(html.escape(clean(given), quote=True))


def join(parts: Iterable[Any], between: str = "") -> Html:
    """The parts one after the other, escaped where they are not markup."""
    return Html(escape(between).join(escape(part) for part in parts))


def tag(name: str, *children: Any, **attributes: Any) -> Html:
    """An element; ``class_`` is its class, ``stroke_width`` is stroke-width, and None leaves an attribute out.

    >>> tag("a", "1 < 2", class_="sum", href="#x", title=None)
    '<a class="sum" href="#x">1 &lt; 2</a>'
    """
    words = [name]
    for key, content in attributes.items():
        key = key.rstrip("_").replace("_", "-")
        if content is True:
            words.append(key)
        elif content is not None and content is not False:
            words.append(f'{key}="{escape(content)}"')
    opening = " ".join(words)
    if name in _EMPTY:
        return Html(f"<{opening}>")
    if name in _SHAPES and not children:
        return Html(f"<{opening}/>")
    return Html(f"<{opening}>{join(children)}</{name}>")


def shorten(given: Any, most: int = 80) -> str:
    """A text of at most so many characters: what is too long loses its middle, for names differ at their ends.

    >>> shorten("abcdefghij", 7)
    'abc…hij'
    """
    text = clean(given)
    if len(text) <= most:
        return text
    kept = most - 1
    return f"{text[: kept - kept // 2]}…{text[len(text) - kept // 2 :]}"


def name_of(given: Any, most: int = 80) -> Html:
    """A name, which may break after the signs that join its parts, and not only anywhere.

    >>> name_of("education=Doctorate"), name_of("LogisticRegression")
    ('education=<wbr>Doctorate', 'Logistic<wbr>Regression')
    """
    return Html(re.sub(r"(?<=[=_/.])(?=[^=_/.])|(?<=[a-z])(?=[A-Z])", "<wbr>", escape(shorten(given, most))))


def paragraph(*children: Any, class_: str | None = None) -> Html:
    return tag("p", *children, class_=class_)


def list_items(sentences: Sequence[Any], most: int = 30) -> Html:
    """Sentences one under the other; those after so many are folded, and of these twice as many are kept."""
    if not sentences:
        return NOTHING
    shown = tag("ul", *(tag("li", sentence) for sentence in sentences[:most]))
    rest = sentences[most : 3 * most]
    more = f"{len(sentences) - most} more" + (f", {len(rest)} of them here" if len(sentences) > 3 * most else "")
    return join([shown, details(more, list_items(rest, len(rest)))]) if rest else shown


def terms(pairs: Iterable[tuple[Any, Any]], class_: str) -> Html:
    """Names with what they stand for."""
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", content)) for name, content in pairs), class_=class_)


def details(summary: Any, *children: Any) -> Html:
    """What is there for those who ask."""
    return tag("details", tag("summary", summary), *children)


def table(caption: Any, heads: Sequence[Any], rows: Iterable[Html], class_: str) -> Html:
    """A table with a caption and a head; it scrolls inside its own box where a page is too narrow for it.

    A head is a text, or a text with the class of its column.
    """
    cells = (head if isinstance(head, tuple) else (head, None) for head in heads)
    top = tag("thead", tag("tr", *(tag("th", text, scope="col", class_=look) for text, look in cells)))
    whole = tag("table", tag("caption", caption), top, tag("tbody", *rows), class_=class_)
    return tag("div", whole, class_="scroll", tabindex="0", role="group", aria_label=caption)


def row(head: Any, *cells: Any, class_: str | None = None) -> Html:
    """A row; a cell is a content, or a content with a class."""
    made = (cell if isinstance(cell, tuple) else (cell, None) for cell in cells)
    body = (tag("td", content, class_=look) for content, look in made)
    return tag("tr", tag("th", head, scope="row"), *body, class_=class_)
