"""Elements of large pages: the accessibility tree told in parts says what the whole one says."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from browser_helpers import Load

from ui_gym.browser.chromium import accessibility
from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.chromium.protocol import Command, Message
from ui_gym.contract import action as act
from ui_gym.contract.device import Element
from ui_gym.errors import DeviceError

ROW = """<tr><td>{n}<td>Ann <b>Lee</b><td>{cell}<td role=gridcell tabindex=0>at {n}
<td style="overflow: hidden; max-width: 40px"><span style="margin-left: 90px">cut</span></tr>"""
CELLS = (
    "<button>Open {n}</button>",
    "<h2>Part <a href='#{n}'>{n}</a></h2>",
    "<div><div><input aria-label='Field {n}' value={n}></div></div>",
    "<div class=narrow><p>ab<button>No</button></div>",
    "<span contenteditable>edit {n}</span>",
    "<select aria-label='Pick {n}'><option>one<option>two</select>",
    "<i role=checkbox aria-checked=mixed>Tick {n}</i>",
    "<table><tr><td>in {n}<td><button disabled>Deep {n}</button></table>",
    "<span aria-hidden=true>no word</span>",
    "<label><input type=radio name=r> Take {n}</label>",
    "",
)
LARGE = """
<style>td, th {{ height: 24px }} .list {{ height: 90px; overflow: auto }} .fix {{ position: fixed }}
.narrow {{ width: 9px; overflow: hidden }} .narrow button {{ margin-left: 60px }}</style>
<header><h1>All</h1><p>Rows: <em>{count}</em><span role=status>ready</span></p></header>
<div class=list><ul>{items}</ul><b class=fix style="right: 0; top: 0">Fixed</b></div>
<div role=listbox aria-label=Choices><div role=option aria-selected=true>first</div></div>
<table><thead><tr><th>Row<th><button>Name</button><th>What<th>Where<th>Cut</tr></thead>
<tbody>{rows}</tbody></table><div {extra}></div>
"""


def large(extra: str = "") -> str:
    rows = [ROW.format(n=n, cell=CELLS[n % len(CELLS)].format(n=n)) for n in range(60)]
    items = [f"<li>item <code>{n}</code></li>" for n in range(40)]
    return LARGE.format(count=60, items="".join(items), rows="".join(rows), extra=extra)


@pytest.fixture
def read(shared: ChromiumDevice, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Element]]:
    """The elements as the whole tree tells them, once those told in parts were the same."""

    def read() -> list[Element]:
        reader = shared._reader
        monkeypatch.setattr(accessibility, "UNSEEN", 10_000)
        shared.capture(elements=True)
        assert reader._levels is None
        whole = shared.capture(elements=True).elements
        monkeypatch.setattr(accessibility, "UNSEEN", -1)
        shared.capture(elements=True)
        for _ in range(2):  # it learns how to ask
            assert reader._levels is not None
            assert shared.capture(elements=True).elements == whole
        return list(whole)

    return read


def test_parts_of_a_tree_tell_what_the_whole_tells(
    load: Load, read: Callable[[], list[Element]]
) -> None:
    shared = load(large())
    roles = {element.role for element in read()}
    assert roles >= {"heading", "button", "cell", "text", "option"}
    spot = (100, 180)
    for action in (act.Scroll(*spot, dy=300), act.Click(*spot), act.Scroll(*spot, dy=400)):
        shared.perform(action)
        assert read()
    shared.evaluate(
        "void document.querySelectorAll('tr').forEach((row, n) => n % 3 && row.remove())"
    )
    assert read()


def test_only_what_can_be_seen_of_a_large_page_is_asked_for(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = load(large())
    whole = shared.capture(elements=True).elements
    told: list[Message] = []
    run = shared.page.run

    def counted(commands: list[Command]) -> list[Message]:
        answers = run(commands)
        told.extend(n for a in answers if isinstance(a.get("nodes"), list) for n in a["nodes"])
        return answers

    monkeypatch.setattr(shared.page, "run", counted)
    assert shared.capture(elements=True).elements == whole
    assert 0 < len(told) < 400 < shared.evaluate("document.querySelectorAll('*').length")


NESTED = """
<style>body { margin: 0 } iframe { display: block; border: 5px solid; padding: 3px; width: 280px;
height: 180px }</style>
<h1>Around</h1><iframe title=Outer></iframe><button>After</button>
<script>
  const fill = (frame, html) => {
    frame.contentDocument.open();
    frame.contentDocument.write(`<!doctype html><style>
      body { margin: 0 }
      button { position: absolute; left: 4px; top: 7px; width: 60px; height: 30px }
      .gap { height: 60px } .tall { height: 900px } .tall + button { position: static }
      iframe { display: block; width: 200px; height: 80px }</style>${html}`);
    frame.contentDocument.close();
    frame.contentWindow.uiGym.begin({}, 0);
    return frame.contentDocument;
  };
  const outer = fill(document.querySelector("iframe"), "<button>Near</button>"
    + "<div class=gap></div><iframe title=Inner></iframe><div class=tall></div><button>Below");
  const inner = fill(outer.querySelector("iframe"), "<button>Deep</button><div class=tall></div>");
  for (const button of [...outer.querySelectorAll("button"), inner.querySelector("button")])
    button.onclick = () => uiGym.log(button.textContent);
</script>
"""


def test_frames_are_told_in_their_place_and_scrolled(load: Load) -> None:
    shared = load(NESTED)
    seen = {element.name: element for element in shared.capture(elements=True).elements}
    assert list(seen) == ["Around", "Outer", "Near", "Inner", "Deep", "After"]
    assert seen["Near"].box == (seen["Outer"].box[0] + 12, seen["Outer"].box[1] + 15, 60, 30)
    for name in ("Near", "Deep"):
        shared.perform(act.Click(*seen[name].center))
        told = shared.capture(elements=True).elements
        assert [element.name for element in told if "focused" in element.states] == [name]
    assert shared.state() == {}
    assert [event.type for event in shared.events] == ["Near", "Deep"]
    shared.perform(act.Scroll(*seen["Deep"].center, dy=20))  # the inner frame
    shared.perform(act.Scroll(*seen["Near"].center, dy=10))  # the outer one
    moved = {element.name: element for element in shared.capture(elements=True).elements}
    assert moved["Inner"].center[1] == seen["Inner"].center[1] - 10
    left, top, width, height = seen["Deep"].box
    assert moved["Deep"].box == (left, top - 17, width, height - 13)  # its upper part is cut off
    load(large())
    for _ in range(2):  # in parts, once the frames are gone
        assert shared.capture(elements=True).elements


def test_a_small_page_after_a_large_one_is_told_at_once(load: Load) -> None:
    shared = load(large())
    for _ in range(2):
        shared.capture(elements=True)
    load("<button>Go</button><p>text")
    for _ in range(3):
        lines = [str(e).partition(" @")[0] for e in shared.capture(elements=True).elements]
        assert lines == ['[0] button "Go"', '[1] text "text"']
    assert shared._reader.queries(None) == accessibility.queries(None)


def test_a_tree_that_is_not_the_documents_is_told_as_a_whole(load: Load) -> None:
    shared = load(large("aria-owns=else") + "<p id=else>")
    first, second = (shared.capture(elements=True).elements for _ in range(2))
    assert first == second
    assert shared._reader._levels is None


def test_a_node_that_is_gone_before_its_children_are_asked_for(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = load(large())
    whole = shared.capture(elements=True).elements
    run = shared.page.run

    def refused(commands: list[Command]) -> list[Message]:
        if commands[0][0] == "Accessibility.getChildAXNodes":
            raise DeviceError("Accessibility.getChildAXNodes: Invalid ID")
        return run(commands)

    monkeypatch.setattr(shared.page, "run", refused)
    assert shared.capture(elements=True).elements == whole
