"""Cases of metrics of what text documents say."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable
from typing import Any

import docx
from docx.oxml import OxmlElement
from docx.shared import RGBColor
from metric_case import Case, Cases, Made, against, alone
from PIL import Image

ODT_BODY = """<office:document-content
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0">
<office:automatic-styles><style:style style:name="T1"><style:text-properties
 fo:background-color="{colour}"/></style:style></office:automatic-styles>
<office:body><office:text><text:p>{first}<text:span text:style-name="T1">{marked}</text:span>.
</text:p></office:text></office:body></office:document-content>"""

Change = Callable[[Any], Any]


def word(*paragraphs: str, change: Change = lambda document: None) -> Made:
    """A document of these paragraphs, each one run, with what `change` does to it."""

    def write(path: Any) -> None:
        document = docx.Document()
        for text in paragraphs:
            document.add_paragraph().add_run(text)
        change(document)
        document.save(str(path))

    return Made("docx", write)


def odt(first: str, marked: str, colour: str = "#ffff00") -> Made:
    def write(path: Any) -> None:
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("mimetype", "application/vnd.oasis.opendocument.text")
            file.writestr("content.xml", ODT_BODY.format(first=first, marked=marked, colour=colour))

    return Made("odt", write)


def runs(document: Any) -> list[Any]:
    return [run for paragraph in document.paragraphs for run in paragraph.runs]


def table(*rows: str, colours: Iterable[RGBColor] = ()) -> Change:
    """A table of one-word cells, each word in the colour of its turn."""

    def change(document: Any) -> None:
        left = list(colours)
        cells = [row.split() for row in rows]
        made = document.add_table(len(cells), len(cells[0]))
        for y, row in enumerate(cells):
            for x, text in enumerate(row):
                run = made.cell(y, x).paragraphs[0].add_run(text)
                if left:
                    run.font.color.rgb = left.pop(0)

    return change


def picture(colour: str) -> io.BytesIO:
    data = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(data, "PNG")
    data.seek(0)
    return data


def with_picture(colour: str) -> Change:
    return lambda document: document.add_picture(picture(colour))


def one_changed(change: Change) -> list[Case]:
    """A document with something in it, against one with and one without it."""
    texts = ("One sentence.", "And another one.")
    wanted = word(*texts, change=change)
    return against(wanted, (1, word(*texts, change=change)), (0, word(*texts)))


LINES, LOWER = word("Alpha", "beta Gamma"), word("alpha beta", "gamma")
TURNED, NEAR = word("Gamma", "Alpha beta"), word("Alpha beta", "", "Gammo")
AS_LISTED = {"ignore_case": True, "ignore_blanks": False, "delete_empty_lines": True}
ODT = odt("Alpha ", "beta")
SPREAD = word("a b", "", "c")
PLAIN, NAMED = word("Text"), word("Sources", "[1] abcdefgh")
TRAINS = ("08:00:00, T1, S1, 1", "08:10:00, T2, S1, 2", "08:20:00, T1, S2, 1")
INITIAL = word(*TRAINS)
ONCE, TWICE, LOST = word(*TRAINS[:2]), word(*TRAINS), word(*TRAINS[:1])
PLACES = {"expected": ["Lianhua", "Futian", "Caiyun"]}

CASES: Cases = {
    "compare_docx_files": [
        *against(
            word("Alpha beta", "", "Gamma"),
            (1, word("Alpha beta", "", "Gamma")),
            (0, word("Alpha beta", "", "Delta")),
            (1, LINES),
            (0, LINES, {"ignore_blanks": False}),
            (0, LOWER),
            (1, LOWER, {"ignore_case": True}),
            (1, LOWER, AS_LISTED),
            (0, TURNED),
            (1, TURNED, {"ignore_order": True}),
            (30 / 32, NEAR, {"fuzzy_match": True}),
            (30 / 32, NEAR, {"content_only": True}),
            ((1 + 1 + 0.8) / 3, NEAR, {"fuzzy_match": True, "ignore_blanks": False}),
            (0, ODT),
        ),
        *against(ODT, (1, odt("Alpha", " beta")), (0, odt("Alpha ", "gamma"))),
    ],
    "compare_docx_files_and_ignore_new_lines": against(
        word("a  b", "c"),
        (1, SPREAD),
        (0, SPREAD, {"ignore_blanks": False}),
        (0, word("a b", "d")),
    ),
    "compare_docx_lines": against(
        word("b", "a"), (1, word("a", "", " b ", "a")), (0, word("a", "b", "c"))
    ),
    "compare_init_lines": against(word("a", "b"), (1, word("a", "b", "c")), (0, word("a", "c"))),
    "compare_docx_tables": against(
        word("x", change=table("1 2", "3 4")),
        (1, word("y", change=table("1 2", "3 4"))),
        (0, word("x", change=table("1 2", "3 5"))),
        (0, word("x", change=table("1 2 3 4"))),
        (0, word("x")),
    ),
    "compare_docx_images": against(
        word("x", change=with_picture("red")),
        (1, word("y", change=with_picture("red"))),
        (0, word("x", change=with_picture("blue"))),
        (0, word("x")),
    ),
    "compare_contains_image": one_changed(lambda d: runs(d)[0].add_picture(picture("red"))),
    "compare_references": [
        *against(
            word("Text", "References", "[1] abcdefgh"),
            (1, word("Other", "References", "", "[1] abcdefgh")),
            (5 / 6, word("References", "[1] abcdefgx")),
            (0, word("References", "zzzzzzzzzzzz")),
            (0, PLAIN),
            (0, NAMED, {"reference_indicator": "Sources"}),
        ),
        Case(1, PLAIN, PLAIN),
        Case(1, NAMED, NAMED, reference_indicator="Sources", reference_base_result=0.1),
    ],
    "check_no_duplicates": alone((1, INITIAL, ONCE), (0, INITIAL, TWICE), (0, INITIAL, LOST)),
    "compare_unique_train_records": against(
        [word(*TRAINS[:2]), INITIAL],
        (1, ONCE),
        (0, TWICE),
        (0, LOST),
        (0, word(TRAINS[0], "09:00:00, T2, S9, 2")),
    ),
    "fuzzy_place_math": against(
        PLACES,
        (1, word("Futian Caiyun", "", "Futian")),
        ((1 + 5 / 6 + 1) / 3, word("Futian", "Caiyux", "Futian")),
        (0, word("Futian Caiyun")),
    ),
    "compare_insert_equation": one_changed(
        lambda document: runs(document)[0]._r.append(OxmlElement("w:object"))
    ),
}
