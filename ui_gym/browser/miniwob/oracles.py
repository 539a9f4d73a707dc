"""How some tasks of MiniWoB++ are solved, through the same actions as an agent's.

MiniWoB has no solutions of its own. These are of the tasks whose goal says in words what to do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ui_gym.browser import moves
from ui_gym.browser.device import BrowserDevice
from ui_gym.contract.action import Action, Click, Drag, Press, Type
from ui_gym.errors import TaskError

Fields = Mapping[str, str]
Oracle = Callable[[BrowserDevice, Fields], Iterator[Action]]

ORACLES: dict[str, Oracle] = {}
"""By MiniWoB's names of the tasks."""

SUBMIT = "#subbtn"


def solves(*subdomains: str) -> Callable[[Oracle], Oracle]:
    """Decorator: this is how these tasks are solved."""

    def decorate(oracle: Oracle) -> Oracle:
        ORACLES.update(dict.fromkeys(subdomains, oracle))
        return oracle

    return decorate


# -- looking into the page --


def _texts(device: BrowserDevice, selector: str) -> list[str]:
    """What the elements of a CSS selector say."""
    script = f"Array.from(document.querySelectorAll({json.dumps(selector)}), (e) => e.textContent)"
    return [str(text).strip() for text in device.evaluate(script)]


_POINT = """((element) => {
  const box = element.getClientRects()[0];
  // The middle, or where else it is not covered.
  for (const part of [[2, 2], [1, 2], [3, 2], [2, 1], [2, 3], [1, 1], [3, 3], [1, 3], [3, 1]]) {
    const point = [box.left + box.width * part[0] / 4, box.top + box.height * part[1] / 4];
    if (element.contains(document.elementFromPoint(...point.map(Math.floor)))) return point;
  }
  return [box.left + box.width / 2, box.top + box.height / 2];
})"""


def _press(device: BrowserDevice, selector: str, index: int = 0) -> Click:
    """Click an element, by its number among those of a CSS selector."""
    element = f"document.querySelectorAll({json.dumps(selector)})[{index:d}]"
    x, y = device.evaluate(f"{_POINT}({element})")
    return Click(int(x), int(y))


def _named(device: BrowserDevice, selector: str, text: str) -> Click:
    """Click the element of a CSS selector that says `text`."""
    texts = _texts(device, selector)
    if text not in texts:
        raise TaskError(f"nothing of {selector!r} says {text!r}, only {texts}")
    return _press(device, selector, texts.index(text))


def _fill(device: BrowserDevice, texts: Mapping[str, str]) -> Iterator[Action]:
    """Type into fields, by their CSS selectors, and submit."""
    for selector, text in texts.items():
        yield from moves.fill(device, selector, text)
    yield _press(device, SUBMIT)


def _targets(fields: Fields) -> Sequence[str]:
    return [value for name, value in fields.items() if name.startswith("target ")]


# -- clicks --


@solves("click-test", "click-test-2")
def _click_test(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield _press(device, SUBMIT)


@solves("click-button-sequence")
def _click_in_turn(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield _press(device, "#subbtn")
    yield _press(device, "#subbtn2")


@solves("click-button", "click-test-transfer", "unicode-test")
def _click_button(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield _named(device, "#area button", fields["target"])


@solves("click-link")
def _click_link(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield _named(device, "#area .alink", fields["target"])


@solves("click-dialog")
def _close_dialog(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield _press(device, ".ui-dialog-titlebar-close")


@solves("click-dialog-2")
def _answer_dialog(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    if fields["target"] == "x":
        yield from _close_dialog(device, fields)
    else:
        yield _named(device, ".ui-dialog-buttonset button", fields["target"])


@solves("click-tab")
def _click_tab(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield _named(device, "#area ul a", f"Tab #{fields['target']}")


@solves("click-color")
def _click_color(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield _press(device, f".color[data-color={json.dumps(fields['target'])}]")


@solves("click-collapsible", "click-collapsible-nodelay")
def _expand(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield _press(device, "#area h3")
    yield _press(device, SUBMIT)


@solves("grid-coordinate")
def _click_coordinate(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield _press(device, f'circle[id="({fields["x"]},{fields["y"]})"]')


@solves("ascending-numbers")
def _click_ascending(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    spots = [_press(device, "svg text", index) for index in range(len(_texts(device, "svg text")))]
    yield from spots  # in the order of the numbers, which are hidden from the first click on


@solves("focus-text")
def _focus(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield _press(device, "#tt")


@solves("focus-text-2")
def _focus_press(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield _press(device, "#area input", int(fields["target"]) - 1)


# -- choices --


@solves("click-option")
def _choose_option(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield _named(device, "#boxes label", fields["target"])
    yield _press(device, SUBMIT)


@solves("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer")
def _tick(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    for target in _targets(fields):
        yield _named(device, "#area label", target)
    yield _press(device, SUBMIT)


@solves("choose-list")
def _choose_in_list(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    options = _texts(device, "#options option")
    yield _press(device, "#options")
    for _ in range(options.index(fields["target"])):
        yield Press("down")
    yield Press("enter")
    yield _press(device, "#area button")


@solves("use-spinner")
def _spin(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    turns = int(fields["target"])
    for _ in range(abs(turns)):
        yield _press(device, ".ui-spinner-up" if turns > 0 else ".ui-spinner-down")
    yield _press(device, SUBMIT)


# -- texts --


@solves("enter-text", "enter-text-dynamic")
def _enter_text(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield from _fill(device, {"#tt": fields["target"]})


@solves("enter-text-2")
def _enter_cased(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    text = fields["text"]
    yield from _fill(device, {"#tt": text.upper() if fields["case"] == "upper" else text.lower()})


@solves("enter-password")
def _enter_password(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield from _fill(device, dict.fromkeys(("#password", "#verify"), fields["target"]))


@solves("login-user")
def _log_in(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield from _fill(device, {"#username": fields["username"], "#password": fields["password"]})


@solves("enter-date", "enter-time")
def _enter_date(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    left, top, _, height = device.box("#tt")
    yield Click(left + 8, top + height // 2)  # the field's first part
    parts = re.findall(r"\d+|[AP]M", fields["target"])
    yield Type("".join(part.zfill(2) for part in parts))
    yield _press(device, SUBMIT)


@solves("find-word")
def _find_word(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    words = _texts(device, "#area p")[0].split()
    word = words[int(fields["target"]) - 1]
    yield from _fill(device, {"#answer-input": re.sub("[^a-zA-Z0-9]", "", word)})


@solves("read-table")
def _read_table(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield from _fill(device, {"#tt": _table(device)[fields["target"]]})


@solves("read-table-2")
def _read_cells(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    labels = [text.rstrip(":") for text in _texts(device, "#form label")]
    cells = _table(device)
    yield from _fill(device, {f"#tt{n}": cells[label] for n, label in enumerate(labels, start=1)})


@solves("simple-arithmetic")
def _do_sum(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    one, sign, other = _texts(device, "#math-problem")[0].split()[:3]
    found = {"+": int(one) + int(other), "-": int(one) - int(other), "x": int(one) * int(other)}
    yield from _fill(device, {"#math-answer": str(found[sign])})


@solves("simple-algebra")
def _solve_for_x(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    one, sign, other, _, result = _texts(device, "#math-problem")[0].split()
    number = int(other if one == "x" else one)
    if sign == "+":
        x = int(result) - number
    else:
        x = int(result) + number if one == "x" else number - int(result)
    yield from _fill(device, {"#math-answer": str(x)})


def _table(device: BrowserDevice) -> dict[str, str]:
    cells: list[Any] = _texts(device, "#tab td")
    return dict(zip(cells[::2], cells[1::2], strict=True))


# -- mail and drags --


@solves("email-inbox-delete", "email-inbox-important")
def _treat_mail(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    index = _texts(device, "#main .email-sender").index(fields["by"])
    icon = {"delete": ".trash", "star": ".star"}[fields["task"]]
    yield _press(device, f"#main .email-thread {icon}", index)


@solves("drag-box")
def _drag_box(device: BrowserDevice, fields: Fields) -> Iterator[Action]:
    yield Drag(*device.center("#draggableSmall"), *device.center("#draggableLarge"))
    yield _press(device, SUBMIT)
