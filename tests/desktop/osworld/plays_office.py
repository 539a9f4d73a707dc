"""Plays of LibreOffice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import docx
import openpyxl
import pptx
from play_case import Play, Player
from play_tools import Acts, by_libreoffice, command

from ui_gym.desktop.offices import LIBREOFFICE_PROCESS, LIBREOFFICE_REST, await_document


def office(title: str, *actions: str) -> Acts:
    """In LibreOffice, which shows that file, these actions, and ctrl+s."""

    def act(player: Player) -> None:
        await_document(player.device, title, LIBREOFFICE_REST, program=LIBREOFFICE_PROCESS)
        player.do(*actions, 'press("ctrl+s")', "wait(2)")

    return act


def convert(kind: str, source: str, *then: str) -> Acts:
    """LibreOffice, which shows that file, makes another kind of it: it is asked by a command."""
    folder, _, name = source.rpartition("/")
    ending = kind.partition(":")[0].strip('"')
    made = f"{source.rpartition('.')[0]}.{ending}"

    def act(player: Player) -> None:
        await_document(player.device, name, LIBREOFFICE_REST, program=LIBREOFFICE_PROCESS)
        asked = f"soffice --headless --convert-to {kind} --outdir {folder or '.'} {source}"
        player.run(asked)
        player.wait_for(lambda: player.device.read(made), asked)
        player.do("wait(2)")  # until all of it is written
        player.run("; ".join((*then, "true")))

    return act


def sheet(*rows: tuple[object, ...]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(path)

    return write


def sheet_as_csv(path: Path) -> None:
    source = path.parent / "source.xlsx"
    sheet(*NAMED)(source)
    (made,) = by_libreoffice(path, "csv", ("source.xlsx", source.read_bytes()))
    path.write_bytes(made.read_bytes())


HOURS = [("Day", "Hours"), (), ("Total", None, 23 / 3, 25.0)]
AMOUNTS = [("Item", "Amount"), ("a", 30), ("b", 10), ("c", 20), ("d", 5)]
NAMED = [("Name", "Born", "Share"), ("Ann", "1990-01-02", 0.5), ("Bob, jr.", "2001-10-20", 0.25)]
DOWN = 'press("down")'
AT_B2 = ('press("ctrl+home")', DOWN, 'press("right")')
AT_E3 = ('press("ctrl+home")', DOWN, DOWN, *['press("right")'] * 4)

CALC = [
    Play(
        "libreoffice_calc/357ef137",
        "a sheet",
        "writes `=C3*D3` into E3",
        "writes `=C3+D3`",
        oracle=office("Multiply_Time", *AT_E3, 'type("=C3*D3", enter=True)'),
        miss=office("Multiply_Time", *AT_E3, 'type("=C3+D3", enter=True)'),
        files={"Multiply_Time_Number.xlsx": sheet(*HOURS)},
        programs=("localc",),
    ),
    Play(
        "libreoffice_calc/51b11269",
        "a sheet, and the same sorted",
        "sorts by the menu Data",
        "sorts the other way round",
        oracle=office("Arrang_Value", *AT_B2, 'press("alt+d")', DOWN, 'press("enter")'),
        miss=office("Arrang_Value", *AT_B2, 'press("alt+d")', DOWN, DOWN, 'press("enter")'),
        files={
            "Arrang_Value_min_to_max.xlsx": sheet(*AMOUNTS),
            "Arrang_Value_min_to_max_gold.xlsx": sheet(
                AMOUNTS[0], *sorted(AMOUNTS[1:], key=lambda row: row[1])
            ),
        },
        programs=("localc",),
    ),
    Play(
        "libreoffice_calc/3aaa4e37",
        "a sheet, and what LibreOffice makes of it",
        "LibreOffice converts it to CSV",
        "with semicolons",
        oracle=convert("csv", "Export_Calc_to_CSV.xlsx"),
        miss=convert('"csv:Text - txt - csv (StarCalc):59,34,76"', "Export_Calc_to_CSV.xlsx"),
        files={"Export_Calc_to_CSV.xlsx": sheet(*NAMED), "Export_Calc_to_CSV.csv": sheet_as_csv},
        programs=("localc",),
    ),
]


def document(*paragraphs: str, breaks: int = 0) -> Callable[[Path], None]:
    """A document, its first paragraph a heading, with page breaks at its end."""

    def write(path: Path) -> None:
        made = docx.Document()
        made.add_heading(paragraphs[0])
        for text in paragraphs[1:]:
            made.add_paragraph(text)
        for _ in range(breaks):
            made.add_page_break()
            made.add_paragraph("The next page.")
        made.save(path)

    return write


def document_as_pdf(path: Path) -> None:
    source = path.parent / "source.docx"
    document(*SUMMARY)(source)
    (made,) = by_libreoffice(path, "pdf", ("source.docx", source.read_bytes()))
    path.write_bytes(made.read_bytes())


SUMMARY = ("Summary", "Who did what, and when.", "All of it was done in time.")
DECLARED = "Desktop/View_Person_Organizational_Summary.docx"

WRITER = [
    Play(
        "libreoffice_writer/3ef2b351",
        "a document",
        "ctrl+e in the heading",
        "ctrl+r",
        oracle=office("Constitution", 'press("ctrl+home")', 'press("ctrl+e")'),
        miss=office("Constitution", 'press("ctrl+home")', 'press("ctrl+r")'),
        files={"Constitution_Template_With_Guidelines.docx": document(*SUMMARY)},
        programs=("lowriter",),
    ),
    Play(
        "libreoffice_writer/ecc2413d",
        "a document with four page breaks",
        "ctrl+enter at its end",
        "enter at its end",
        oracle=office("Sample_Statutory", 'press("ctrl+end")', 'press("ctrl+enter")'),
        miss=office("Sample_Statutory", 'press("ctrl+end")', 'press("enter")'),
        files={"Sample_Statutory_Declaration.docx": document(*SUMMARY, breaks=4)},
        programs=("lowriter",),
    ),
    Play(
        "libreoffice_writer/4bcb1253",
        "a document, and what LibreOffice makes of it",
        "LibreOffice converts it to PDF",
        "under another name",
        oracle=convert("pdf", DECLARED),
        miss=convert("pdf", DECLARED, "cd Desktop", "mv *.pdf Summary.pdf"),
        files={
            "View_Person_Organizational_Summary.docx": document(*SUMMARY),
            "View_Person_Organizational_Summary.pdf": document_as_pdf,
        },
        programs=("lowriter",),
    ),
]


def slides(path: Path) -> None:
    """Two slides with titles and texts."""
    made = pptx.Presentation()
    for title in ("Secrets", "More secrets"):
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = f"About {title.lower()}."
    made.save(path)


def slides_of_its_own(path: Path) -> None:
    """The same slides, as LibreOffice writes them."""
    source = path.parent / "source.pptx"
    slides(source)
    (odp,) = by_libreoffice(source, "odp", ("slides.pptx", source.read_bytes()))
    (made,) = by_libreoffice(path, "pptx", ("slides.odp", odp.read_bytes()))
    path.write_bytes(made.read_bytes())


REGISTRY = ".config/libreoffice/4/user/registrymodifications.xcu"


def autosave(minutes: int) -> Acts:
    """LibreOffice is left, and its settings are as its page Load/Save leaves them."""
    where = "/org.openoffice.Office.Common/Save/Document"
    items = "".join(
        f'<item oor:path="{where}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value>'
        "</prop></item>"
        for name, value in (("AutoSave", "true"), ("AutoSaveTimeIntervall", str(minutes)))
    )
    return command(
        "pkill soffice; for i in $(seq 100); do pgrep soffice.bin >/dev/null || break; sleep 0.2; "
        f"done; sed -i 's|</oor:items>|{items}</oor:items>|' {REGISTRY}"
    )


def saved_as(name: str) -> Acts:
    def act(player: Player) -> None:
        await_document(player.device, "Secrets", LIBREOFFICE_REST, program=LIBREOFFICE_PROCESS)
        player.do('press("ctrl+shift+s")')
        player.await_window("Save")
        player.do(f'type("{name}", clear=True, enter=True)', "wait(3)")

    return act


IMPRESS = [
    Play(
        "libreoffice_impress/2cd43775",
        "nothing",
        "saves by itself every 3 minutes",
        "every 5",
        oracle=autosave(3),
        miss=autosave(5),
        programs=("loimpress",),
    ),
    Play(
        "libreoffice_impress/a097acff",
        "slides",
        "saves them as `pre.pptx`",
        "as `pre.odp`",
        oracle=saved_as("/home/user/Desktop/pre.pptx"),
        miss=saved_as("/home/user/Desktop/pre.odp"),
        files={"Secrets-of-Monetizing-Video.pptx": slides_of_its_own},
        programs=("loimpress",),
    ),
]
