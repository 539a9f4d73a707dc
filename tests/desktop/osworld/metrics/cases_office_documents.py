"""Cases of metrics of text documents, PDF files, books, and LibreOffice's settings."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import docx
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_BREAK, WD_COLOR_INDEX, WD_TAB_ALIGNMENT
from docx.oxml import OxmlElement
from docx.shared import Pt, RGBColor
from metric_case import Case, Cases
from PIL import Image, ImageDraw

ODT_BODY = """<office:document-content
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0">
<office:automatic-styles><style:style style:name="T1"><style:text-properties
 fo:background-color="{colour}"/></style:style></office:automatic-styles>
<office:body><office:text><text:p>{first}<text:span text:style-name="T1">{marked}</text:span>.
</text:p></office:text></office:body></office:document-content>"""

ITEM = """<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>
</oor:items>"""


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


def every_run(**styles: Any) -> Callable[[Any], None]:
    """What gives each run these attributes of its font."""

    def change(document: Any) -> None:
        for run in runs(document):
            for name, value in styles.items():
                setattr(run.font, name, value)

    return change


def last_run(**styles: Any) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for name, value in styles.items():
            setattr(runs(document)[-1].font, name, value)

    return change


def spaced(*lines: float) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for paragraph, line in zip(document.paragraphs, lines, strict=True):
            paragraph.paragraph_format.line_spacing = line

    return change


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


def alone(change: Callable[[Any], Any], *rest: Any) -> Callable[[Path], Iterator[Case]]:
    """A document with something in it, and one without; each judged by itself."""

    def cases(folder: Path) -> Iterator[Case]:
        yield Case(1, word(folder / "right.docx", "One", "two", "three", change=change), *rest)
        yield Case(0, word(folder / "plain.docx", "One", "two", "three"), *rest)

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
    yield Case(0, once, [wanted])


def places(folder: Path) -> Iterator[Case]:
    rules = {"expected": ["Lianhua", "Futian", "Caiyun"]}
    yield Case(1, word(folder / "right.docx", "Futian Caiyun", "", "Futian"), rules)
    near = word(folder / "near.docx", "Futian", "Caiyux", "Futian")
    yield Case((1 + 5 / 6 + 1) / 3, near, rules)
    yield Case(0, word(folder / "two.docx", "Futian Caiyun"), rules)


def fonts(folder: Path) -> Iterator[Case]:
    rules = {"font_name": "Arial"}
    yield Case(1, word(folder / "a.docx", "x", "y", change=every_run(name="Arial")), rules)
    yield Case(0, word(folder / "b.docx", "x", "y", change=last_run(name="Arial")), rules)


def highlighted(folder: Path) -> Iterator[Case]:
    yellow = last_run(highlight_color=WD_COLOR_INDEX.YELLOW)
    yield from one_changed(yellow)(folder)
    more = word(
        folder / "more.docx",
        *("One sentence.", "And another one."),
        change=every_run(highlight_color=WD_COLOR_INDEX.YELLOW),
    )
    yield Case(0, more, str(folder / "wanted.docx"))


def highlighted_words(folder: Path) -> Iterator[Case]:
    wanted = odt(folder / "wanted.odt", "Alpha ", "beta", colour="transparent")
    yield Case(1, odt(folder / "plain.odt", "Alpha ", "beta", colour="#ffffff"), wanted)
    yield Case(0, odt(folder / "yellow.odt", "Alpha ", "beta"), wanted)
    yield Case(0, odt(folder / "other.odt", "Alpha ", "gamma", colour="#ffffff"), wanted)
    plain = word(folder / "plain.docx", "Alpha beta")
    yield Case(0, plain, plain)


def struck(folder: Path) -> Iterator[Case]:
    texts = ("One sentence.", "And another one.")
    wanted = word(folder / "wanted.docx", *texts)
    yield Case(1, word(folder / "right.docx", *texts, change=last_run(strike=True)), wanted)
    yield Case(0, wanted, wanted)
    other = word(folder / "other.docx", "Something else.", change=last_run(strike=True))
    yield Case(0, other, wanted)


def coloured_words(folder: Path) -> Iterator[Case]:
    red, blue = RGBColor(255, 0, 0), RGBColor(0, 0, 255)
    plain = word(folder / "plain.docx", "x", change=table("apple bear"))

    def made(name: str, *colours: RGBColor) -> str:
        change = table("apple bear", colours=colours)
        return word(folder / f"{name}.docx", "x", change=change)

    yield Case(1, made("right", red, blue), plain)
    yield Case(1, made("near", RGBColor(250, 5, 5), blue), plain)
    yield Case(0, made("wrong", blue, red), plain)
    yield Case(0, made("far", RGBColor(200, 0, 0), blue), plain)
    yield Case(1, made("farther", RGBColor(200, 0, 0), blue), plain, threshold=30)
    yield Case(0, plain, plain)


def conversion(folder: Path) -> Iterator[Case]:
    yield Case(1, word(folder / "lower.docx", "all lower", "Or Mixed"))
    yield Case(0, word(folder / "upper.docx", "all lower", "UPPER"))
    yield Case(0, word(folder / "table.docx", "all lower", change=table("UPPER lower")))


def italics(folder: Path) -> Iterator[Case]:
    wanted = word(folder / "wanted.docx", "a", "b")
    right = word(folder / "right.docx", "a", "b", change=last_run(italic=True, size=Pt(14)))
    yield Case(1, right, wanted)
    small = word(folder / "small.docx", "a", "b", change=last_run(italic=True, size=Pt(12)))
    yield Case(0, small, wanted)
    yield Case(0, word(folder / "none.docx", "a", "b", change=last_run(italic=True)), wanted)


def aligned(folder: Path) -> Iterator[Case]:
    yield Case(1, word(folder / "right.docx", "One two three\tfour five. Hi there."))
    yield Case(0, word(folder / "blanks.docx", "One  two three four five."))


def footer(text: str) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        document.sections[0].footer.paragraphs[0].text = text

    return change


def page_numbers(folder: Path) -> Iterator[Case]:
    yield Case(1, word(folder / "right.docx", "x", change=footer("Page 3")))
    yield Case(0, word(folder / "text.docx", "x", change=footer("The end")))
    yield Case(0, word(folder / "none.docx", "x"))


def centred(document: Any) -> None:
    document.paragraphs[0].paragraph_format.alignment = WD_ALIGN_PARAGRAPH.CENTER


def page_break(document: Any) -> None:
    runs(document)[0].add_break(WD_BREAK.PAGE)


def page_breaks(folder: Path) -> Iterator[Case]:
    one = word(folder / "one.docx", "a", "b", change=page_break)
    yield Case(1, one, {"page_break_count": 1})
    yield Case(0, one, {"page_break_count": 2})
    yield Case(1, one, {})
    yield Case(0, word(folder / "none.docx", "a", "b"), {})


def tabbed(position: float, *, kind: Any = WD_TAB_ALIGNMENT.RIGHT) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for paragraph in document.paragraphs:
            paragraph.paragraph_format.tab_stops.add_tab_stop(Pt(position), kind)

    return change


def tabulators(folder: Path) -> Iterator[Case]:
    texts = ("one two three\tand more", "", "a b c\td")
    wanted = word(folder / "wanted.docx", *texts, change=tabbed(100))
    right = word(folder / "right.docx", *texts, change=tabbed(100))
    yield Case(1, right, wanted)
    yield Case(1, right, wanted, word_number_split_by_tabstop=3, index=0)
    yield Case(0, right, wanted, word_number_split_by_tabstop=2, index=0)
    yield Case(0, right, wanted, word_number_split_by_tabstop=1, index=5)
    # The text of python-docx's page is 6 inches wide: 432 points.
    moved = word(folder / "moved.docx", *texts, change=tabbed(143.2))
    yield Case(0.9, moved, wanted)
    left = tabbed(100, kind=WD_TAB_ALIGNMENT.LEFT)
    yield Case(0, word(folder / "left.docx", *texts, change=left), wanted)
    yield Case(0, word(folder / "none.docx", *texts), wanted)
    yield Case(0, word(folder / "empty.docx", ""), wanted)


def pdf(path: Path, *pages: str) -> str:
    """A PDF file with a line of text on each page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1"]
    objects[2] += " /BaseFont /Helvetica >>"
    kids = []
    for text in pages:
        stream = f"BT /F1 24 Tf 50 700 Td ({text}) Tj ET"
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R"
            f" >> >> /Contents {len(objects) + 2} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    data, places = "%PDF-1.4\n", []
    for number, text in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n{text}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    path.write_text(f"{data}{end}startxref\n{len(data)}\n%%EOF\n")
    return str(path)


def pdfs(folder: Path) -> Iterator[Case]:
    wanted = pdf(folder / "wanted.pdf", "An invoice")
    yield Case(1, pdf(folder / "same.pdf", "An invoice"), wanted)
    yield Case(20 / 25, pdf(folder / "more.pdf", "An invoice", "paid"), wanted)
    other = pdf(folder / "other.pdf", "zzzzz")
    yield Case(0, other, wanted)
    yield Case(0.5, [wanted, other], [wanted, wanted])
    yield Case(0.5, [wanted], [wanted, wanted])
    yield Case(0, wanted, None)
    yield Case(0.5, [wanted, wanted], [wanted, None])


def pdf_pictures(folder: Path) -> Iterator[Case]:
    def made(name: str, *boxes: tuple[int, int, int, int]) -> str:
        pages = []
        for box in boxes:
            page = Image.new("RGB", (64, 64), "white")
            ImageDraw.Draw(page).rectangle(box, fill="black")
            pages.append(page)
        path = folder / f"{name}.pdf"
        pages[0].save(path, save_all=True, append_images=pages[1:])
        return str(path)

    left, top = (0, 0, 20, 63), (0, 0, 63, 20)
    wanted = made("wanted", left, left)
    yield Case(1, made("same", left, left), wanted)
    yield Case(0.5, made("half", left, top), wanted)
    yield Case(0, made("other", top, top), wanted)
    yield Case(0, made("one", left), wanted)
    text = pdf(folder / "text.pdf", "no picture")
    yield Case(1, text, text)


def pdf_pages(folder: Path) -> Iterator[Case]:
    file = pdf(folder / "two.pdf", "one", "two")
    yield Case(1, file, {"relation": "eq", "ref_value": 2})
    yield Case(0, file, {"relation": "lt", "ref_value": 2})


def text_in_pdf(folder: Path) -> Iterator[Case]:
    file = pdf(folder / "file.pdf", "Total 42", "Paid")
    for name, values, score in (("in", ["42", "Paid"], 1), ("out", ["42", "Due"], 0)):
        path = folder / f"{name}.json"
        path.write_text(json.dumps(dict(enumerate(values))))
        yield Case(score, file, str(path))


def epubs(folder: Path) -> Iterator[Case]:
    def made(name: str, number: str, *pages: str) -> str:
        path = folder / f"{name}.epub"
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("content.opf", f"<dc:identifier>{number}</dc:identifier>\n<title/>\n")
            file.writestr("toc.ncx", f'<navPoint id="{number}">\n<text/>\n')
            for place, text in enumerate(pages):
                file.writestr(f"p{place}.html", f"<html><body>\n<p>{text}</p></body></html>")
        return str(path)

    wanted = made("wanted", "1", "One", "Two")
    yield Case(1, made("same", "2", "One", "Two"), wanted)
    yield Case(0.75, made("other", "1", "One", "Three"), wanted)
    # Without its second page the contents, which come last, stand where that page should.
    yield Case(0.5, made("short", "1", "One"), wanted)
    empty = folder / "empty.epub"
    zipfile.ZipFile(empty, "w").close()
    yield Case(0, str(empty), wanted)


def setting(path: str, name: str, *, right: str, wrong: str, rules: Any = None) -> Any:
    """A setting of LibreOffice that is right, one that is wrong, and one that is not there."""

    def cases(folder: Path) -> Iterator[Case]:
        rest = () if rules is None else (rules,)
        for score, value in ((1, right), (0, wrong)):
            file = folder / f"{value}.xcu"
            file.write_text(ITEM.format(path=path, name=name, value=value))
            yield Case(score, str(file), *rest)
        none = folder / "none.xcu"
        none.write_text(ITEM.format(path="/org.openoffice.Other", name=name, value=right))
        yield Case(0, str(none), *rest)

    return cases


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
    "compare_line_spacing": one_changed(spaced(1.0, 2.0)),
    "compare_insert_equation": one_changed(equation),
    "compare_subscript_contains": one_changed(last_run(subscript=True)),
    "compare_font_names": fonts,
    "compare_highlighted_text": highlighted,
    "check_highlighted_words": highlighted_words,
    "evaluate_strike_through_last_paragraph": struck,
    "evaluate_colored_words_in_tables": coloured_words,
    "evaluate_conversion": conversion,
    "evaluate_spacing": alone(spaced(1.0, 2.0, 1.5)),
    "check_italic_font_size_14": italics,
    "evaluate_alignment": aligned,
    "has_page_numbers_in_footers": page_numbers,
    "is_first_line_centered": alone(centred),
    "contains_page_break": page_breaks,
    "check_tabstops": tabulators,
    "compare_pdfs": pdfs,
    "compare_pdf_images": pdf_pictures,
    "check_pdf_pages": pdf_pages,
    "is_gold_text_included_in_pdf": text_in_pdf,
    "compare_epub": epubs,
    "find_default_font": setting(
        "/org.openoffice.Office.Writer/DefaultFont",
        "Standard",
        right="Arial",
        wrong="Times",
        rules={"font_name": "Arial"},
    ),
    "check_presenter_console_disable": setting(
        "/org.openoffice.Office.Impress/Misc/Start",
        "EnablePresenterScreen",
        right="false",
        wrong="true",
    ),
    "check_auto_saving_time": setting(
        "/org.openoffice.Office.Common/Save/Document",
        "AutoSaveTimeIntervall",
        right="3",
        wrong="10",
        rules={"minutes": 3},
    ),
    "check_libre_locale": setting(
        "/org.openoffice.Setup/L10N",
        "ooSetupSystemLocale",
        right="en-GB",
        wrong="de",
        rules={"locale_set": ["en*"]},
    ),
}
