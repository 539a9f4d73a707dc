"""How text documents look: spacing, fonts, colours, breaks, tabulators.

How different two colours look is CIEDE2000. Source: G. Sharma, W. Wu, E. N. Dalal, "The CIEDE2000
Color-Difference Formula: Implementation Notes, Supplementary Test Data, and Mathematical
Observations" (2005); sRGB after IEC 61966-2-1, its white D65.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ui_gym.desktop.osworld.metrics.documents import (
    WORD,
    odt_has_yellow,
    run_pairs,
    same_text,
    word,
)
from ui_gym.desktop.osworld.metrics.reading import examined, library

RED, BLUE = (255, 0, 0), (0, 0, 255)


@examined()
def compare_line_spacing(result: Any, expected: Any) -> float:
    """1.0 where the texts are the same, and each paragraph has the same line spacing."""
    return same_text(result, expected) and _spacings(word(result)) == _spacings(word(expected))


def _spacings(document: Any) -> list[Any]:
    return [paragraph.paragraph_format.line_spacing for paragraph in document.paragraphs]


@examined()
def compare_insert_equation(result: Any, expected: Any) -> float:
    """1.0 where the texts are the same, and the same run of both holds an equation's object."""
    return same_text(result, expected) and any(
        run.element.xpath(".//w:object") and other.element.xpath(".//w:object")
        for run, other in run_pairs(word(result), word(expected))
    )


@examined(word, word)
def compare_subscript_contains(mine: Any, its: Any) -> float:
    """1.0 where the same run of both documents is a subscript."""
    pairs = run_pairs(mine, its)
    return any(run.font.subscript and other.font.subscript for run, other in pairs)


@examined(word)
def compare_font_names(document: Any, rules: Mapping[str, Any]) -> float:
    """1.0 where every run of the text has the font ``font_name`` by itself."""
    return all(run.font.name == rules["font_name"] for run in _runs(document))


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


@examined(word, word)
def compare_highlighted_text(mine: Any, its: Any) -> float:
    """1.0 where the same texts are highlighted, in tables too."""
    return set(_highlighted(mine)) == set(_highlighted(its))


def _highlighted(document: Any) -> Iterator[str | None]:
    for run in document.element.iter(f"{WORD}r"):
        mark = run.find(f".//{WORD}highlight")
        text = run.find(f".//{WORD}t")
        if mark is not None and text is not None and mark.get(f"{WORD}val") != "none":
            yield text.text


@examined()
def check_highlighted_words(result: Any, expected: Any) -> float:
    """1.0 where an .odt has the expected text, and none of it with a yellow background.

    A .docx, which has no such backgrounds, is 0.0 (an error in OSWorld)."""
    return same_text(result, expected) and not odt_has_yellow(result)


@examined()
def evaluate_strike_through_last_paragraph(result: Any, expected: Any) -> float:
    """1.0 where the texts are the same, and all of the last paragraph is struck through."""
    if not same_text(result, expected):
        return 0.0
    paragraphs = word(result).paragraphs
    return bool(paragraphs) and all(run.font.strike for run in paragraphs[-1].runs)


@examined()
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


@examined(word)
def evaluate_conversion(document: Any) -> float:
    """1.0 where no run, in tables or elsewhere, is all upper-case."""
    runs = [*_table_runs(document), *_runs(document)]
    return not any(run.text.isupper() for run in runs)


@examined(word)
def evaluate_spacing(document: Any) -> float:
    """1.0 where the first three paragraphs have the line spacings 1, 2 and 1.5."""
    found = [p.paragraph_format.line_spacing for p in document.paragraphs[:3]]
    return found == [1.0, 2.0, 1.5]


@examined()
def check_italic_font_size_14(result: Any, expected: Any) -> float:
    """1.0 where the texts are the same, and every run in italics is of 14 points."""
    return same_text(result, expected) and all(
        run.font.size is not None and run.font.size.pt == 14
        for run in _runs(word(result))
        if run.italic
    )


@examined()
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


@examined()
def has_page_numbers_in_footers(result: Any) -> float:
    """1.0 where the footer of every section begins with a paragraph that has a digit in it."""
    footers = [section.footer.paragraphs for section in word(result).sections]
    return all(footer and any(map(str.isdigit, footer[0].text)) for footer in footers)


@examined()
def is_first_line_centered(result: Any) -> float:
    """1.0 where the first paragraph is centred by itself."""
    centre = library("docx.enum.text").WD_PARAGRAPH_ALIGNMENT.CENTER
    paragraphs = word(result).paragraphs
    return bool(paragraphs) and paragraphs[0].paragraph_format.alignment == centre


@examined(word)
def contains_page_break(document: Any, rules: Mapping[str, Any] | None = None) -> float:
    """1.0 where there is a page break, and ``page_break_count`` of them if that is said."""
    breaks = [
        mark
        for run in _runs(document)
        for mark in run.element.iter(f"{WORD}br")
        if mark.get(f"{WORD}type") == "page"
    ]
    count = (rules or {}).get("page_break_count")
    return bool(breaks) and count in (None, len(breaks))


@examined(word, word)
def check_tabstops(document: Any, wanted: Any, **options: Any) -> float:
    """How near the tabulators of each paragraph are to the expected, empty paragraphs left out.

    Their number and their kinds must be the same; the score is 1 less the mean distance, as a part
    of the width of the text. Option: ``word_number_split_by_tabstop``, how many words each
    paragraph has in its part between tabulators that ``index`` (0) names.
    """
    mine, its = ([p for p in whole.paragraphs if p.text.strip()] for whole in (document, wanted))
    number = options.get("word_number_split_by_tabstop")
    index = options.get("index", 0)
    if len(mine) != len(its) or not mine:
        return 0.0
    if number is not None and any(_words(p.text, index) != number for p in mine):
        return 0.0
    section = wanted.sections[0]
    width = section.page_width - section.left_margin - section.right_margin
    distance = 0.0
    for first, second in zip(mine, its, strict=True):
        stops, others = _stops(first), _stops(second)
        if [stop.alignment for stop in stops] != [stop.alignment for stop in others]:
            return 0.0
        pairs = zip(stops, others, strict=True)
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


RGB = tuple[int, ...]
WHITE = (0.95047, 1.0, 1.08883)
XYZ = (
    (0.412453, 0.357580, 0.180423),
    (0.212671, 0.715160, 0.072169),
    (0.019334, 0.119193, 0.950227),
)


def difference(first: RGB, second: RGB) -> float:
    """The difference of two colours, each red, green and blue of 0 to 255. About 1 can just be
    seen; black and white are 100 apart."""
    return ciede2000(lab(first), lab(second))


def lab(rgb: RGB) -> tuple[float, float, float]:
    """A colour in CIE L*a*b*."""
    linear = [_linear(value / 255) for value in rgb]
    x, y, z = (
        _root(sum(a * b for a, b in zip(row, linear, strict=True)) / white)
        for row, white in zip(XYZ, WHITE, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _linear(value: float) -> float:
    return ((value + 0.055) / 1.055) ** 2.4 if value > 0.04045 else value / 12.92


def _root(value: float) -> float:
    return math.cbrt(value) if value > 0.008856 else 7.787 * value + 16 / 116


def ciede2000(first: tuple[float, float, float], second: tuple[float, float, float]) -> float:
    """The difference of two colours in L*a*b*; the names are those of the formula."""
    (l1, a1, b1), (l2, a2, b2) = first, second
    c_mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = 0.5 * (1 - _saturated(c_mean))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = math.degrees(math.atan2(b1, a1)) % 360, math.degrees(math.atan2(b2, a2)) % 360

    turn = h2 - h1 if c1 * c2 else 0.0
    turn -= 360 * round(turn / 360)
    delta_h = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    l_mean, c_mean = (l1 + l2) / 2, (c1 + c2) / 2
    h_mean = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2

    def cosine(times: float, less: float) -> float:
        return math.cos(math.radians(times * h_mean - less))

    t = 1 - 0.17 * cosine(1, 30) + 0.24 * cosine(2, 0) + 0.32 * cosine(3, -6)
    t -= 0.20 * cosine(4, 63)
    s_l = 1 + 0.015 * (l_mean - 50) ** 2 / math.sqrt(20 + (l_mean - 50) ** 2)
    s_c, s_h = 1 + 0.045 * c_mean, 1 + 0.015 * c_mean * t
    rotation = math.sin(math.radians(60 * math.exp(-(((h_mean - 275) / 25) ** 2))))
    r_t = -2 * _saturated(c_mean) * rotation
    d_l, d_c, d_h = (l2 - l1) / s_l, (c2 - c1) / s_c, delta_h / s_h
    return math.sqrt(d_l**2 + d_c**2 + d_h**2 + r_t * d_c * d_h)


def _saturated(chroma: float) -> float:
    return math.sqrt(chroma**7 / (chroma**7 + 25.0**7))
