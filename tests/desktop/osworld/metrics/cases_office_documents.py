"""Cases of metrics of text documents, PDF files, books, and LibreOffice's settings."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import docx
from docx.oxml import OxmlElement
from docx.shared import RGBColor
from metric_case import Case, Cases
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


def word(path: Path, *paragraphs: str, change: Callable[[Any], Any] | None = None) -> str:
    """A document of these paragraphs, each one run, with what `change` does to it."""
    document = docx.Document()
    for text in paragraphs:
        document.add_paragraph().add_run(text)
    if change is not None:
        change(document)
    document.save(str(path))
    return str(path)


def odt(path: Path, first: str, marked: str, colour: str = "#ffff00") -> str:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        file.writestr("content.xml", ODT_BODY.format(first=first, marked=marked, colour=colour))
    return str(path)


def runs(document: Any) -> list[Any]:
    return [run for paragraph in document.paragraphs for run in paragraph.runs]


def table(*rows: str, colours: Iterable[RGBColor] = ()) -> Callable[[Any], None]:
    """A table of one-word cells, each word in the colour of its turn."""
    given = list(colours)

    def change(document: Any) -> None:
        cells = [row.split() for row in rows]
        made = document.add_table(len(cells), len(cells[0]))
        for y, row in enumerate(cells):
            for x, text in enumerate(row):
                run = made.cell(y, x).paragraphs[0].add_run(text)
                if given:
                    run.font.color.rgb = given.pop(0)

    return change


def picture(colour: str, folder: Path) -> Callable[[Any], None]:
    file = folder / f"{colour}.png"
    Image.new("RGB", (8, 8), colour).save(file)
    return lambda document: document.add_picture(str(file))


def one_changed(change: Callable[[Any], Any], *paragraphs: str) -> Callable[[Path], Iterator[Case]]:
    """A document with something in it, against one with and one without it."""

    def cases(folder: Path) -> Iterator[Case]:
        texts = paragraphs or ("One sentence.", "And another one.")
        wanted = word(folder / "wanted.docx", *texts, change=change)
        yield Case(1, word(folder / "right.docx", *texts, change=change), wanted)
        yield Case(0, word(folder / "plain.docx", *texts), wanted)

    return cases


def docx_files(folder: Path) -> Iterator[Case]:
    wanted = word(folder / "wanted.docx", "Alpha beta", "", "Gamma")
    yield Case(1, word(folder / "same.docx", "Alpha beta", "", "Gamma"), wanted)
    yield Case(0, word(folder / "other.docx", "Alpha beta", "", "Delta"), wanted)
    lines = word(folder / "lines.docx", "Alpha", "beta Gamma")
    yield Case(1, lines, wanted)
    yield Case(0, lines, wanted, ignore_blanks=False)
    lower = word(folder / "lower.docx", "alpha beta", "gamma")
    yield Case(0, lower, wanted)
    yield Case(1, lower, wanted, ignore_case=True)
    yield Case(1, lower, wanted, ignore_case=True, ignore_blanks=False, delete_empty_lines=True)
    turned = word(folder / "turned.docx", "Gamma", "Alpha beta")
    yield Case(0, turned, wanted)
    yield Case(1, turned, wanted, ignore_order=True)
    near = word(folder / "near.docx", "Alpha beta", "", "Gammo")
    yield Case(30 / 32, near, wanted, fuzzy_match=True)
    yield Case(30 / 32, near, wanted, content_only=True)
    yield Case((1 + 1 + 0.8) / 3, near, wanted, fuzzy_match=True, ignore_blanks=False)
    first = odt(folder / "first.odt", "Alpha ", "beta")
    yield Case(1, odt(folder / "second.odt", "Alpha", " beta"), first)
    yield Case(0, odt(folder / "third.odt", "Alpha ", "gamma"), first)
    yield Case(0, first, wanted)


def docx_lines(folder: Path) -> Iterator[Case]:
    wanted = word(folder / "wanted.docx", "b", "a")
    yield Case(1, word(folder / "same.docx", "a", "", " b ", "a"), wanted)
    yield Case(0, word(folder / "more.docx", "a", "b", "c"), wanted)


def docx_without_lines(folder: Path) -> Iterator[Case]:
    wanted = word(folder / "wanted.docx", "a  b", "c")
    spread = word(folder / "spread.docx", "a b", "", "c")
    yield Case(1, spread, wanted)
    yield Case(0, spread, wanted, ignore_blanks=False)
    yield Case(0, word(folder / "other.docx", "a b", "d"), wanted)


def init_lines(folder: Path) -> Iterator[Case]:
    wanted = word(folder / "wanted.docx", "a", "b")
    yield Case(1, word(folder / "more.docx", "a", "b", "c"), wanted)
    yield Case(0, word(folder / "other.docx", "a", "c"), wanted)


def docx_tables(folder: Path) -> Iterator[Case]:
    wanted = word(folder / "wanted.docx", "x", change=table("1 2", "3 4"))
    yield Case(1, word(folder / "same.docx", "y", change=table("1 2", "3 4")), wanted)
    yield Case(0, word(folder / "cell.docx", "x", change=table("1 2", "3 5")), wanted)
    yield Case(0, word(folder / "shape.docx", "x", change=table("1 2 3 4")), wanted)
    yield Case(0, word(folder / "none.docx", "x"), wanted)


def docx_images(folder: Path) -> Iterator[Case]:
    wanted = word(folder / "wanted.docx", "x", change=picture("red", folder))
    yield Case(1, word(folder / "same.docx", "y", change=picture("red", folder)), wanted)
    yield Case(0, word(folder / "blue.docx", "x", change=picture("blue", folder)), wanted)
    yield Case(0, word(folder / "none.docx", "x"), wanted)


def with_picture(folder: Path) -> Iterator[Case]:
    def change(document: Any) -> None:
        file = folder / "red.png"
        Image.new("RGB", (8, 8), "red").save(file)
        runs(document)[0].add_picture(str(file))

    yield from one_changed(change)(folder)


def equation(document: Any) -> None:
    runs(document)[0]._r.append(OxmlElement("w:object"))


def references(folder: Path) -> Iterator[Case]:
    wanted = word(folder / "wanted.docx", "Text", "References", "[1] abcdefgh")
    yield Case(1, word(folder / "same.docx", "Other", "References", "", "[1] abcdefgh"), wanted)
    yield Case(5 / 6, word(folder / "near.docx", "References", "[1] abcdefgx"), wanted)
    far = word(folder / "far.docx", "References", "zzzzzzzzzzzz")
    yield Case(0, far, wanted)
    yield Case(0, word(folder / "none.docx", "Text"), wanted)
    plain = word(folder / "plain.docx", "Text")
    yield Case(1, plain, plain)
    named = word(folder / "named.docx", "Sources", "[1] abcdefgh")
    yield Case(0, named, wanted, reference_indicator="Sources")
    yield Case(1, named, named, reference_indicator="Sources", reference_base_result=0.1)


def trains(folder: Path) -> Iterator[tuple[str, str]]:
    """An initial document, and what may have been made of it."""
    lines = ("08:00:00, T1, S1, 1", "08:10:00, T2, S1, 2", "08:20:00, T1, S2, 1")
    initial = word(folder / "initial.docx", *lines)
    for name, kept in (
        ("once", lines[:2]),
        ("twice", lines),
        ("lost", lines[:1]),
        ("made-up", (lines[0], "09:00:00, T2, S9, 2")),
    ):
        yield initial, word(folder / f"{name}.docx", *kept)


def no_duplicates(folder: Path) -> Iterator[Case]:
    once, twice, lost, _ = trains(folder)
    yield Case(1, *once)
    yield Case(0, *twice)
    yield Case(0, *lost)


def unique_trains(folder: Path) -> Iterator[Case]:
    (initial, once), (_, twice), (_, lost), (_, made_up) = trains(folder)
    wanted = word(folder / "wanted.docx", "08:00:00, T1, S1, 1", "08:10:00, T2, S1, 2")
    yield Case(1, once, [wanted, initial])
    yield Case(0, twice, [wanted, initial])
    yield Case(0, lost, [wanted, initial])
    yield Case(0, made_up, [wanted, initial])


def places(folder: Path) -> Iterator[Case]:
    rules = {"expected": ["Lianhua", "Futian", "Caiyun"]}
    yield Case(1, word(folder / "right.docx", "Futian Caiyun", "", "Futian"), rules)
    near = word(folder / "near.docx", "Futian", "Caiyux", "Futian")
    yield Case((1 + 5 / 6 + 1) / 3, near, rules)
    yield Case(0, word(folder / "two.docx", "Futian Caiyun"), rules)


CASES: Cases = {
    "compare_docx_files": docx_files,
    "compare_docx_files_and_ignore_new_lines": docx_without_lines,
    "compare_docx_lines": docx_lines,
    "compare_init_lines": init_lines,
    "compare_docx_tables": docx_tables,
    "compare_docx_images": docx_images,
    "compare_contains_image": with_picture,
    "compare_references": references,
    "check_no_duplicates": no_duplicates,
    "compare_unique_train_records": unique_trains,
    "fuzzy_place_math": places,
    "compare_insert_equation": one_changed(equation),
}
