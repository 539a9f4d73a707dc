"""AndroidWorld's actions: ``{"action_type": "click", "x": 10, "y": 20}`` or ``"index": 12``.

Source of the format: https://github.com/google-research/android_world (``env/json_action.py``, and
``env/actuation.py`` for what the actions do), with its agents' ``Reason: ... Action: {...}``.

What the format leaves open, and where we add to it:

- Coordinates are pixels of the screenshot; an `index` is the number of an element that was shown.
- ``scroll`` shows more of the side that `direction` names. Without more words it goes half the
  screen, from its middle, or half the element of the `index`; we also read `x` and `y`, and a
  `distance` in pixels.
- ``swipe`` moves a finger over the whole screen, as AndroidWorld does: down and up are the ways of
  the finger, left and right the sides of which more is shown.
- ``input_text`` first clicks the element or point, if one is given, and presses Enter after the
  text; we also read `"enter": false`, which leaves that out.
- ``wait`` is `WAIT` seconds. ``status`` is left out after an ``answer``, which ends the episode.
- ``press_keyboard`` has a `keycode` of Android, such as ``KEYCODE_VOLUME_UP``.
"""

from __future__ import annotations

from ui_gym.contract import action as act
from ui_gym.contract.tables import read_table
from ui_gym.dialects.common import DIRECTIONS, speechless, unknown, written
from ui_gym.dialects.fields import Fields
from ui_gym.dialects.grid import Size
from ui_gym.dialects.jsonish import Object
from ui_gym.dialects.keys import ANDROID
from ui_gym.dialects.objects import ObjectDialect, Place
from ui_gym.dialects.pointer import PointerState
from ui_gym.dialects.seen import Point, Seen
from ui_gym.errors import ActionError

WAIT = 1.0
"""How long one ``wait`` takes, in seconds."""

SWIPE = 0.5
"""How long one ``swipe`` takes, in seconds."""

_KEYCODE = "KEYCODE_"
_KEYS = {"keyboard_enter": "enter", "navigate_home": "home", "navigate_back": "back"}
_BY_KEY = {key: name for name, key in _KEYS.items()}
_OUTCOMES: dict[str, act.Outcome] = {"complete": "success", "infeasible": "infeasible"}
_STATUS = {ours: theirs for theirs, ours in _OUTCOMES.items()}
_TEXTS = read_table(__package__, "texts")["androidworld"]
_PROMPT: str = _TEXTS["prompt"]
_USAGE: dict[str, str] = _TEXTS["usage"]


class AndroidWorld(ObjectDialect):
    """The actions of AndroidWorld."""

    name = "androidworld"
    example = _USAGE["click"]

    def read(self, said: Fields, pointer: PointerState, size: Size, seen: Seen) -> None:
        name = said.text("action_type", default="").lower()
        if name not in _USAGE:
            raise unknown("action", name, _USAGE)
        with written(name, _USAGE[name]):
            if name == "status":
                pointer.finish(act.Finish(said.choice(_OUTCOMES, "goal_status")))
            else:
                for action in _build(name, said, size, seen):
                    pointer.do(action)

    def say(self, action: act.Action, place: Place) -> list[Object]:
        name, rest = _say(action)
        return [{"action_type": name, **rest}]

    def write(self, objects: list[Object], thought: str) -> str:
        said = super().write(objects, "")
        return f"Reason: {thought}\nAction: {said}" if thought else f"Action: {said}"

    def prompt(self, size: Size, *, elements: bool = False) -> str:
        return _PROMPT.format(
            width=size[0], height=size[1], actions="\n".join(_USAGE.values()), wait=WAIT,
            elements=_TEXTS["elements"] if elements else "",
        )  # fmt: skip


def _build(name: str, said: Fields, size: Size, seen: Seen) -> list[act.Action]:
    match name:
        case "click" | "double_tap":
            return [act.Click(*_where(said, seen), count=2 if name == "double_tap" else 1)]
        case "long_press":
            return [act.LongPress(*_where(said, seen))]
        case "input_text":
            focus = [act.Click(*_where(said, seen))] if said.has("index", "x", "y") else []
            clear = said.flag("clear_text", default=False)
            enter = said.flag("enter", default=True)
            return [*focus, act.Type(said.text("text"), clear=clear, enter=enter)]
        case "scroll":
            return [_scroll(said, size, seen)]
        case "swipe":
            return [_swipe(said, size)]
        case "open_app":
            return [act.Open(said.text("app_name"))]
        case "press_keyboard":
            return [ANDROID.press([said.text("keycode").strip().removeprefix(_KEYCODE)])]
        case "wait":
            return [act.Wait(WAIT)]
        case "answer":
            return [act.Answer(said.text("text"))]
        case _:
            return [act.Press(_KEYS[name])]


def _where(said: Fields, seen: Seen) -> Point:
    if not said.has("index"):
        return said.pixel()
    if said.has("x", "y"):
        raise ActionError("argument", "give an index, or x and y, but not both")
    return seen.locate(said.get("index"))


def _scroll(said: Fields, size: Size, seen: Seen) -> act.Scroll:
    right, down = said.choice(DIRECTIONS, "direction")
    width, height = seen.element(said.get("index")).box[2:] if said.has("index") else size
    named = said.has("index", "x", "y")
    point = _where(said, seen) if named else (size[0] // 2, size[1] // 2)
    pixels = said.whole("distance", default=(width if right else height) // 2)
    return act.Scroll(*point, dx=right * pixels, dy=down * pixels)


def _swipe(said: Fields, size: Size) -> act.Drag:
    right, down = said.choice(DIRECTIONS, "direction")
    (x, y), (far_x, far_y) = (size[0] // 2, size[1] // 2), (size[0] - 1, size[1] - 1)
    if down:
        ends = [(x, 0), (x, far_y)]
    else:  # right: the finger goes to the left, from the far edge
        ends = [(0, y), (far_x, y)]
    start, end = ends[::-1] if down < 0 or right > 0 else ends
    return act.Drag(*start, *end, seconds=SWIPE)


def _say(action: act.Action) -> tuple[str, Object]:
    match action:
        case act.Click(x=x, y=y, button="left", count=1 | 2 as count, keys=""):
            return ("double_tap" if count == 2 else "click"), {"x": x, "y": y}
        case act.LongPress(x=x, y=y, seconds=act.LongPress.seconds):
            return "long_press", {"x": x, "y": y}
        case act.Type(text=text, clear=clear, enter=enter):
            said = {"clear_text": True} if clear else {}
            return "input_text", {"text": text, **said, **({} if enter else {"enter": False})}
        case act.Scroll(x=x, y=y, dx=dx, dy=dy):
            for direction, (right, down) in DIRECTIONS.items():
                pixels = dx * right + dy * down
                if pixels >= 0 and (dx, dy) == (pixels * right, pixels * down):
                    return "scroll", {"direction": direction, "x": x, "y": y, "distance": pixels}
        case act.Press(keys=keys) if keys in _BY_KEY:
            return _BY_KEY[keys], {}
        case act.Press(keys=keys) if len(names := ANDROID.write(keys)) == 1:
            code = _KEYCODE + names[0].upper()
            if ANDROID.read([code.removeprefix(_KEYCODE)]) == keys:
                return "press_keyboard", {"keycode": code}
        case act.Open(target=target):
            return "open_app", {"app_name": target}
        case act.Wait(seconds=seconds) if seconds == WAIT:
            return "wait", {}
        case act.Answer(text=text):
            return "answer", {"text": text}
        case act.Finish(outcome=outcome, message="") if outcome in _STATUS:
            return "status", {"goal_status": _STATUS[outcome]}
    raise speechless("AndroidWorld", action)
