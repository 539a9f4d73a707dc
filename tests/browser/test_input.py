"""Actions arrive in the page as a person's input would."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from browser_helpers import SIZE, Load, MakeDevice, WritePage

from ui_gym.browser.chromium import input as device_input
from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.chromium.process import BROWSER_VARIABLE
from ui_gym.contract import action as act
from ui_gym.contract.device import DeviceOptions
from ui_gym.errors import ActionError
from ui_gym.xvfb import find_xvfb

FULL_CHROMIUM = "/usr/lib/chromium/chromium"

BODY = """
<style>
  body { background: #fff }
  body > * { position: absolute; margin: 0 }
  #one { left: 8px; top: 8px; width: 140px } #two { left: 160px; top: 8px; width: 140px }
  #area { left: 8px; top: 56px; width: 140px; height: 60px }
  #pad { left: 160px; top: 56px; width: 140px; height: 60px; background: #dde }
  #slide { left: 8px; top: 130px; width: 140px }
  #box { left: 160px; top: 130px; width: 140px; height: 100px; overflow: auto }
  #box div { width: 600px; height: 900px }
</style>
<form><input id="one"></form><input id="two"><textarea id="area"></textarea>
<div id="pad"></div><input id="slide" type="range" min="0" max="100" value="0">
<div id="box"><div></div></div>
"""

SCRIPT = """
const seen = [];
const note = (event) => seen.push({
  type: event.type, target: event.target.id || null, key: event.key ?? null,
  code: event.code ?? null,
  button: event.button ?? null, buttons: event.buttons ?? null, detail: event.detail ?? null,
  x: event.clientX ?? null, y: event.clientY ?? null, time: Date.now(),
  held: ["ctrl", "shift", "alt", "meta"].filter((name) => event[name + "Key"]).join("+"),
});
for (const type of ["keydown", "keyup", "mousedown", "mouseup", "mousemove", "click", "dblclick",
                    "contextmenu", "auxclick", "wheel"]) addEventListener(type, note);
document.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  seen.push({ type: "submit" });
});
addEventListener("contextmenu", (event) => event.preventDefault());
uiGym.state = () => ({
  seen, focused: document.activeElement.id, left: box.scrollLeft, top: box.scrollTop,
  values: Object.fromEntries([one, two, area, slide].map((field) => [field.id, field.value])),
  selected: getSelection().toString(),
});
const names = ["one", "two", "area", "slide", "box"];
const [one, two, area, slide, box] = names.map((name) => document.getElementById(name));
"""

PRINTABLE = "".join(map(chr, range(32, 127)))


@pytest.fixture
def device(shared: ChromiumDevice, page: WritePage) -> ChromiumDevice:
    shared.load(page(BODY, SCRIPT), {})
    return shared


def center(device: ChromiumDevice, name: str) -> tuple[int, int]:
    return device.center(f"#{name}")


def click(device: ChromiumDevice, name: str, **arguments: Any) -> None:
    device.perform(act.Click(*center(device, name), **arguments))


def seen(device: ChromiumDevice, *types: str) -> list[dict[str, Any]]:
    return [event for event in device.state()["seen"] if event["type"] in types]


def types(device: ChromiumDevice, *wanted: str) -> list[str]:
    return [event["type"] for event in seen(device, *wanted)]


# -- names of keys --


@pytest.mark.parametrize(
    ("name", "key", "code", "number"),
    [
        ("enter", "Enter", "Enter", 13),
        ("Return", "Enter", "Enter", 13),
        ("esc", "Escape", "Escape", 27),
        ("page_down", "PageDown", "PageDown", 34),
        ("ArrowLeft", "ArrowLeft", "ArrowLeft", 37),
        ("up", "ArrowUp", "ArrowUp", 38),
        ("space", " ", "Space", 32),
        ("F5", "F5", "F5", 116),
        ("a", "a", "KeyA", 65),
        ("A", "A", "KeyA", 65),
        ("7", "7", "Digit7", 55),
        ("&", "&", "Digit7", 55),
        ("?", "?", "Slash", 191),
    ],
)
def test_key_names(name: str, key: str, code: str, number: int) -> None:
    found = device_input.key(name)
    assert (found.key, found.code, found.number) == (key, code, number)


@pytest.mark.parametrize("name", ["entr", "backspce", "ö", "🙂", "hello"])
def test_an_unknown_key_is_an_argument_error_with_a_hint(name: str) -> None:
    with pytest.raises(ActionError, match="press: there is no key") as error:
        device_input.key(name)
    assert error.value.kind == "argument"
    assert "Did you mean" in str(error.value) or "Known:" in str(error.value)


@pytest.mark.parametrize(
    ("keys", "modifiers", "others"),
    [
        ("ctrl+c", device_input.CTRL, ["c"]),
        ("Control + Shift + T", device_input.CTRL | device_input.SHIFT, ["T"]),
        ("cmd+alt+delete", device_input.META | device_input.ALT, ["Delete"]),
        ("ctrl++", device_input.CTRL, ["+"]),
        ("+", 0, ["+"]),
        (" ", 0, [" "]),
        ("shift", device_input.SHIFT, []),
    ],
)
def test_chords(keys: str, modifiers: int, others: Sequence[str]) -> None:
    found = device_input.chord(keys)
    assert (found[0], [key.key for key in found[1]]) == (modifiers, list(others))


def test_only_modifiers_can_be_held_in_a_click() -> None:
    with pytest.raises(ActionError, match="keys must be modifiers, not 'ctrl\\+a'"):
        device_input.commands(act.Click(1, 1, keys="ctrl+a"))


# -- typing --


@pytest.mark.parametrize(
    "text",
    [
        PRINTABLE,
        "Zoë Ångström, 東京 — „naïve“ ½€",
        "family 👩‍👩‍👧 flag 🇳🇴 e\u0301",
        "",
        "  two  blanks  ",
    ],
    ids=["printable", "accents", "emoji", "empty", "blanks"],
)
def test_typed_text_arrives_exactly(device: ChromiumDevice, text: str) -> None:
    click(device, "area")
    device.perform(act.Type(text))
    assert device.state()["values"]["area"] == text


def test_a_newline_is_enter_and_a_tab_goes_to_the_next_field(device: ChromiumDevice) -> None:
    click(device, "area")
    device.perform(act.Type("a\nb\nc"))
    assert device.state()["values"]["area"] == "a\nb\nc"
    click(device, "one")
    device.perform(act.Type("x\ty"))
    assert device.state()["values"] | {"area": ""} == {
        "one": "x", "two": "y", "area": "", "slide": "0",
    }  # fmt: skip
    click(device, "one")
    device.perform(act.Type("z\n"))
    assert types(device, "submit") == ["submit"]


def test_typed_keys_are_those_of_a_keyboard(device: ChromiumDevice) -> None:
    click(device, "one")
    device.perform(act.Type("aB!é"))
    downs = [(e["key"], e["code"], e["held"]) for e in seen(device, "keydown")]
    assert downs == [("a", "KeyA", ""), ("B", "KeyB", "shift"), ("!", "Digit1", "shift")]
    assert device.state()["values"]["one"] == "aB!é"


def test_clear_empties_the_field_and_enter_submits(device: ChromiumDevice) -> None:
    click(device, "one")
    device.perform(act.Type("first draft"))
    device.perform(act.Type("second", clear=True))
    assert device.state()["values"]["one"] == "second"
    device.perform(act.Type("", clear=True, enter=True))
    assert device.state()["values"]["one"] == ""
    assert types(device, "submit") == ["submit"]


def test_text_goes_to_the_caret(device: ChromiumDevice) -> None:
    click(device, "one")
    for action in (act.Type("bd"), act.Press("left"), act.Type("c"), act.Press("home")):
        device.perform(action)
    device.perform(act.Type("a"))
    assert device.state()["values"]["one"] == "abcd"


# -- keys --


def test_copy_and_paste(device: ChromiumDevice) -> None:
    click(device, "one")
    device.perform(act.Type("some text"))
    device.perform(act.Press("ctrl+a"))
    device.perform(act.Press("ctrl+c"))
    click(device, "two")
    device.perform(act.Press("ctrl+v"))
    device.perform(act.Press("ctrl+v"))
    assert device.state()["values"]["two"] == "some textsome text"
    device.perform(act.Press("ctrl+a"))
    device.perform(act.Press("ctrl+x"))
    assert device.state()["values"]["two"] == ""


PICKERS = """
<label for="own">A field</label><input id="own" type="{}">
<button id="asks" onclick="own.showPicker()">Choose</button>
"""


@pytest.mark.parametrize("kind", ["date", "month", "time", "color"])
def test_no_window_of_the_browser_s_own_opens(
    kind: str, make_device: MakeDevice, page: WritePage
) -> None:
    """While one is open, no picture comes."""
    device = make_device(timeout=5.0)
    device.load(page(PICKERS.format(kind)), {})
    for field in ("#own", "label", "#asks"):
        device.perform(act.Click(*device.center(field)))
        device.capture()
    device.evaluate("own.focus()")
    for keys in ("F4", "alt+down", "space", "enter"):
        device.perform(act.Press(keys))
        device.capture()


def test_a_date_is_typed(load: Load) -> None:
    device = load(PICKERS.format("date"))
    device.evaluate("own.focus()")
    device.perform(act.Type("03022026"))
    assert device.evaluate("own.value") == "2026-03-02"


def test_a_chord_holds_its_modifiers_and_lets_go(device: ChromiumDevice) -> None:
    click(device, "one")
    device.perform(act.Press("ctrl+shift+k"))
    keys = [(e["type"], e["key"], e["held"]) for e in seen(device, "keydown", "keyup")]
    assert [key for _, key, _ in keys] == ["Control", "Shift", "k", "k", "Shift", "Control"]
    assert keys[2] == ("keydown", "k", "ctrl+shift")
    assert keys[-1] == ("keyup", "Control", "")
    device.perform(act.Type("k"))
    assert device.state()["values"]["one"] == "k"


def test_shift_selects_with_the_arrows(device: ChromiumDevice) -> None:
    click(device, "one")
    device.perform(act.Type("abcd"))
    device.perform(act.Press("shift+left"))
    device.perform(act.Press("shift+left"))
    device.perform(act.Press("delete"))
    assert device.state()["values"]["one"] == "ab"


@pytest.mark.parametrize("keys", ["f5", "ctrl+r", "alt+left", "ctrl+w", "ctrl+t", "ctrl+p", "f11"])
def test_keys_of_the_browser_itself_do_nothing(device: ChromiumDevice, keys: str) -> None:
    click(device, "one")
    device.perform(act.Type("still here"))
    device.perform(act.Press(keys))
    assert device.state()["values"]["one"] == "still here"


# -- mouse --


@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, [1]), (2, [1, 2]), (3, [1, 2, 3])],
)
def test_click_counts(device: ChromiumDevice, count: int, expected: list[int]) -> None:
    click(device, "pad", count=count)
    assert [event["detail"] for event in seen(device, "click")] == expected
    assert types(device, "dblclick") == ["dblclick"] * (count >= 2)


def test_two_clicks_are_no_double_click(device: ChromiumDevice) -> None:
    click(device, "pad")
    click(device, "pad")
    assert types(device, "click", "dblclick") == ["click", "click"]


def test_a_double_click_selects_a_word_and_a_triple_click_all(device: ChromiumDevice) -> None:
    click(device, "one")
    device.perform(act.Type("alpha beta"))
    left, top, _, height = device.box("#one")
    device.perform(act.Click(left + 10, top + height // 2, count=2))
    assert device.state()["selected"].strip() == "alpha"
    device.perform(act.Click(left + 10, top + height // 2, count=3))
    assert device.state()["selected"] == "alpha beta"


def test_buttons(device: ChromiumDevice) -> None:
    click(device, "pad", button="right")
    click(device, "pad", button="middle")
    assert types(device, "contextmenu") == ["contextmenu"]
    assert [event["button"] for event in seen(device, "auxclick")] == [2, 1]
    assert types(device, "click") == []


@pytest.mark.parametrize("keys", ["ctrl", "shift", "alt", "meta", "ctrl+shift"])
def test_modifiers_of_a_click(device: ChromiumDevice, keys: str) -> None:
    click(device, "pad", keys=keys)
    (event,) = seen(device, "click")
    assert event["held"] == keys
    click(device, "pad")
    assert seen(device, "click")[1]["held"] == ""


def test_a_click_is_where_it_was_asked_for(device: ChromiumDevice) -> None:
    device.perform(act.Click(163, 59))
    device.perform(act.Click(299, 114))
    assert [(e["target"], e["x"], e["y"]) for e in seen(device, "click")] == [
        ("pad", 163, 59),
        ("pad", 299, 114),
    ]


def test_move_hovers_and_presses_nothing(device: ChromiumDevice) -> None:
    device.perform(act.Move(*center(device, "pad")))
    assert device.evaluate("document.querySelector('#pad').matches(':hover')") is True
    assert types(device, "mousedown", "mouseup", "click") == []


def test_a_drag_goes_its_way_with_the_button_down(device: ChromiumDevice) -> None:
    device.perform(act.Drag(170, 60, 290, 110, seconds=0.4))
    events = seen(device, "mousedown", "mousemove", "mouseup")
    down = next(i for i, e in enumerate(events) if e["type"] == "mousedown")
    way = events[down:]
    assert [e["type"] for e in way] == ["mousedown", *["mousemove"] * 8, "mouseup"]
    assert (way[0]["x"], way[0]["y"], way[-1]["x"], way[-1]["y"]) == (170, 60, 290, 110)
    assert [e["x"] for e in way[1:-1]] == sorted({e["x"] for e in way[1:-1]})
    assert {e["buttons"] for e in way[:-1]} == {1}
    assert way[-1]["buttons"] == 0
    assert way[-1]["time"] - way[0]["time"] == 400


def test_a_drag_moves_a_slider_and_selects_text(device: ChromiumDevice) -> None:
    left, top, width, height = device.box("#slide")
    middle = top + height // 2
    device.perform(act.Drag(left + 4, middle, left + width - 2, middle))
    assert int(device.state()["values"]["slide"]) > 90
    click(device, "one")
    device.perform(act.Type("selected"))
    left, top, width, height = device.box("#one")
    device.perform(act.Drag(left + 2, top + height // 2, left + width - 4, top + height // 2))
    assert device.state()["selected"] == "selected"


def test_a_long_press_lasts_in_the_pages_time(device: ChromiumDevice) -> None:
    device.perform(act.LongPress(*center(device, "pad"), seconds=0.75))
    (down,), (up,) = seen(device, "mousedown"), seen(device, "mouseup")
    assert up["time"] - down["time"] == 750


# -- the browser's own drag-and-drop, which pages of third parties use --

DROP_BODY = """
<style>
  body { background: #fff; margin: 0 } ul { margin: 0; padding: 0; list-style: none; width: 120px }
  li { height: 30px } #bin, #wall { position: absolute; left: 200px; width: 100px; height: 60px }
  #bin { top: 0 } #wall { top: 120px }
</style>
<ul><li id="a" draggable="true">a</li><li id="b" draggable="true">b</li>
<li id="c" draggable="true">c</li></ul><div id="bin"></div><div id="wall"></div>
"""

DROP_SCRIPT = """
const list = document.querySelector("ul"), bin = document.querySelector("#bin");
const seen = [];
let dragged = null, binned = null;
for (const type of ["mousedown", "mouseup", "click", "dragstart", "dragenter", "dragover", "drop",
                    "dragend"]) {
  addEventListener(type, (event) => {
    const again = seen.at(-1)?.[0] === type && type === "dragover";
    if (!again) seen.push([type, event.target.id ?? null]);
  });
}
list.addEventListener("dragstart", (event) => {
  dragged = event.target;
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", `row ${dragged.id}`);
});
list.addEventListener("dragover", (event) => {
  const over = event.target.closest("li");
  event.preventDefault();
  if (over === null || over === dragged) return;
  const { top, height } = over.getBoundingClientRect();
  if (event.clientY < top + height / 2) over.before(dragged);
  else over.after(dragged);
});
bin.addEventListener("dragover", (event) => event.preventDefault());
bin.addEventListener("drop", (event) => {
  event.preventDefault();
  binned = event.dataTransfer.getData("text/plain");
});
uiGym.state = () => ({ order: [...list.children].map((row) => row.id).join(""), seen, binned });
"""


@pytest.fixture(scope="module", params=["beginframe", "screenshot", "framebuffer"])
def browser(request: pytest.FixtureRequest) -> Iterator[ChromiumDevice]:
    """Each kind of Chromium: that paints on demand, that paints on its own, that has a window."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "screenshot":
            if shutil.which(FULL_CHROMIUM) is None:
                pytest.skip(f"needs {FULL_CHROMIUM}")
            patch.setenv(BROWSER_VARIABLE, FULL_CHROMIUM)
        if request.param == "framebuffer" and find_xvfb() is None:
            pytest.skip("needs Xvfb")
        device = ChromiumDevice(DeviceOptions(kind=f"chromium:{request.param}", size=SIZE))
        device.start()
    yield device
    device.close()


def test_keys_reach_a_page_that_was_never_clicked(browser: ChromiumDevice, page: WritePage) -> None:
    browser.load(page(BODY, SCRIPT), {})
    browser.perform(act.Press("tab"))
    browser.perform(act.Type("a"))
    assert browser.state()["values"]["one"] == "a"


@pytest.fixture
def dropping(browser: ChromiumDevice, page: WritePage) -> ChromiumDevice:
    """A page of draggable rows and a bin."""
    browser.load(page(DROP_BODY, DROP_SCRIPT), {})
    return browser


def test_what_is_draggable_is_dropped_with_its_data(dropping: ChromiumDevice) -> None:
    dropping.perform(act.Drag(60, 45, 250, 30))
    state = dropping.state()
    assert state["binned"] == "row b"
    told = [one for one in state["seen"] if one[0] not in ("dragenter", "dragover")]
    assert told == [["mousedown", "b"], ["dragstart", "b"], ["drop", "bin"], ["dragend", "b"]]
    assert ["dragenter", "bin"] in state["seen"]


def test_rows_that_move_under_the_drag_are_sorted(dropping: ChromiumDevice) -> None:
    dropping.perform(act.Drag(60, 15, 60, 85))
    assert dropping.state()["order"] == "bca"
    dropping.perform(act.Drag(60, 45, 60, 5))
    dropping.perform(act.Drag(60, 85, 60, 35))  # two in one step
    assert dropping.state()["order"] == "cab"


def test_nothing_is_dropped_where_nothing_may_be(dropping: ChromiumDevice) -> None:
    dropping.perform(act.Drag(110, 15, 250, 150))
    state = dropping.state()
    assert "drop" not in [type for type, _ in state["seen"]]
    assert state["seen"][-1] == ["dragend", "a"]
    assert (state["order"], state["binned"]) == ("abc", None)


def test_the_mouse_is_free_after_a_drop(dropping: ChromiumDevice) -> None:
    dropping.perform(act.Drag(60, 15, 250, 30))
    dropping.perform(act.Click(250, 150))
    assert dropping.state()["seen"][-3:] == [
        ["mousedown", "wall"],
        ["mouseup", "wall"],
        ["click", "wall"],
    ]
    dropping.perform(act.Drag(210, 10, 290, 50))  # of what is not draggable: a plain drag
    types = [type for type, _ in dropping.state()["seen"]]
    assert types[-3:] == ["mousedown", "mouseup", "click"]


# -- wheel and time --


def test_scrolling_shows_what_is_below_and_to_the_right(device: ChromiumDevice) -> None:
    x, y = center(device, "box")
    device.perform(act.Scroll(x, y, dx=40, dy=120))
    state = device.state()
    assert (state["left"], state["top"]) == (40, 120)
    assert [e["target"] for e in seen(device, "wheel")] == [None]
    device.perform(act.Scroll(x, y, dy=-50))
    device.perform(act.Scroll(x, y, dx=-40))
    state = device.state()
    assert (state["left"], state["top"]) == (0, 70)


def test_scrolling_stops_at_the_end(device: ChromiumDevice) -> None:
    x, y = center(device, "box")
    device.perform(act.Scroll(x, y, dy=100_000))
    assert device.state()["top"] == 800


def test_a_click_after_a_scroll_in_one_step_hits_what_is_there_then(
    shared: ChromiumDevice, page: WritePage
) -> None:
    rows = "".join(f"<p id=r{n} style='height:50px;margin:0'>{n}</p>" for n in range(40))
    shared.load(
        page(
            f"<div id=box style='height:250px;overflow:auto'>{rows}</div>",
            "addEventListener('click', (event) => uiGym.log('click', { id: event.target.id }));",
        ),
        {},
    )
    shared.perform(act.Scroll(100, 100, dy=500))
    shared.perform(act.Click(100, 25))
    shared.state()
    assert [event.data["id"] for event in shared.events] == ["r10"]


def test_waiting_moves_the_pages_clock(device: ChromiumDevice) -> None:
    before = device.evaluate("Date.now()")
    device.perform(act.Wait(2.5))
    assert device.evaluate("Date.now()") - before == 2550


# -- what cannot be done --


def test_an_impossible_action_leaves_the_device_untouched(device: ChromiumDevice) -> None:
    click(device, "one")
    before = device.evaluate("Date.now()")
    with pytest.raises(ActionError, match="open cannot be done in this browser") as error:
        device.perform(act.Open("Settings"))
    assert error.value.kind == "runtime"
    with pytest.raises(ActionError, match="there is no key 'nokey'"):
        device.perform(act.Press("nokey"))
    assert device.state()["values"]["one"] == ""
    assert device.evaluate("Date.now()") == before
