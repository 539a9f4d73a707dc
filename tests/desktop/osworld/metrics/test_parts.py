"""The parts that metrics are made of: rules, addresses, selectors, similarity, references."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ui_gym.desktop.osworld.metrics.chrome import same_url
from ui_gym.desktop.osworld.metrics.images import perceptual_hash, similarity
from ui_gym.desktop.osworld.metrics.reading import Broken, library, matches
from ui_gym.desktop.osworld.metrics.trees import as_xpath
from ui_gym.desktop.osworld.registry import METRICS
from ui_gym.errors import UserError


@pytest.mark.parametrize(
    ("method", "ref", "yes", "no"),
    [
        ("eq", 3, 3, 4),
        ("ne", 3, 4, 3),
        ("ge", 3, 3, 2),
        ("lt", 3, 2, 3),
        ("re", "^a", "ab", "Ab"),
        ("re.I.M", "^a", "b\nA", "ba"),
        ("approx:0.1", 1.0, "1.05", "1.2"),
        ("approx:0.1", 1.0, 0.95, "none"),
        ("range.te", [0, 2], 2, 0),
        ("range.et", [0, 2], 0, 2),
        ("str_list_eq", ["a", "b"], '"a,b"', '"b,a"'),
        ("str_set_eq", ["a", "b"], "'b,a'", "'b,c'"),
        ("gt", 3, 4, None),
        ("re", "a", "a", 5),
    ],
)
def test_a_rule_says_what_obeys_it(method: str, ref: Any, yes: Any, no: Any) -> None:
    assert matches(yes, {"method": method, "ref": ref})
    assert not matches(no, {"method": method, "ref": ref})


@pytest.mark.parametrize("method", ["near", "re.NOTHING", "re.template", "range.xx", "approx"])
def test_an_unknown_method_is_a_mistake_of_the_task(method: str) -> None:
    with pytest.raises(UserError, match=re.escape(repr(method))):
        matches("1", {"method": method, "ref": "1"})


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("https://www.airbnb.com", "https://airbnb.com.sg/", True),
        ("airbnb.com", "http://airbnb.com", True),
        ("https://a.org:8080/x", "https://a.org/x", True),
        ("HTTPS://A.org/x", "https://a.org/x", True),
        ("https://a.org", "http://a.org", False),
        ("https://a.org/x", "https://a.org/x/", False),
        ("https://www.x.a.org", "https://x.a.org", False),
        ("https://a.org/#b", "https://a.org/#c", False),
        ("https://a.org/?b", "https://a.org/?c", False),
        ("http://127.0.0.1/", "http://127.0.0.2/", False),
        ("file:///home/a", "file:///home/a", True),
        ("file:///home/a", "file:///home/b", False),
        ("http://[bad", "http://[bad", True),
        (None, "https://a.org", False),
    ],
)
def test_addresses_are_the_same_where_they_name_one_page(
    first: str | None, second: str | None, same: bool
) -> None:
    assert same_url(first, second) is same
    assert same_url(second, first) is same


PAGE = """<top xmlns:attr="https://accessibility.ubuntu.example.org/ns/attributes">
  <list name="it's &quot;one&quot;" attr:id="L1"><item name="a b"/><item name="b-c"/><x/></list>
  <item name="outer"/></top>"""


@pytest.mark.parametrize(
    ("selector", "count"),
    [
        ("item", 3),
        ("*", 6),
        ("list > item", 2),
        ("top > item", 1),
        ("list item, x", 3),
        ("item + item", 1),
        ("item ~ x", 1),
        ("list + item", 1),
        ('[attr|id="L1"] item', 2),
        ("[name]", 4),
        ('[name^="a"]', 1),
        ('[name$="c"]', 1),
        ('[name*="u"]', 1),
        ('[name~="b"]', 1),
        ('[name|="b"]', 1),
        (r'list[name="it\'s \"one\""]', 1),
        ("item:first-child", 1),
        ("item:nth-child(2)", 2),
        ("x:last-child", 1),
        (r"item[name=a\ b]", 1),
    ],
)
def test_a_selector_finds_what_css_says(selector: str, count: int) -> None:
    from lxml import etree

    names = {"attr": "https://accessibility.ubuntu.example.org/ns/attributes"}
    assert len(etree.fromstring(PAGE).xpath(as_xpath(selector), namespaces=names)) == count


@pytest.mark.parametrize("selector", ["", "a >", "a:hover", "a..b", "[x=", "a b,", "a!b", "#id"])
def test_another_selector_is_a_mistake_of_the_task(selector: str) -> None:
    with pytest.raises(UserError, match="selector"):
        as_xpath(selector)


def test_similarity_is_that_of_the_formula() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 256, (20, 30), dtype=np.uint8)
    second = np.clip(first + rng.normal(0, 40, first.shape), 0, 255).astype(np.uint8)
    windows = [
        np.lib.stride_tricks.sliding_window_view(a.astype(float), (7, 7)).reshape(-1, 49)
        for a in (first, second)
    ]
    found = []
    for x, y in zip(*windows, strict=True):
        c1, c2 = 6.5025, 58.5225
        (var_x, cov), (_, var_y) = np.cov(x, y)
        above = (2 * x.mean() * y.mean() + c1) * (2 * cov + c2)
        found.append(above / (x.mean() ** 2 + y.mean() ** 2 + c1) / (var_x + var_y + c2))
    assert similarity(first, second) == pytest.approx(float(np.mean(found)))
    assert similarity(first, first) == pytest.approx(1)


def test_pictures_of_two_sizes_cannot_be_compared() -> None:
    with pytest.raises(Broken, match="cannot be compared"):
        similarity(np.zeros((8, 8), np.uint8), np.zeros((8, 9), np.uint8))


def test_a_perceptual_hash_stays_when_a_picture_is_scaled() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (16, 16, 3), dtype=np.uint8)
    picture = Image.fromarray(noise).resize((160, 160))
    same = perceptual_hash(picture) == perceptual_hash(picture.resize((80, 100)))
    turned = perceptual_hash(picture) == perceptual_hash(picture.rotate(90))
    assert same.sum() >= 60
    assert turned.sum() < 50


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("compare_text_file", None),
        ("compare_images", "no picture"),
        ("compare_archive", "no archive"),
        ("compare_csv", None),
        ("check_thunderbird_folder", None),
    ],
)
def test_a_broken_reference_is_a_mistake_of_the_task(
    name: str, reference: str | None, tmp_path: Path
) -> None:
    result, expected = tmp_path / "result", tmp_path / "expected"
    Image.new("RGB", (20, 20)).save(result, "PNG")
    if name != "compare_images":
        result.write_text("text")
    if reference is not None:
        expected.write_text(reference)
    with pytest.raises(UserError, match="what the result is compared with cannot be used"):
        METRICS[name](str(result), str(expected))


@pytest.mark.parametrize(
    ("name", "result", "rule"),
    [
        ("is_extension_installed", "a", {"type": "maybe", "expected": "a"}),
        ("is_expected_tabs", [], {"type": "title", "urls": []}),
        ("is_expected_bookmarks", {}, {"type": "other", "names": []}),
        ("check_font_size", {}, {"type": "other"}),
        ("literal_match", "a", "a"),
    ],
)
def test_an_unknown_type_of_rule_is_a_mistake_of_the_task(
    name: str, result: Any, rule: Any
) -> None:
    options = {"type": "dict"} if name == "literal_match" else {}
    with pytest.raises(UserError, match="Mend the task's"):
        METRICS[name](result, rule, **options)


def test_a_missing_library_says_how_to_install_it() -> None:
    with pytest.raises(UserError, match=re.escape('pip install "ui-gym[osworld]"')):
        library("no_such_library")
