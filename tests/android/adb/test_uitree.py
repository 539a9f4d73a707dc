"""Elements from the trees that uiautomator writes."""

from __future__ import annotations

import pytest

from ui_gym.android.uitree import MAX_XML, elements_from_xml, tree_of
from ui_gym.errors import DeviceError


def tree(*nodes: str) -> str:
    return f'<?xml version="1.0"?><hierarchy rotation="0">{"".join(nodes)}</hierarchy>'


def node(kind: str, *inside: str, bounds: str = "[0,0][100,40]", **attributes: str) -> str:
    told = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f'<node class="android.widget.{kind}" bounds="{bounds}"{told}>{"".join(inside)}</node>'


def told(*nodes: str) -> list[str]:
    return [str(element) for element in elements_from_xml(tree(*nodes))]


@pytest.mark.parametrize(
    ("xml", "line"),
    [
        (node("Button", text="OK", clickable="true"), '[0] button "OK" @ 50,20 100x40'),
        (node("TextView", text="Title"), '[0] text "Title" @ 50,20 100x40'),
        (node("TextView", text="More", clickable="true"), '[0] button "More" @ 50,20 100x40'),
        (node("ImageView", content_desc="Logo"), '[0] image "Logo" @ 50,20 100x40'),
        (node("ImageButton", content_desc="Back", clickable="true", enabled="false"),
         '[0] button "Back" @ 50,20 100x40 disabled'),
        (node("Switch", text="Wi-Fi", checkable="true", checked="true", clickable="true"),
         '[0] switch "Wi-Fi" @ 50,20 100x40 checked'),
        (node("CheckBox", text="Agree", checkable="true", checked="false", clickable="true"),
         '[0] checkbox "Agree" @ 50,20 100x40'),
        (node("RadioButton", text="A", checkable="true", checked="true", selected="true"),
         '[0] radio "A" @ 50,20 100x40 checked selected'),
        (node("EditText", text="Ann", content_desc="Name", focused="true", clickable="true"),
         '[0] textbox "Name" @ 50,20 100x40 focused value="Ann"'),
        (node("EditText", text="Search", hint="Search", clickable="true"),
         '[0] textbox "Search" @ 50,20 100x40 value=""'),
        (node("EditText", text="x", clickable="true"), '[0] textbox @ 50,20 100x40 value="x"'),
        (node("SeekBar", content_desc="Volume", text="50.0", clickable="true"),
         '[0] slider "Volume" @ 50,20 100x40 value="50.0"'),
        (node("FrameLayout", clickable="true"), "[0] button @ 50,20 100x40"),
        (node("RecyclerView", content_desc="Apps"), '[0] list "Apps" @ 50,20 100x40'),
    ],
    ids=lambda value: value[:60],
)  # fmt: skip
def test_a_node_becomes_a_line(xml: str, line: str) -> None:
    assert told(xml) == [line]


def test_only_what_is_worth_a_line_is_told() -> None:
    assert (
        told(
            node("FrameLayout", node("View"), node("TextView", text="  ")),
            node("TextView", text="hidden", visible_to_user="false"),
            node("TextView", text="flat", bounds="[0,10][100,10]"),
            node("TextView", text="nowhere", bounds="none"),
        )
        == []
    )


def test_a_row_speaks_for_its_texts_and_its_switch() -> None:
    row = node(
        "LinearLayout",
        node("TextView", text="Wi-Fi", bounds="[4,2][60,20]"),
        node("TextView", text="Home", bounds="[4,20][60,38]"),
        node("Switch", checkable="true", checked="true", bounds="[80,2][96,38]"),
        clickable="true",
    )
    assert told(row) == ['[0] switch "Wi-Fi, Home" @ 50,20 100x40 checked']


def test_what_can_be_touched_in_a_row_is_told_for_itself() -> None:
    row = node(
        "LinearLayout",
        node("TextView", text="Alarm"),
        node("Switch", checkable="true", clickable="true", bounds="[80,2][96,38]"),
        clickable="true",
    )
    assert told(row) == ['[0] button "Alarm" @ 50,20 100x40', "[1] switch @ 88,20 16x36"]


def test_a_region_that_can_be_touched_does_not_swallow_the_screen() -> None:
    texts = [node("TextView", text=f"line {n}") for n in range(9)]
    found = told(node("FrameLayout", *texts, clickable="true"))
    assert found[0] == "[0] button @ 50,20 100x40"
    assert len(found) == 10


@pytest.mark.parametrize(
    ("scale", "box"), [(1.0, (10, 20, 90, 41)), (0.5, (5, 10, 45, 20)), ((0.5, 0.1), (5, 2, 45, 4))]
)
def test_boxes_are_in_observed_pixels(scale: float, box: tuple[int, ...]) -> None:
    xml = tree(node("TextView", text="x", bounds="[10,20][100,61]"))
    assert elements_from_xml(xml, scale)[0].box == box


def test_a_message_after_the_tree_is_cut_off() -> None:
    xml = tree(node("TextView", text="x"))
    said = f"{xml}UI hierchary dumped to: /dev/tty\n"
    assert tree_of(said) == xml
    assert elements_from_xml(said) == elements_from_xml(xml)
    assert tree_of("ERROR: could not get idle state.\n") is None


def test_an_empty_screen_has_no_elements() -> None:
    assert elements_from_xml("<?xml version='1.0' ?><hierarchy rotation=\"0\" />") == ()


@pytest.mark.parametrize(
    ("xml", "reason"),
    [
        ("", "not XML"),
        ("ERROR: null root node", "not XML"),
        (tree("<node"), "not XML"),
        ('<!DOCTYPE h [<!ENTITY a "aaaa">]><hierarchy>&a;</hierarchy>', "not XML|declaration"),
        (f'<?xml version="1.0"?><!DOCTYPE h [<!ENTITY a "a">]>{tree()[21:]}', "declaration"),
        ("<hierarchy>" + "x" * MAX_XML + "</hierarchy>", "characters"),
    ],
    ids=["empty", "error", "broken", "entity first", "entity", "long"],
)
def test_what_is_no_tree_is_told(xml: str, reason: str) -> None:
    with pytest.raises(DeviceError, match=reason):
        elements_from_xml(xml)


def test_a_very_deep_tree_is_read() -> None:
    xml = tree(
        node("FrameLayout") * 0 + "<node>" * 5000 + node("TextView", text="x") + "</node>" * 5000
    )
    assert len(elements_from_xml(xml)) == 1
