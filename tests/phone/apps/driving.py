"""Driving a screen as a person does: by what can be read on it.

Views are found in the uppermost window first, by their text, else by their description, else by
the end of their resource id; what is not there fails with a list of what is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.scene import Op, ViewNode, meet
from ui_gym_phone.ui.screen import PhoneScreen

SECOND = 1.0

SELECT_ALL = (29, 113)
"""The keys A and Ctrl: what is typed next replaces what a field holds."""

Scene = Callable[[Phone, PhoneScreen], object]
"""What brings a new phone to one of its screens."""
Step = str | Callable[[PhoneScreen], object]
"""What a person does next: touch what says this, or something else."""


def scene(start: str | Scene, *steps: Step) -> Scene:
    """A scene: from the first screen of a package, or from another scene, step by step."""

    def bring(phone: Phone, screen: PhoneScreen) -> None:
        if isinstance(start, str):
            phone.launch(start)
        else:
            start(phone, screen)
        walk(screen, *steps)

    return bring


def walk(screen: PhoneScreen, *steps: Step) -> None:
    """Do one step after the other."""
    for step in steps:
        if isinstance(step, str):
            tap(screen, step)
        else:
            step(screen)
    screen.refresh()


def typing(text: str, field: str = "") -> Step:
    """A step: type a text, into the field that has the caret or into this one."""
    return partial(write, field=field, text=text) if field else lambda screen: screen.text(text)


def holding(what: str) -> Step:
    """A step: touch and hold."""
    return partial(long_press, what=what)


def waiting(seconds: float) -> Step:
    """A step: let time pass."""
    return lambda screen: screen.phone.clock.advance(seconds)


def seen(screen: PhoneScreen) -> list[str]:
    """All texts and descriptions in the app's windows, from top to bottom, without doubles."""
    screen.refresh()
    found: dict[str, None] = {}
    for node in _nodes(screen):
        for told in (node.text, node.desc):
            if told:
                found[told] = None
    return list(found)


def find(screen: PhoneScreen, what: str, nth: int = 0) -> ViewNode:
    """The view that says `what`; the `nth` of several, of which those to touch come first."""
    screen.refresh()
    nodes = list(_nodes(screen))
    exact = [n for n in nodes if n.text == what] or [n for n in nodes if n.desc == what]
    found = sorted(exact, key=lambda n: not n.clickable) or [n for n in nodes if n.id == what]
    assert len(found) > nth, f"{what!r} is not seen; there is {seen(screen)}"
    return found[nth]


def has(screen: PhoneScreen, what: str) -> bool:
    """Whether a view says exactly this."""
    return what in seen(screen)


def tap(screen: PhoneScreen, *whats: str, nth: int = 0) -> None:
    """Touch the middle of the view that says each of `whats` in turn; a second passes each time."""
    for what in whats:
        screen.tap(*_middle(find(screen, what, nth)))
        screen.phone.clock.advance(SECOND)
        screen.refresh()


def long_press(screen: PhoneScreen, what: str, nth: int = 0) -> None:
    """Touch and hold the view that says `what`."""
    screen.long_press(*_middle(find(screen, what, nth)))
    screen.phone.clock.advance(SECOND)
    screen.refresh()


def write(screen: PhoneScreen, field: str, text: str) -> None:
    """Touch a text field, and type."""
    tap(screen, field)
    screen.text(text)
    screen.refresh()


def back(screen: PhoneScreen) -> None:
    """The back key."""
    screen.key(4)
    screen.phone.clock.advance(SECOND)


def scroll_to(screen: PhoneScreen, what: str, *, up: bool = False) -> None:
    """Swipe until `what` is seen; fails where the end comes first."""
    width, height = screen.phone.width, screen.phone.height
    for _ in range(40):
        before = seen(screen)
        if what in before:
            return
        low, high = height * 2 // 3, height * 2 // 5
        screen.swipe(width // 3, high if up else low, width // 3, low if up else high)
        if seen(screen) == before:
            break
    raise AssertionError(f"{what!r} is not to be scrolled to; there is {seen(screen)}")


def flaws(screen: PhoneScreen) -> list[str]:
    """What is wrong with the layout: texts over each other, or beyond the edges of the screen."""
    screen.refresh()
    scene = screen.scene
    found = []
    texts = [op for op in _uppermost(scene.ops, scene.width, scene.height) if op.kind == "text"]
    for window in scene.windows:
        if window.title == "PopupWindow":  # without a veil: what it hides is beside the point
            rows = [node.bounds for node in window.root.children]
            texts = [op for op in texts if any(meet(_core(op), row) for row in rows)][-len(rows) :]
    for op in texts:
        slack = op.what[4] // 2
        left, right = op.box[0] < -slack, op.box[2] > scene.width + slack
        # What a field cuts off is scrolled to as one types; what the screen cuts off is lost.
        if (left and op.clip[0] <= 0) or (right and op.clip[2] >= scene.width):
            found.append(f"{op.what[2]!r} leaves the screen: {op.box}")
    for i, one in enumerate(texts):
        for other in texts[i + 1 :]:
            if meet(_core(one), _core(other)):
                found.append(f"{one.what[2]!r} and {other.what[2]!r} overlap at {other.box}")
    return found


def _uppermost(ops: list[Op], width: int, height: int) -> list[Op]:
    """What lies over the last veil: below it, texts may be hidden."""
    first = 0
    for i, op in enumerate(ops):
        # The shade ends where the navigation bar begins.
        if op.kind == "rect" and op.box[:3] == (0, 0, width) and op.box[3] > 0.9 * height:
            first = i
    return ops[first:]


def _core(op: Op) -> tuple[int, int, int, int]:
    """The part of a line's box that its signs fill, without the room between lines."""
    _, y, _, _, size = op.what
    slack = size // 4
    box = (op.box[0] + slack + 2, y + size // 3, op.box[2] - slack - 2, y + size)
    return meet(box, op.clip) or (0, 0, 0, 0)


def _nodes(screen: PhoneScreen) -> Iterator[ViewNode]:
    """Every view, of the uppermost window first."""
    for window in reversed([w for w in screen.scene.windows if w.listed]):
        yield from _below(window.root)


def _below(node: ViewNode) -> Iterator[ViewNode]:
    for child in node.children:
        yield child
        yield from _below(child)


def _middle(node: ViewNode) -> tuple[int, int]:
    left, top, right, bottom = node.bounds
    return (left + right) // 2, (top + bottom) // 2
