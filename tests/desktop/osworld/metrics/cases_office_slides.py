"""Cases of metrics of presentations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pptx
from cases_office_documents import picture
from lxml import etree
from metric_case import Case, Cases, Made, against, alone
from pptx.dml.color import RGBColor
from pptx.enum.dml import MSO_THEME_COLOR
from pptx.enum.text import PP_ALIGN
from pptx.util import Emu, Inches, Pt

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
RED, BLUE = RGBColor(255, 0, 0), RGBColor(0, 0, 255)
BLANK = 6

Change = Callable[[Any], Any]


def show(*texts: str, change: Change = lambda presentation: None) -> Made:
    """A presentation with a slide for each text, which stands in one box, and with what `change`
    does to it."""

    def write(path: Path) -> None:
        presentation = pptx.Presentation()
        for text in texts:
            slide = presentation.slides.add_slide(presentation.slide_layouts[BLANK])
            box = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(1))
            box.text_frame.paragraphs[0].add_run().text = text
        change(presentation)
        presentation.save(str(path))

    return Made("pptx", write)


def first_box(presentation: Any) -> Any:
    return presentation.slides[0].shapes[0]


def first_paragraph(presentation: Any) -> Any:
    return first_box(presentation).text_frame.paragraphs[0]


def font(**styles: Any) -> Change:
    """What gives the first run these attributes of its font."""

    def change(presentation: Any) -> None:
        for name, value in styles.items():
            setattr(first_paragraph(presentation).runs[0].font, name, value)

    return change


def coloured(value: RGBColor) -> Change:
    def change(presentation: Any) -> None:
        first_paragraph(presentation).runs[0].font.color.rgb = value

    return change


def themed(presentation: Any) -> None:
    first_paragraph(presentation).runs[0].font.color.theme_color = MSO_THEME_COLOR.ACCENT_1


def struck(kind: str) -> Change:
    return lambda presentation: (
        first_paragraph(presentation).runs[0].font._element.set("strike", kind)
    )


def moved(**sides: int) -> Change:
    def change(presentation: Any) -> None:
        for name, value in sides.items():
            setattr(first_box(presentation), name, Emu(value))

    return change


def aligned(presentation: Any) -> None:
    first_paragraph(presentation).alignment = PP_ALIGN.CENTER


def aligned_left(presentation: Any) -> None:
    first_paragraph(presentation).alignment = PP_ALIGN.LEFT


def indented(presentation: Any) -> None:
    first_paragraph(presentation).level = 2


def bullet(presentation: Any, char: str = "•") -> None:
    properties = first_paragraph(presentation)._p.get_or_add_pPr()
    etree.SubElement(properties, f"{{{A}}}buChar").set("char", char)


def empty_bullet(presentation: Any) -> None:
    """What LibreOffice leaves where a bullet has no sign; that is not the same as no bullet."""
    bullet(presentation, "")


def background(value: RGBColor) -> Change:
    def change(presentation: Any) -> None:
        fill = presentation.slides[0].background.fill
        fill.solid()
        fill.fore_color.rgb = value

    return change


def noted(text: str) -> Change:
    def change(presentation: Any) -> None:
        presentation.slides[0].notes_slide.notes_text_frame.text = text

    return change


def table(colour: RGBColor, rows: int = 1) -> Change:
    def change(presentation: Any) -> None:
        shapes = presentation.slides[0].shapes
        cells = shapes.add_table(rows, 2, Inches(1), Inches(3), Inches(4), Inches(1)).table
        run = cells.cell(0, 1).text_frame.paragraphs[0].add_run()
        run.text = "cell"
        run.font.color.rgb = colour

    return change


def grouped(*, centred: bool) -> Change:
    def change(presentation: Any) -> None:
        group = presentation.slides[0].shapes.add_group_shape()
        box = group.shapes.add_textbox(Inches(1), Inches(3), Inches(1), Inches(1))
        box.text_frame.text = "inner"
        if centred:
            box.text_frame.paragraphs[0].alignment = PP_ALIGN.CENTER

    return change


EXAMINED: dict[str, Change] = {
    "examine_font_name": font(name="Arial"),
    "examine_font_size": font(size=Pt(40)),
    "examine_font_bold": font(bold=True),
    "examine_font_italic": font(italic=True),
    "examine_font_underline": font(underline=True),
    "examine_strike_through": struck("sngStrike"),
    "examine_alignment": aligned,
    "examine_indent": indented,
    "examine_bullets": bullet,
    "examine_background_color": background(RED),
    "examine_note": noted("Say this."),
    "examine_shape": moved(left=2_000_000),
}
"""A difference that an option finds, and that is none once the option is off."""


def changed(change: Change) -> Made:
    return show("x", change=change)


def with_photo(left: float, top: float, width: float = 1) -> Made:
    """A picture on the second slide."""
    box = [Inches(side) for side in (left, top, width, 1)]
    return show("x", "y", change=lambda p: p.slides[1].shapes.add_picture(picture("green"), *box))


def with_low_table(top: float) -> Made:
    """A table on the third slide."""
    box = [Inches(side) for side in (1, top, 2, 1)]
    return show("x", "y", "z", change=lambda p: p.slides[2].shapes.add_table(1, 1, *box))


def filled(colour: str, *box: float) -> Made:
    """A picture on the first slide."""
    sides = [Inches(side) for side in box]
    return changed(lambda p: p.slides[0].shapes.add_picture(picture(colour), *sides))


def master_number(colour: RGBColor) -> Change:
    """A master with a page number in a colour, and a text in black after it."""

    def change(presentation: Any) -> None:
        places = list(presentation.slide_masters[0].placeholders)
        for place, text, value in (
            (places[-2], "<number>", colour),
            (places[-1], "end", RGBColor(0, 0, 0)),
        ):
            place.text_frame.text = text
            place.text_frame.paragraphs[0].font.color.rgb = value

    return change


def master_background(presentation: Any) -> None:
    fill = presentation.slide_masters[0].background.fill
    fill.solid()
    fill.fore_color.rgb = BLUE


def dissolving(presentation: Any) -> None:
    element = presentation.slides[0]._element
    transition = etree.SubElement(element, f"{{{P}}}transition")
    etree.SubElement(transition, f"{{{P}}}dissolve")


def moving(option: str) -> dict[str, bool]:
    """The options of a task that moves something."""
    return {"examine_shape": False, option: True}


TEXTS = ("Hello", "World")
TITLE, SHIFTED = "Product Comparison", "Elaborate on what you want to discuss."
MORE = show(*TEXTS, "!")
RIGHT, UP = moving("examine_right_position"), moving("examine_top_position")
SIZE, HEIGHT = moving("examine_image_size"), moving("examine_modify_height")
BOTTOM, SHIFT = (
    moving("examine_title_bottom_position"),
    moving("examine_shape_for_shift_size"),
)
WIDER = with_photo(4, 4, 2)
PAGE_COLOURS = {
    "red": RED,
    "blue": BLUE,
    "green": RGBColor(0, 128, 0),
    "black": RGBColor(10, 10, 10),
}
FIRST_RUN = {"slide_index_s": [0], "shape_index_s": [0], "paragraph_index_s": [0]}
DISSOLVING = show("x", "y", change=dissolving)


def examined() -> list[tuple[Any, ...]]:
    """Each difference, which its option finds, and which is none once the option is off."""
    cases: list[tuple[Any, ...]] = []
    for name, change in EXAMINED.items():
        other = show(*TEXTS, change=change)
        # A bullet is its paragraph's, and its level too.
        off = {name: False} | ({"examine_bullets": False} if name == "examine_indent" else {})
        cases += [(0, other), (1, other, off)]
    return cases


CASES: Cases = {
    "compare_pptx_files": [
        *against(
            show(*TEXTS),
            (1, show(*TEXTS)),
            (1, show(*TEXTS, change=aligned_left)),
            (1, show(*TEXTS, change=font(bold=False))),
            (1, show(*TEXTS, change=noted(" "))),
            (1, show(*TEXTS, change=moved(left=916_000))),
            (0, show("Hello", "there")),
            (0, MORE),
            (1, MORE, {"examine_number_of_slides": False}),
            (0, show(*TEXTS, change=empty_bullet)),
            *examined(),
        ),
        *against(
            changed(coloured(RED)),
            (0, changed(coloured(BLUE))),
            (1, changed(coloured(BLUE)), {"examine_color_rgb": False}),
            # Colours of the theme are not compared.
            (1, changed(themed)),
            (1, show("x")),
        ),
        *against(
            changed(table(RED)),
            (1, changed(table(RED))),
            (0, changed(table(BLUE))),
            (1, changed(table(BLUE)), {"examine_color_rgb": False}),
            (0, changed(table(RED, rows=2))),
        ),
        *against(
            changed(grouped(centred=True)),
            (1, changed(grouped(centred=True))),
            (0, changed(grouped(centred=False))),
        ),
        *against(
            show(TITLE),
            (1, show(TITLE, change=moved(top=5_000_000)), BOTTOM),
            (0, show(TITLE, change=moved(top=3_000_000)), BOTTOM),
            (0, show(TITLE), BOTTOM),
        ),
        *against(show(SHIFTED), (1, show(SHIFTED, change=moved(left=2_000_000)), SHIFT)),
        *against(show("x"), (0, changed(moved(left=2_000_000)), SHIFT)),
        *against(
            with_photo(4, 4),
            (1, with_photo(8, 4), RIGHT),
            (0, with_photo(2, 4), RIGHT),
            (1, with_photo(4, 1), UP),
            (0, with_photo(4, 3), UP),
            (1, with_photo(8, 1), SIZE),
            (0, WIDER, SIZE),
            (1, WIDER, HEIGHT),
            (1, WIDER, {"approximately_tolerance": 0.6}),
        ),
        *against(
            with_low_table(2),
            (1, with_low_table(5), moving("examine_table_bottom_position")),
            (0, with_low_table(3), moving("examine_table_bottom_position")),
        ),
    ],
    "check_image_stretch_and_center": against(
        filled("red", 1, 1, 2, 2),
        (1, filled("red", 0.1, 0, 9.8, 7.5)),
        (0, filled("red", 2, 0, 9.8, 7.5)),
        (0, filled("red", 3, 2, 4, 3)),
        (0, filled("blue", 0, 0, 10, 7.5)),
        (0, show("x")),
    ),
    "check_slide_numbers_color": alone(
        (1, show("1", change=master_number(RED))),
        (0, show("1", change=master_number(BLUE))),
        (0, show("x", change=master_number(RED))),
    ),
    "check_page_number_colors": [
        *(
            Case(float(name == asked), changed(master_number(value)), {"color": asked})
            for name, value in PAGE_COLOURS.items()
            for asked in PAGE_COLOURS
        ),
        Case(0, show("x"), {"color": "red"}),
    ],
    "check_strikethrough": alone(
        (1, changed(struck("sngStrike")), FIRST_RUN),
        (0, show("x"), FIRST_RUN),
        (0, changed(struck("noStrike")), FIRST_RUN),
        (0, show("x"), FIRST_RUN | {"shape_index_s": [4]}),
    ),
    "check_slide_orientation_Portrait": alone(
        (1, changed(lambda p: setattr(p, "slide_width", Inches(5)))), (0, show("x"))
    ),
    "evaluate_presentation_fill_to_rgb_distance": against(
        {"rgb": [0, 0, 255], "original_rgb": [255, 0, 0]},
        (1, changed(background(BLUE))),
        (0.5, show("x", "y", change=background(BLUE))),
        (0, changed(background(RED))),
        (1 - 3**-0.5, changed(background(RGBColor(0, 0, 0)))),
        (1, changed(master_background)),
        (0, show()),
    ),
    "check_transition": alone(
        (1, DISSOLVING, {"slide_idx": 0, "transition_type": "dissolve"}),
        (0, DISSOLVING, {"slide_idx": 0, "transition_type": "push"}),
        (0, DISSOLVING, {"slide_idx": 1, "transition_type": "dissolve"}),
        (0, DISSOLVING, {"slide_idx": 7, "transition_type": "dissolve"}),
    ),
    "check_left_panel": alone(
        (1, '<desktop-frame><document-frame name="Slides View"/></desktop-frame>'),
        (0, '<desktop-frame><document-frame name="Slide"/></desktop-frame>'),
        (0, "no tree"),
    ),
}
