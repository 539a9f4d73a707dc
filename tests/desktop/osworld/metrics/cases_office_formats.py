"""Cases of metrics of how text documents look."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cases_office_documents import odt, one_changed, runs, table, word
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_BREAK, WD_COLOR_INDEX, WD_TAB_ALIGNMENT
from docx.shared import Pt, RGBColor
from metric_case import Case, Cases


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


def alone(change: Callable[[Any], Any], *rest: Any) -> Callable[[Path], Iterator[Case]]:
    """A document with something in it, and one without; each judged by itself."""

    def cases(folder: Path) -> Iterator[Case]:
        yield Case(1, word(folder / "right.docx", "One", "two", "three", change=change), *rest)
        yield Case(0, word(folder / "plain.docx", "One", "two", "three"), *rest)

    return cases


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


CASES: Cases = {
    "compare_line_spacing": one_changed(spaced(1.0, 2.0)),
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
}
