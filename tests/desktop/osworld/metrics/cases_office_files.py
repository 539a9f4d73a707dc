"""Cases of metrics of PDF files, books, and LibreOffice's settings."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metric_case import Case, Cases
from PIL import Image, ImageDraw

ITEM = """<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>
</oor:items>"""


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
