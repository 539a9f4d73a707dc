"""Cases of metrics of presentations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pptx
from lxml import etree
from metric_case import Case, Cases, always
from PIL import Image
from pptx.dml.color import RGBColor
from pptx.enum.dml import MSO_THEME_COLOR
from pptx.enum.text import PP_ALIGN
from pptx.util import Emu, Inches, Pt

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
RED, BLUE = RGBColor(255, 0, 0), RGBColor(0, 0, 255)
BLANK = 6

Change = Callable[[Any], Any]


def show(path: Path, *texts: str, change: Change | None = None) -> str:
    """A presentation with a slide for each text, which stands in one box, and with what `change`
    does to it."""
    presentation = pptx.Presentation()
    for text in texts:
        slide = presentation.slides.add_slide(presentation.slide_layouts[BLANK])
        box = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(1))
        box.text_frame.paragraphs[0].add_run().text = text
    if change is not None:
        change(presentation)
    presentation.save(str(path))
    return str(path)


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


def bullet(presentation: Any) -> None:
    properties = first_paragraph(presentation)._p.get_or_add_pPr()
    etree.SubElement(properties, f"{{{A}}}buChar").set("char", "•")


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


def presentations(folder: Path) -> Iterator[Case]:
    texts = ("Hello", "World")
    wanted = show(folder / "wanted.pptx", *texts)
    yield Case(1, show(folder / "same.pptx", *texts), wanted)
    yield Case(1, show(folder / "left.pptx", *texts, change=aligned_left), wanted)
    yield Case(1, show(folder / "no-bold.pptx", *texts, change=font(bold=False)), wanted)
    yield Case(1, show(folder / "blank-note.pptx", *texts, change=noted(" ")), wanted)
    yield Case(1, show(folder / "nudged.pptx", *texts, change=moved(left=916_000)), wanted)
    yield Case(0, show(folder / "text.pptx", "Hello", "there"), wanted)
    more = show(folder / "more.pptx", *texts, "!")
    yield Case(0, more, wanted)
    yield Case(1, more, wanted, examine_number_of_slides=False)
    for name, change in EXAMINED.items():
        other = show(folder / f"{name}.pptx", *texts, change=change)
        yield Case(0, other, wanted)
        # A bullet is its paragraph's, and its level too.
        off = {name: False} | ({"examine_bullets": False} if name == "examine_indent" else {})
        yield Case(1, other, wanted, **off)


def colours(folder: Path) -> Iterator[Case]:
    wanted = show(folder / "wanted.pptx", "x", change=coloured(RED))
    blue = show(folder / "blue.pptx", "x", change=coloured(BLUE))
    yield Case(0, blue, wanted)
    yield Case(1, blue, wanted, examine_color_rgb=False)
    # Colours of the theme are not compared.
    yield Case(1, show(folder / "theme.pptx", "x", change=themed), wanted)
    yield Case(1, show(folder / "plain.pptx", "x"), wanted)


def tables(folder: Path) -> Iterator[Case]:
    wanted = show(folder / "wanted.pptx", "x", change=table(RED))
    yield Case(1, show(folder / "same.pptx", "x", change=table(RED)), wanted)
    blue = show(folder / "blue.pptx", "x", change=table(BLUE))
    yield Case(0, blue, wanted)
    yield Case(1, blue, wanted, examine_color_rgb=False)
    yield Case(0, show(folder / "rows.pptx", "x", change=table(RED, rows=2)), wanted)


def groups(folder: Path) -> Iterator[Case]:
    wanted = show(folder / "wanted.pptx", "x", change=grouped(centred=True))
    yield Case(1, show(folder / "same.pptx", "x", change=grouped(centred=True)), wanted)
    yield Case(0, show(folder / "left.pptx", "x", change=grouped(centred=False)), wanted)


def at_bottom(folder: Path) -> Iterator[Case]:
    before = show(folder / "before.pptx", "Product Comparison")
    options = {"examine_shape": False, "examine_title_bottom_position": True}
    low = show(folder / "low.pptx", "Product Comparison", change=moved(top=5_000_000))
    yield Case(1, low, before, **options)
    middle = show(folder / "middle.pptx", "Product Comparison", change=moved(top=3_000_000))
    yield Case(0, middle, before, **options)
    yield Case(0, before, before, **options)


def shifted(folder: Path) -> Iterator[Case]:
    options = {"examine_shape": False, "examine_shape_for_shift_size": True}
    for text, score in (("Elaborate on what you want to discuss.", 1), ("Anything else", 0)):
        before = show(folder / f"before-{score}.pptx", text)
        after = show(folder / f"after-{score}.pptx", text, change=moved(left=2_000_000))
        yield Case(score, after, before, **options)


def on_slide(number: int, add: Callable[[Any], Any]) -> Change:
    return lambda presentation: add(presentation.slides[number].shapes)


def photo(folder: Path, left: float, top: float, width: float = 1) -> Callable[[Any], Any]:
    file = folder / "photo.png"
    Image.new("RGB", (8, 8), "green").save(file)
    return lambda shapes: shapes.add_picture(
        str(file), Inches(left), Inches(top), Inches(width), Inches(1)
    )


def pictures(folder: Path) -> Iterator[Case]:
    """A picture of the second slide that goes to the right, or to the top, or that grows."""

    def made(left: float, top: float, width: float = 1) -> str:
        change = on_slide(1, photo(folder, left, top, width))
        return show(folder / f"{left}-{top}-{width}.pptx", "x", "y", change=change)

    before = made(4, 4)
    right = {"examine_shape": False, "examine_right_position": True}
    yield Case(1, made(8, 4), before, **right)
    yield Case(0, made(2, 4), before, **right)
    top = {"examine_shape": False, "examine_top_position": True}
    yield Case(1, made(4, 1), before, **top)
    yield Case(0, made(4, 3), before, **top)
    size = {"examine_shape": False, "examine_image_size": True}
    yield Case(1, made(8, 1), before, **size)
    yield Case(0, made(4, 4, 2), before, **size)
    height = {"examine_shape": False, "examine_modify_height": True}
    yield Case(1, made(4, 4, 2), before, **height)
    loose = {"approximately_tolerance": 0.6}
    yield Case(1, made(4, 4, 2), before, **loose)


def low_table(folder: Path) -> Iterator[Case]:
    def made(top: float) -> str:
        change = on_slide(
            2,
            lambda shapes: shapes.add_table(1, 1, Inches(1), Inches(top), Inches(2), Inches(1)),
        )
        return show(folder / f"{top}.pptx", "x", "y", "z", change=change)

    options = {"examine_shape": False, "examine_table_bottom_position": True}
    yield Case(1, made(5), made(2), **options)
    yield Case(0, made(3), made(2), **options)


def compared(folder: Path) -> Iterator[Case]:
    parts = (
        *(presentations, colours, tables, groups, at_bottom, shifted, pictures),
        low_table,
    )
    for part in parts:
        inner = folder / part.__name__
        inner.mkdir()
        yield from part(inner)


def stretched(folder: Path) -> Iterator[Case]:
    def made(name: str, colour: str, *box: float) -> str:
        file = folder / f"{colour}.png"
        Image.new("RGB", (8, 8), colour).save(file)
        sides = [Inches(side) for side in box]
        change = on_slide(0, lambda shapes: shapes.add_picture(str(file), *sides))
        return show(folder / f"{name}.pptx", "x", change=change)

    before = made("before", "red", 1, 1, 2, 2)
    yield Case(1, made("filled", "red", 0.1, 0, 9.8, 7.5), before)
    yield Case(0, made("aside", "red", 2, 0, 9.8, 7.5), before)
    yield Case(0, made("small", "red", 3, 2, 4, 3), before)
    yield Case(0, made("other", "blue", 0, 0, 10, 7.5), before)
    yield Case(0, show(folder / "none.pptx", "x"), before)


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


def number_colours(folder: Path) -> Iterator[Case]:
    red = show(folder / "red.pptx", "1", change=master_number(RED))
    yield Case(1, red)
    yield Case(0, show(folder / "blue.pptx", "1", change=master_number(BLUE)))
    yield Case(0, show(folder / "none.pptx", "x", change=master_number(RED)))


def page_colours(folder: Path) -> Iterator[Case]:
    values = {
        "red": RED,
        "blue": BLUE,
        "green": RGBColor(0, 128, 0),
        "black": RGBColor(10, 10, 10),
    }
    for name, value in values.items():
        file = show(folder / f"{name}.pptx", "x", change=master_number(value))
        for other in values:
            yield Case(float(name == other), file, {"color": other})
    yield Case(0, show(folder / "none.pptx", "x"), {"color": "red"})


def strikes(folder: Path) -> Iterator[Case]:
    rules = {"slide_index_s": [0], "shape_index_s": [0], "paragraph_index_s": [0]}
    yield Case(1, show(folder / "struck.pptx", "x", change=struck("sngStrike")), rules)
    plain = show(folder / "plain.pptx", "x")
    yield Case(0, plain, rules)
    yield Case(0, show(folder / "said.pptx", "x", change=struck("noStrike")), rules)
    yield Case(0, plain, rules | {"shape_index_s": [4]})


def portrait(presentation: Any) -> None:
    presentation.slide_width = Inches(5)


def orientations(folder: Path) -> Iterator[Case]:
    yield Case(1, show(folder / "high.pptx", "x", change=portrait))
    yield Case(0, show(folder / "wide.pptx", "x"))


def fills(folder: Path) -> Iterator[Case]:
    rules = {"rgb": [0, 0, 255], "original_rgb": [255, 0, 0]}
    yield Case(1, show(folder / "blue.pptx", "x", change=background(BLUE)), rules)
    yield Case(0.5, show(folder / "half.pptx", "x", "y", change=background(BLUE)), rules)
    yield Case(0, show(folder / "red.pptx", "x", change=background(RED)), rules)
    near = show(folder / "near.pptx", "x", change=background(RGBColor(0, 0, 0)))
    yield Case(1 - 3**-0.5, near, rules)

    def master(presentation: Any) -> None:
        fill = presentation.slide_masters[0].background.fill
        fill.solid()
        fill.fore_color.rgb = BLUE

    yield Case(1, show(folder / "master.pptx", "x", change=master), rules)
    yield Case(0, show(folder / "empty.pptx"), rules)


def transitions(folder: Path) -> Iterator[Case]:
    def dissolving(presentation: Any) -> None:
        element = presentation.slides[0]._element
        transition = etree.SubElement(element, f"{{{P}}}transition")
        etree.SubElement(transition, f"{{{P}}}dissolve")

    file = show(folder / "one.pptx", "x", "y", change=dissolving)
    yield Case(1, file, {"slide_idx": 0, "transition_type": "dissolve"})
    yield Case(0, file, {"slide_idx": 0, "transition_type": "push"})
    yield Case(0, file, {"slide_idx": 1, "transition_type": "dissolve"})
    yield Case(0, file, {"slide_idx": 7, "transition_type": "dissolve"})


CASES: Cases = {
    "compare_pptx_files": compared,
    "check_image_stretch_and_center": stretched,
    "check_slide_numbers_color": number_colours,
    "check_page_number_colors": page_colours,
    "check_strikethrough": strikes,
    "check_slide_orientation_Portrait": orientations,
    "evaluate_presentation_fill_to_rgb_distance": fills,
    "check_transition": transitions,
    "check_left_panel": always(
        Case(1, '<desktop-frame><document-frame name="Slides View"/></desktop-frame>'),
        Case(0, '<desktop-frame><document-frame name="Slide"/></desktop-frame>'),
        Case(0, "no tree"),
    ),
}
