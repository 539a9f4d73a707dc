"""How text documents look: spacing, fonts, colours, breaks, tabulators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ui_gym.desktop.osworld.metrics.docs_colours import difference
from ui_gym.desktop.osworld.metrics.docs_reading import WORD, odt_has_yellow, word, word_pair
from ui_gym.desktop.osworld.metrics.documents import same_text
from ui_gym.desktop.osworld.metrics.office import examined, opened
from ui_gym.desktop.osworld.metrics.reading import library

RED, BLUE = (255, 0, 0), (0, 0, 255)


@examined("compare_line_spacing")
def compare_line_spacing(result: Any, expected: Any) -> float:
    """1.0 where the texts are the same, and each paragraph has the same line spacing."""
    if not same_text(result, expected):
        return 0.0
    mine, its = (
        [paragraph.paragraph_format.line_spacing for paragraph in document.paragraphs]
        for document in word_pair(result, expected)
    )
    return float(mine == its)


def _some_run(result: Any, expected: Any, holds: Callable[[Any], bool]) -> float:
    """1.0 where something holds for a run, and for the same run of the expected document."""
    mine, its = word_pair(result, expected)
    for first, second in zip(mine.paragraphs, its.paragraphs, strict=False):
        for run, other in zip(first.runs, second.runs, strict=False):
            if holds(run) and holds(other):
                return 1.0
    return 0.0


@examined("compare_insert_equation")
def compare_insert_equation(result: Any, expected: Any) -> float:
    """1.0 where the texts are the same, and the same run of both holds an equation's object."""
    if not same_text(result, expected):
        return 0.0
    return _some_run(result, expected, lambda run: bool(run.element.xpath(".//w:object")))


@examined("compare_subscript_contains")
def compare_subscript_contains(result: Any, expected: Any) -> float:
    """1.0 where the same run of both documents is a subscript."""
    return _some_run(result, expected, lambda run: bool(run.font.subscript))


@examined("compare_font_names")
def compare_font_names(result: Any, rules: Mapping[str, Any]) -> float:
    """1.0 where every run of the text has the font ``font_name`` by itself."""
    return float(all(run.font.name == rules["font_name"] for run in _runs(word(result))))


def _runs(document: Any) -> Iterator[Any]:
    """The runs of the body's paragraphs, those in tables left out."""
    for paragraph in document.paragraphs:
        yield from paragraph.runs


def _table_runs(document: Any) -> Iterator[Any]:
    for table in document.tables:
        for row in table.rows:
            for cell in row.cells:
                for paragraph in cell.paragraphs:
                    yield from paragraph.runs


@examined("compare_highlighted_text")
def compare_highlighted_text(result: Any, expected: Any) -> float:
    """1.0 where the same texts are highlighted, in tables too."""
    mine, its = (set(_highlighted(document)) for document in word_pair(result, expected))
    return float(mine == its)


def _highlighted(document: Any) -> Iterator[str | None]:
    for run in document.element.iter(f"{WORD}r"):
        mark = run.find(f".//{WORD}highlight")
        text = run.find(f".//{WORD}t")
        if mark is not None and text is not None and mark.get(f"{WORD}val") != "none":
            yield text.text


@examined("check_highlighted_words")
def check_highlighted_words(result: Any, expected: Any) -> float:
    """1.0 where an .odt has the expected text, and none of it with a yellow background.

    A .docx, which has no such backgrounds, is 0.0 (an error in OSWorld)."""
    if not same_text(result, expected):
        return 0.0
    return float(not opened(result, odt_has_yellow))


@examined("evaluate_strike_through_last_paragraph")
def evaluate_strike_through_last_paragraph(result: Any, expected: Any) -> float:
    """1.0 where the texts are the same, and all of the last paragraph is struck through."""
    if not same_text(result, expected):
        return 0.0
    paragraphs = word(result).paragraphs
    return float(bool(paragraphs) and all(run.font.strike for run in paragraphs[-1].runs))


@examined("evaluate_colored_words_in_tables")
def evaluate_colored_words_in_tables(result: Any, expected: Any, **options: Any) -> float:
    """1.0 where the texts are the same, and in tables the words that begin with a vowel are red,
    all others blue.

    ``threshold`` (3.5) is how far a colour may be off, as a difference by CIEDE2000. A word
    without a colour is wrong (an error in OSWorld).
    """
    if not same_text(result, expected):
        return 0.0
    threshold = options.get("threshold", 3.5)
    for run in _table_runs(word(result)):
        if run.text:
            wanted = RED if run.text[0].lower() in "aeiou" else BLUE
            colour = run.font.color.rgb
            if colour is None or difference(tuple(colour), wanted) > threshold:
                return 0.0
    return 1.0


@examined("evaluate_conversion")
def evaluate_conversion(result: Any) -> float:
    """1.0 where no run, in tables or elsewhere, is all upper-case."""
    document = word(result)
    runs = [*_table_runs(document), *_runs(document)]
    return float(not any(run.text.isupper() for run in runs))


@examined("evaluate_spacing")
def evaluate_spacing(result: Any) -> float:
    """1.0 where the first three paragraphs have the line spacings 1, 2 and 1.5."""
    found = [p.paragraph_format.line_spacing for p in word(result).paragraphs[:3]]
    return float(found == [1.0, 2.0, 1.5])


@examined("check_italic_font_size_14")
def check_italic_font_size_14(result: Any, expected: Any) -> float:
    """1.0 where the texts are the same, and every run in italics is of 14 points."""
    if not same_text(result, expected):
        return 0.0
    sizes = [run.font.size for run in _runs(word(result)) if run.italic]
    return float(all(size is not None and size.pt == 14 for size in sizes))


@examined("evaluate_alignment")
def evaluate_alignment(result: Any) -> float:
    """1.0 where in each sentence of three words and more the first three are found, a space apart,
    before the others."""
    for paragraph in word(result).paragraphs:
        for sentence in paragraph.text.split("."):
            words = sentence.split()
            first, rest = " ".join(words[:3]), " ".join(words[3:])
            if len(words) >= 3 and not -1 < sentence.find(first) < sentence.find(rest):
                return 0.0
    return 1.0


@examined("has_page_numbers_in_footers")
def has_page_numbers_in_footers(result: Any) -> float:
    """1.0 where the footer of every section begins with a paragraph that has a digit in it."""
    for section in word(result).sections:
        paragraphs = section.footer.paragraphs
        if not paragraphs or not any(sign.isdigit() for sign in paragraphs[0].text):
            return 0.0
    return 1.0


@examined("is_first_line_centered")
def is_first_line_centered(result: Any) -> float:
    """1.0 where the first paragraph is centred by itself."""
    centre = library("docx.enum.text").WD_PARAGRAPH_ALIGNMENT.CENTER
    paragraphs = word(result).paragraphs
    return float(bool(paragraphs) and paragraphs[0].paragraph_format.alignment == centre)


@examined("contains_page_break")
def contains_page_break(result: Any, rules: Mapping[str, Any] | None = None) -> float:
    """1.0 where there is a page break, and ``page_break_count`` of them if that is said."""
    breaks = [
        mark
        for run in _runs(word(result))
        for mark in run.element.iter(f"{WORD}br")
        if mark.get(f"{WORD}type") == "page"
    ]
    count = (rules or {}).get("page_break_count")
    return float(bool(breaks) and count in (None, len(breaks)))


@examined("check_tabstops")
def check_tabstops(result: Any, expected: Any, **options: Any) -> float:
    """How near the tabulators of each paragraph are to the expected, empty paragraphs left out.

    Their number and their kinds must be the same; the score is 1 less the mean distance, as a part
    of the width of the text. Option: ``word_number_split_by_tabstop``, how many words each
    paragraph has in its part between tabulators that ``index`` (0) names.
    """
    document, expected_document = word_pair(result, expected)
    mine, its = (
        [paragraph for paragraph in whole.paragraphs if paragraph.text.strip()]
        for whole in (document, expected_document)
    )
    number = options.get("word_number_split_by_tabstop")
    index = options.get("index", 0)
    if len(mine) != len(its) or not mine:
        return 0.0
    if number is not None and any(_words(p.text, index) != number for p in mine):
        return 0.0
    section = expected_document.sections[0]
    width = section.page_width - section.left_margin - section.right_margin
    distance = 0.0
    for first, second in zip(mine, its, strict=True):
        stops, wanted = _stops(first), _stops(second)
        if [stop.alignment for stop in stops] != [stop.alignment for stop in wanted]:
            return 0.0
        pairs = zip(stops, wanted, strict=True)
        distance += sum(abs(stop.position - other.position) for stop, other in pairs) / width
    return max(0.0, 1 - distance / len(mine))


def _words(text: str, index: int) -> int:
    """How many words there are in a part of a text between its tabulators; -1: no such part."""
    parts = text.split("\t")
    return len(parts[index].split()) if -len(parts) <= index < len(parts) else -1


def _stops(paragraph: Any) -> list[Any]:
    """The tabulators of a paragraph, but those that only take another one away."""
    kinds = library("docx.enum.text").WD_TAB_ALIGNMENT
    return [
        stop
        for stop in paragraph.paragraph_format.tab_stops
        if stop.alignment != kinds.CLEAR and (stop.alignment, stop.position) != (kinds.LEFT, 0)
    ]
