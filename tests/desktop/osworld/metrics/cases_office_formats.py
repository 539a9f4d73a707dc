"""Cases of metrics of how text documents look."""

from __future__ import annotations

from typing import Any

from cases_office_documents import Change, odt, one_changed, runs, table, word
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_BREAK, WD_COLOR_INDEX, WD_TAB_ALIGNMENT
from docx.shared import Pt, RGBColor
from metric_case import Case, Cases, Made, against, alone

RED, BLUE, DARK = RGBColor(255, 0, 0), RGBColor(0, 0, 255), RGBColor(200, 0, 0)
YELLOW = WD_COLOR_INDEX.YELLOW
TEXTS = ("One sentence.", "And another one.")


def every_run(**styles: Any) -> Change:
    """What gives each run these attributes of its font."""

    def change(document: Any) -> None:
        for run in runs(document):
            for name, value in styles.items():
                setattr(run.font, name, value)

    return change


def last_run(**styles: Any) -> Change:
    def change(document: Any) -> None:
        for name, value in styles.items():
            setattr(runs(document)[-1].font, name, value)

    return change


def spaced(*lines: float) -> Change:
    def change(document: Any) -> None:
        for paragraph, line in zip(document.paragraphs, lines, strict=True):
            paragraph.paragraph_format.line_spacing = line

    return change


def with_it_alone(change: Change) -> list[Case]:
    """A document with something in it, and one without; each judged by itself."""
    texts = ("One", "two", "three")
    return alone((1, word(*texts, change=change)), (0, word(*texts)))


def coloured(*colours: RGBColor) -> Made:
    return word("x", change=table("apple bear", colours=colours))


def footer(text: str) -> Change:
    return lambda d: setattr(d.sections[0].footer.paragraphs[0], "text", text)


def centred(document: Any) -> None:
    document.paragraphs[0].paragraph_format.alignment = WD_ALIGN_PARAGRAPH.CENTER


def tabbed(position: float, *, kind: Any = WD_TAB_ALIGNMENT.RIGHT) -> Made:
    def change(document: Any) -> None:
        for paragraph in document.paragraphs:
            paragraph.paragraph_format.tab_stops.add_tab_stop(Pt(position), kind)

    return word(*TABBED, change=change)


TABBED = ("one two three\tand more", "", "a b c\td")
PLAIN = word("Alpha beta")
BROKEN_ONCE = word("a", "b", change=lambda d: runs(d)[0].add_break(WD_BREAK.PAGE))

CASES: Cases = {
    "compare_line_spacing": one_changed(spaced(1.0, 2.0)),
    "compare_subscript_contains": one_changed(last_run(subscript=True)),
    "compare_font_names": against(
        {"font_name": "Arial"},
        (1, word("x", "y", change=every_run(name="Arial"))),
        (0, word("x", "y", change=last_run(name="Arial"))),
    ),
    "compare_highlighted_text": [
        *one_changed(last_run(highlight_color=YELLOW)),
        *against(
            word(*TEXTS, change=last_run(highlight_color=YELLOW)),
            (0, word(*TEXTS, change=every_run(highlight_color=YELLOW))),
        ),
    ],
    "check_highlighted_words": [
        *against(
            odt("Alpha ", "beta", colour="transparent"),
            (1, odt("Alpha ", "beta", colour="#ffffff")),
            (0, odt("Alpha ", "beta")),
            (0, odt("Alpha ", "gamma", colour="#ffffff")),
        ),
        Case(0, PLAIN, PLAIN),
    ],
    "evaluate_strike_through_last_paragraph": against(
        word(*TEXTS),
        (1, word(*TEXTS, change=last_run(strike=True))),
        (0, word(*TEXTS)),
        (0, word("Something else.", change=last_run(strike=True))),
    ),
    "evaluate_colored_words_in_tables": against(
        coloured(),
        (1, coloured(RED, BLUE)),
        (1, coloured(RGBColor(250, 5, 5), BLUE)),
        (0, coloured(BLUE, RED)),
        (0, coloured(DARK, BLUE)),
        (1, coloured(DARK, BLUE), {"threshold": 30}),
        (0, coloured()),
    ),
    "evaluate_conversion": alone(
        (1, word("all lower", "Or Mixed")),
        (0, word("all lower", "UPPER")),
        (0, word("all lower", change=table("UPPER lower"))),
    ),
    "evaluate_spacing": with_it_alone(spaced(1.0, 2.0, 1.5)),
    "check_italic_font_size_14": against(
        word("a", "b"),
        (1, word("a", "b", change=last_run(italic=True, size=Pt(14)))),
        (0, word("a", "b", change=last_run(italic=True, size=Pt(12)))),
        (0, word("a", "b", change=last_run(italic=True))),
    ),
    "evaluate_alignment": alone(
        (1, word("One two three\tfour five. Hi there.")), (0, word("One  two three four five."))
    ),
    "has_page_numbers_in_footers": alone(
        (1, word("x", change=footer("Page 3"))),
        (0, word("x", change=footer("The end"))),
        (0, word("x")),
    ),
    "is_first_line_centered": with_it_alone(centred),
    "contains_page_break": alone(
        (1, BROKEN_ONCE, {"page_break_count": 1}),
        (0, BROKEN_ONCE, {"page_break_count": 2}),
        (1, BROKEN_ONCE, {}),
        (0, word("a", "b"), {}),
    ),
    "check_tabstops": against(
        tabbed(100),
        (1, tabbed(100)),
        (1, tabbed(100), {"word_number_split_by_tabstop": 3, "index": 0}),
        (0, tabbed(100), {"word_number_split_by_tabstop": 2, "index": 0}),
        (0, tabbed(100), {"word_number_split_by_tabstop": 1, "index": 5}),
        # The text of python-docx's page is 6 inches wide: 432 points.
        (0.9, tabbed(143.2)),
        (0, tabbed(100, kind=WD_TAB_ALIGNMENT.LEFT)),
        (0, word(*TABBED)),
        (0, word("")),
    ),
}
