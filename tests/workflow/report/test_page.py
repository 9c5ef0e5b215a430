"""The page is one well-formed file that needs nothing else, whatever the result holds."""

from __future__ import annotations

import copy
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings as budget, strategies as st

import onlinear
from onlinear.workflow.report import page
from onlinear.workflow.report.page import SECTIONS
from workflow.report.made_results import MAKERS, adult, elec2, housing, iris, minimal, twenty, wide

VOID = {"meta", "br", "wbr"}
NUMBERED = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


class Reader(HTMLParser):
    """A strict reading of a page: every element is closed, in order; what it holds is kept."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attributes}) == len(attributes), f"an attribute twice in {tag}"
        self.elements.append((tag, dict(attributes), list(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert "svg" in self.open, f"only SVG closes {tag} at once"
        self.elements.append((tag, dict(attributes), list(self.open)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes, _ in self.elements if name == tag]

    @property
    def text(self) -> str:
        return " ".join(data for tag, data in self.texts if tag not in ("style", "script"))


@pytest.fixture(params=MAKERS, scope="module")
def made(request: pytest.FixtureRequest) -> tuple[dict[str, Any], str]:
    result = MAKERS[request.param]()
    return result, page(result)


def test_every_page_is_well_formed_with_unique_ids_and_links_that_lead_somewhere(made: tuple[Any, str]) -> None:
    read = Reader(made[1])
    ids = [attributes["id"] for _, attributes, _ in read.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    assert {link["href"] for link in read.all("a")} <= {f"#{one}" for one in ids}
    said = {name for _, attributes, _ in read.elements for name in (attributes.get("aria-labelledby") or "").split()}
    assert said <= set(ids)


def test_nothing_is_loaded(made: tuple[Any, str]) -> None:
    read = Reader(made[1])
    loading = {"src", "srcset", "data", "action", "poster", "xlink:href", "background"}
    assert not [one for _, one, _ in read.elements if loading & one.keys()]
    assert not {"link", "img", "iframe", "object", "embed", "form", "base"} & {name for name, _, _ in read.elements}
    style = "".join(data for tag, data in read.texts if tag == "style")
    assert not re.search(r"url\(|@import|//", style)
    assert not re.search(r"https?://", made[1])


def test_the_sections_are_all_there_in_order(made: tuple[Any, str]) -> None:
    result, source = made
    expected = [name for name, _, _ in SECTIONS if name != "drift" or result["drift"]]
    assert [section["id"] for section in Reader(source).all("section")] == expected


def test_headings_descend_one_by_one(made: tuple[Any, str]) -> None:
    levels = [int(tag[1]) for tag, _, _ in Reader(made[1]).elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_tables_and_pictures_speak(made: tuple[Any, str]) -> None:
    read = Reader(made[1])
    assert all("scope" in head for head in read.all("th"))
    assert len(read.all("caption")) == len(read.all("table"))
    for picture in read.all("svg"):
        assert picture.get("aria-hidden") == "true" or picture["role"] == "img"
    shown = sum(picture.get("role") == "img" for picture in read.all("svg"))
    assert shown == len(read.all("desc")) == sum("svg" in path for tag, _, path in read.elements if tag == "title")


def test_what_is_drawn_stays_inside(made: tuple[Any, str]) -> None:
    check_pictures(made[1])


def check_pictures(source: str) -> None:
    """Every coordinate is a finite number within the view box of its picture."""
    box = (0.0, 0.0)
    for tag, attributes, path in Reader(source).elements:
        if tag == "svg":
            box = tuple(float(word) for word in (attributes["viewbox"] or "").split())[2:]  # type: ignore[assignment]
        elif "svg" in path:
            for x, y in places(attributes):
                assert 0.0 <= x <= box[0], (tag, attributes)
                assert 0.0 <= y <= box[1], (tag, attributes)


def places(attributes: dict[str, str | None]) -> list[tuple[float, float]]:
    """The points that a shape goes through."""
    known = {name: float(text) for name, text in attributes.items() if name in SIZES and text is not None}
    found = [(known.get("x", 0.0), known.get("y", 0.0)), (known.get("cx", 0.0), known.get("cy", 0.0))]
    found += [(known.get("x1", 0.0), known.get("y1", 0.0)), (known.get("x2", 0.0), known.get("y2", 0.0))]
    found.append((known.get("x", 0.0) + known.get("width", 0.0), known.get("y", 0.0) + known.get("height", 0.0)))
    drawn = [float(word) for word in NUMBERED.findall(f"{attributes.get('points', '')} {attributes.get('d', '')}")]
    return found + list(zip(drawn[::2], drawn[1::2], strict=True))


SIZES = {"x", "y", "cx", "cy", "x1", "x2", "y1", "y2", "width", "height"}


def test_a_picture_that_leaves_its_box_is_caught() -> None:
    good = adult()
    source = page(good).replace('viewBox="0 0 680 320"', 'viewBox="0 0 600 320"')
    with pytest.raises(AssertionError):
        check_pictures(source)


EVIL = "\"><script>alert(1)</script><img src=x onerror=alert(1)>&amp;\x00\ud800\u202e'</td></style></title>"


def poisoned(value: Any, key: str = "") -> Any:
    """A result whose every text, also of keys that the data name, is as bad as can be."""
    if isinstance(value, dict):
        named = key in ("cells", "settings", "certificate") and "updates" not in value
        return {f"{name}{EVIL}" if named else name: poisoned(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [poisoned(inner, key) for inner in value]
    keeps = ("task", "by", "how", "role")
    return f"{value}{EVIL}" if isinstance(value, str) and key not in keeps else value


@pytest.mark.parametrize("maker", [adult, iris, housing, elec2, twenty])
def test_whatever_the_data_hold_stays_text(maker: Any) -> None:
    clean, bad = Reader(page(maker())), page(poisoned(maker()))
    read = Reader(bad)
    assert b"\x00" not in bad.encode()
    assert len(read.all("script")) == len(clean.all("script")) == 1
    assert not read.all("img")
    assert not [one for _, one, _ in read.elements if any(name.startswith("on") for name in one)]
    assert "<script>alert(1)</script>" in read.text


def holes(value: Any, draw: Any) -> Any:
    """The same with some values null, some lists empty and some numbers extreme."""
    if isinstance(value, dict):
        return {name: None if draw(st.integers(0, 5)) == 0 else holes(inner, draw) for name, inner in value.items()}
    if isinstance(value, list):
        return [] if draw(st.integers(0, 9)) == 0 else [holes(inner, draw) for inner in value[:6]]
    if isinstance(value, float):
        return draw(st.one_of(st.just(value), st.floats(), st.sampled_from([0.0, 1e-12, -1e12, 1e308, 5e-324])))
    return value


@budget(max_examples=15, deadline=None)
@given(st.data())
def test_any_value_may_be_missing_or_extreme(data: st.DataObject) -> None:
    maker = data.draw(st.sampled_from([adult, iris, housing, elec2]))
    result = holes(maker(), data.draw)
    given = copy.deepcopy(result)
    source = page(result)
    check_pictures(source)
    assert repr(result) == repr(given)
    assert not re.search(r"\b(nan|inf|None|NaN)\b", Reader(source).text)


def test_an_empty_result_has_a_page() -> None:
    assert "No test was made" in Reader(page({})).text
    assert "No test was made" in Reader(page(minimal())).text


def test_two_thousand_columns_with_names_of_300_letters_are_still_a_page() -> None:
    source = page(wide())
    assert len(source.encode()) < 300_000
    assert "1855 columns more are not listed here" in source  # 2000, less 25 odd ones and 120 folded ones
    assert "1988 more, 100 of them here" in source  # weights
    for k in (1, 400):  # a note and a missing value stand out
        assert f">{k}_<wbr>nnn" in source.split("<details>")[0]


def test_a_page_on_which_everything_is_odd_is_still_a_page() -> None:
    result = wide()
    sentence = "This is a long sentence of a column that is odd in more than one way. " * 3
    for column in result["columns"]:
        column.update(notes=[sentence] * 5, missing=0.3, leak=True, id=True, constant=True)
    for key in ("notes", "recipe", "certificate_words"):
        result[key] = [sentence] * 2000
    result["race"]["configurations"] *= 100
    result["path"] = [{"l1": 1.0 / k, "features": k, "score": 1.0 / k} for k in range(1, 2000)]
    assert len(page(result).encode()) < 300_000


def test_numbers_are_written_for_people() -> None:
    text = Reader(page(adult())).text.replace("\u00a0", " ").replace("\u202f", " ")
    assert "wrong on 15.0 % of 6513 rows" in text
    assert "95 % interval 14.1 % to 15.9 %" in text
    assert "most frequent class gives 24.1 %" in text
    assert "32 561 rows" in text
    assert "633 rows of class >50K (40.4 % of them) were taken for <=50K" in text
    money = Reader(page(housing())).text.replace("\u00a0", " ").replace("\u202f", " ")
    assert "root mean squared error of 69 300" in money
    assert "always answering the mean gives 115 000" in money
    assert "459 000 too low" in money


def test_a_model_no_better_than_the_baseline_is_not_praised() -> None:
    result = adult()
    result["references"][0]["score"] = 0.15
    assert "not shown to be better" in Reader(page(result)).text
    result["references"][0]["score"] = 0.10
    assert "do not use this model" in Reader(page(result)).text


def test_rows_that_were_used_before_are_told_of_at_once() -> None:
    assert "used before" in Reader(page(elec2())).text.split("The recipe")[0]
    assert "used before" not in Reader(page(adult())).text


def test_the_odd_columns_come_first() -> None:
    result = adult()
    result["columns"][8]["leak"] = True
    table = page(result).split('class="columns"')[1]
    order = [table.index(f">{name}<") for name in ("race", "workclass", "native-country", "income", "age")]
    assert order == sorted(order)
    assert "May give the target away." in table


def test_a_stopped_configuration_is_marked_with_when() -> None:
    assert page(adult()).count("stopped at 4096") == 4
    assert page(adult()).count("stopped at 1024") == 6


def test_the_weights_of_each_class_are_together_and_a_doubtful_sign_is_said() -> None:
    text = Reader(page(iris())).text
    weights = text[text.index("speaks for the class") :]
    assert weights.index("For setosa") < weights.index("For versicolor") < weights.index("For virginica")
    assert page(iris()).count("either sign<") == 1  # 0.05 with an interval from -0.07 to 0.17
    assert "1 weight may have either sign" in text


def test_what_is_left_out_of_twenty_classes_is_said() -> None:
    assert page(twenty()).count("the 12 largest of 30<") == 20


def test_the_page_is_the_same_after_a_trip_through_json() -> None:
    assert page(json.loads(json.dumps(adult()))) == page(adult())


def test_each_alarm_is_drawn_and_the_words_say_what_it_was_worth() -> None:
    source = page(elec2())
    assert source.count('class="wedge"') == 2 * len(elec2()["drift"]["alarms"])  # wide and narrow
    text = Reader(source).text.replace("\u00a0", " ").replace("\u202f", "")
    assert "ADWIN raised 4 alarms. At each alarm the learner began anew." in text
    assert "the error is 14.5 %; without acting on alarms, it is 23.4 %" in text
    assert "6120, 14210, 15120, 31002" in text


def test_the_certificate_of_each_class_is_in_the_table() -> None:
    proof = page(iris()).split('id="certificate"')[1].split("</section>")[0]
    bounds = proof.split("best margin")[0]
    assert re.search(r"setosa.*?>8<.*?>9<.*?>663<.*?yes, with a witness", bounds)  # a bound of 663.42 updates
    assert re.search(r"versicolor.*?no, with a witness", bounds)
    assert re.search(r"virginica.*?undecided", bounds)
    assert proof.count('class="span"') == 3


def test_the_certificates_of_the_package_are_understood() -> None:
    """On the standard basis the perceptron is updated once by each row, which is its bound."""
    rows, labels = np.eye(3), [1, -1, 1]
    model = onlinear.Perceptron(fit_intercept=False, max_iter=1, tol=None).fit(rows, labels)
    result = {**minimal(), "certificate": onlinear.certify(model, rows, labels)}
    proof = page(result).split('id="certificate"')[1].split("</section>")[0]
    assert re.search(r'>3</td><td class="n">3</td><td>yes, with a witness', proof)
    assert "0.577 and 0.577" in proof  # the best margin is one over the root of three, and the box is closed


def test_a_matrix_of_too_many_classes_is_told_in_words() -> None:
    result = twenty()
    labels = [f"c{k}" for k in range(100)]
    counts = [[50 if i == j else 7 if (i, j) == (3, 4) else 0 for j in range(100)] for i in range(100)]
    result["test"]["confusion"] = {"labels": labels, "counts": counts}
    source = page(result)
    assert 'class="confusion' not in source
    assert "7 rows of class c3 (12.3\u00a0% of them) were taken for c4." in source
