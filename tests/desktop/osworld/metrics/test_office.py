"""Documents and presentations: what the tables of cases do not say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cases_files import zipped
from cases_office_documents import odt, word
from cases_office_files import pdf
from cases_office_slides import show
from cases_office_tables import book

from ui_gym.desktop.osworld.metrics.docs_formats import ciede2000, difference
from ui_gym.desktop.osworld.registry import METRICS
from ui_gym.errors import UserError

FILES = {
    "compare_docx_files": word("x" * 999),
    "compare_pptx_files": show("x"),
    "compare_pdf_images": pdf("x"),
    "compare_epub": odt("a", "b"),
    "compare_table": book(),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_short_is_the_fault_of_whoever_made_it(
    name: str, tmp_path: Path
) -> None:
    """Of the agent, a score of 0; of the task, an error."""
    made = FILES[name]
    whole = made(tmp_path / f"whole.{made.ending}")
    cut = tmp_path / f"cut.{made.ending}"
    data = Path(whole).read_bytes()
    for size in (0, 10, len(data) // 2):
        cut.write_bytes(data[:size])
        options = {"rules": []} if name == "compare_table" else {}
        assert METRICS[name](str(cut), whole, **options) == 0.0
        with pytest.raises(UserError, match="compared with cannot be used"):
            METRICS[name](whole, str(cut), **options)


LIBRARIES = {
    "compare_docx_files": "docx",
    "compare_pptx_files": "pptx",
    "compare_pdf_images": "pypdf",
    "compare_table": "openpyxl",
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_that_is_missing_is_told_with_what_to_install(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = FILES[name]
    path = made(tmp_path / f"file.{made.ending}")
    monkeypatch.setitem(sys.modules, LIBRARIES[name], None)
    with pytest.raises(UserError, match=rf"{LIBRARIES[name]}.*pip install"):
        METRICS[name](path, path, rules=[])


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0000),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, 2.5, 0), (50, 0, -2.5), 4.3065),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((50, 2.5, 0), (58, 24, 15), 19.4535),
        ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
        ((22.7233, 20.0904, -46.694), (23.0331, 14.973, -42.5619), 2.0373),
        ((90.8027, -2.0831, 1.441), (91.1528, -1.6435, 0.0447), 1.4441),
    ],
)
def test_the_difference_of_colours_is_that_of_the_published_pairs(
    first: tuple[float, float, float], second: tuple[float, float, float], expected: float
) -> None:
    """Table 1 of Sharma, Wu and Dalal (2005)."""
    assert ciede2000(first, second) == pytest.approx(expected, abs=5e-5)
    assert ciede2000(second, first) == pytest.approx(expected, abs=5e-5)


def test_black_and_white_are_a_hundred_apart() -> None:
    assert difference((0, 0, 0), (255, 255, 255)) == pytest.approx(100, abs=0.01)
    assert difference((18, 52, 86), (18, 52, 86)) == 0


ODT = """<d xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"><office:body>{}</office:body></d>"""


def test_of_an_odt_paragraphs_and_their_spans_are_read(tmp_path: Path) -> None:
    def made(name: str, body: str, footer: str = "") -> str:
        parts = {"content.xml": ODT.format(body), "styles.xml": ODT.format(footer)}
        return zipped(parts)(tmp_path / f"{name}.odt")

    compare = METRICS["compare_docx_files"]
    plain = made("plain", "<text:p>one two</text:p><text:p>three</text:p>")
    spans = "<text:p>on<text:span>e t<text:s/>wo</text:span></text:p><text:p>three</text:p>"
    assert compare(made("spans", spans), plain) == 1.0
    heading = "<text:h>Title</text:h><text:p>one two</text:p><text:p>three</text:p>"
    assert compare(made("heading", heading), plain) == 1.0
    footed = made("footed", "<text:p>one two</text:p>", "<text:p>three</text:p>")
    assert compare(footed, plain) == 1.0
    assert compare(made("joined", "<text:p>one twothree</text:p>"), plain) == 0.0


def test_pages_of_a_pdf_are_told_from_each_other(tmp_path: Path) -> None:
    one = pdf("Total", "Paid")(tmp_path / "one.pdf")
    other = pdf("TotalPaid")(tmp_path / "other.pdf")
    assert METRICS["compare_pdfs"](one, one) == 1.0
    assert METRICS["compare_pdfs"](one, other) == pytest.approx(18 / 19)


def test_a_relation_that_is_none_is_a_mistake_of_the_task(tmp_path: Path) -> None:
    path = pdf("x")(tmp_path / "one.pdf")
    with pytest.raises(UserError, match="no relation 'is'"):
        METRICS["check_pdf_pages"](path, {"relation": "is", "ref_value": 1})
    deck = show("x")(tmp_path / "deck.pptx")
    with pytest.raises(UserError, match="no colour of page numbers 'pink'"):
        METRICS["check_page_number_colors"](deck, {"color": "pink"})
