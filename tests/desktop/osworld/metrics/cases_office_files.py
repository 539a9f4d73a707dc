"""Cases of metrics of PDF files, books, and LibreOffice's settings."""

from __future__ import annotations

from typing import Any

from cases_files import zipped
from metric_case import Case, Cases, Made, against, alone, text
from PIL import Image, ImageDraw

ITEM = """<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>
</oor:items>"""


def pdf(*pages: str) -> Made:
    """A PDF file with a line of text on each page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1"]
    objects[2] += " /BaseFont /Helvetica >>"
    kids = []
    for line in pages:
        stream = f"BT /F1 24 Tf 50 700 Td ({line}) Tj ET"
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R"
            f" >> >> /Contents {len(objects) + 2} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    data, places = "%PDF-1.4\n", []
    for number, part in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n{part}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    return text(f"{data}{end}startxref\n{len(data)}\n%%EOF\n", "pdf")


def pdf_of_boxes(*boxes: tuple[int, int, int, int]) -> Made:
    """A PDF file with a black box in a picture on each page."""
    pages = []
    for box in boxes:
        page = Image.new("RGB", (64, 64), "white")
        ImageDraw.Draw(page).rectangle(box, fill="black")
        pages.append(page)
    return Made("pdf", lambda path: pages[0].save(path, save_all=True, append_images=pages[1:]))


def epub(number: str, *pages: str) -> Made:
    parts = {
        "content.opf": f"<dc:identifier>{number}</dc:identifier>\n<title/>\n",
        "toc.ncx": f'<navPoint id="{number}">\n<text/>\n',
    }
    for place, line in enumerate(pages):
        parts[f"p{place}.html"] = f"<html><body>\n<p>{line}</p></body></html>"
    return zipped(parts, "epub")


def setting(path: str, name: str, right: str, wrong: str, *rules: Any) -> list[Case]:
    """A setting of LibreOffice that is right, one that is wrong, and one that is not there."""
    places = ((1, path, right), (0, path, wrong), (0, "/org.openoffice.Other", right))
    return [
        Case(score, text(ITEM.format(path=place, name=name, value=value), "xcu"), *rules)
        for score, place, value in places
    ]


INVOICE, OTHER = pdf("An invoice"), pdf("zzzzz")
LEFT, TOP = (0, 0, 20, 63), (0, 0, 63, 20)
TWO, BILL = pdf("one", "two"), pdf("Total 42", "Paid")
OFFICE = "/org.openoffice.Office"

CASES: Cases = {
    "compare_pdfs": [
        *against(INVOICE, (1, pdf("An invoice")), (20 / 25, pdf("An invoice", "paid")), (0, OTHER)),
        *against([INVOICE, INVOICE], (0.5, [INVOICE, OTHER]), (0.5, [INVOICE])),
        Case(0, INVOICE, None),
        Case(0.5, [INVOICE, INVOICE], [INVOICE, None]),
    ],
    "compare_pdf_images": [
        *against(
            pdf_of_boxes(LEFT, LEFT),
            (1, pdf_of_boxes(LEFT, LEFT)),
            (0.5, pdf_of_boxes(LEFT, TOP)),
            (0, pdf_of_boxes(TOP, TOP)),
            (0, pdf_of_boxes(LEFT)),
        ),
        Case(1, OTHER, OTHER),
    ],
    "check_pdf_pages": alone(
        (1, TWO, {"relation": "eq", "ref_value": 2}), (0, TWO, {"relation": "lt", "ref_value": 2})
    ),
    "is_gold_text_included_in_pdf": alone(
        (1, BILL, text('{"0": "42", "1": "Paid"}')), (0, BILL, text('{"0": "42", "1": "Due"}'))
    ),
    "compare_epub": against(
        epub("1", "One", "Two"),
        (1, epub("2", "One", "Two")),
        (0.75, epub("1", "One", "Three")),
        # Without its second page the contents, which come last, stand where that page should.
        (0.5, epub("1", "One")),
        (0, zipped({}, "epub")),
    ),
    "find_default_font": setting(
        f"{OFFICE}.Writer/DefaultFont", "Standard", "Arial", "Times", {"font_name": "Arial"}
    ),
    "check_presenter_console_disable": setting(
        f"{OFFICE}.Impress/Misc/Start", "EnablePresenterScreen", "false", "true"
    ),
    "check_auto_saving_time": setting(
        f"{OFFICE}.Common/Save/Document", "AutoSaveTimeIntervall", "3", "10", {"minutes": 3}
    ),
    "check_libre_locale": setting(
        "/org.openoffice.Setup/L10N", "ooSetupSystemLocale", "en-GB", "de", {"locale_set": ["en*"]}
    ),
}
