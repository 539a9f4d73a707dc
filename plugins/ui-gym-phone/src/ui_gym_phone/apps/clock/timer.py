"""The timers: a keypad that sets one, and the list of those that are set."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.clock import records
from ui_gym_phone.apps.clock.records import Timer
from ui_gym_phone.apps.figures import Figures, Keypad, KeypadKey
from ui_gym_phone.apps.support import small
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Space, Surface, VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView, fab
from ui_gym_phone.ui.widgets import Button, IconButton, Text

ROWS = ("123", "456", "789")
MOST_DIGITS = 6
MINUTE = 60_000
MOST_TIMERS = 20


def page(ui: Ui) -> AppPage:
    """The tab. ``digits`` are those that were typed, ``setup`` whether the keypad is open."""
    timers = records.timers(ui.phone)
    if not timers or ui.state.get("overlay") == "setup":
        return _setup(ui, bool(timers))
    cards: list[Widget] = [_card(ui, timer) for timer in timers]
    made = AppPage(ScrollView(ui, "timers", VStack(*cards, gap=10, pad=(12, 4, 12, 4)), tail=88),
                title="Timer")  # fmt: skip
    if len(timers) < MOST_TIMERS:
        made.fab = fab("plus", "Add timer", partial(_begin, ui))
    return made


def _begin(ui: Ui) -> None:
    ui.state.update(overlay="setup", digits="")


# -- setting one --


def _setup(ui: Ui, others: bool) -> AppPage:
    digits = str(ui.state.get("digits", ""))
    whole = digits.rjust(MOST_DIGITS, "0")
    told = f"{whole[:2]}h {whole[2:4]}m {whole[4:]}s"
    time = Figures(told, "primary" if digits else "dim", align="center", id="timer_setup_time")
    erase = KeypadKey(
        "", partial(_erase, ui), "Delete", "backspace-outline", id="timer_setup_delete"
    )
    rows = [[_digit(ui, sign) for sign in row] for row in ROWS]
    last = [_digit(ui, "00"), _digit(ui, "0"), erase]
    start = Button("Start", partial(_start, ui), icon="play", id="fab", enabled=bool(digits))
    cancel = None
    if others:
        cancel = Button("Cancel", ui.close_overlay, style="text")
    foot = HStack(Space(weight=1), cancel, start, Space(weight=1), gap=12)
    if small(ui.phone):  # the last row of keys goes beside the others
        keypad = Keypad([[*row, key] for row, key in zip(rows, last, strict=True)], gap=4)
        head = HStack(Expand(time), start, gap=8, pad=(12, 4, 12, 4))
        return AppPage(VStack(head, VStack(keypad, pad=(12, 0, 12, 4), weight=1)))
    body = VStack(
        VStack(time, pad=(12, 8, 12, 12)),
        VStack(Keypad([*rows, last], cell=72, gap=10), pad=(36, 0, 36, 0), weight=1),
        VStack(foot, pad=(12, 12, 12, 12)),
    )
    return AppPage(body, title="Timer")


def _digit(ui: Ui, sign: str) -> KeypadKey:
    return KeypadKey(sign, partial(_type, ui, sign), id=f"timer_setup_digit_{sign}")


def _type(ui: Ui, sign: str) -> None:
    digits = (str(ui.state.get("digits", "")) + sign).lstrip("0")
    if len(digits) <= MOST_DIGITS:
        ui.state["digits"] = digits


def _erase(ui: Ui) -> None:
    ui.state["digits"] = str(ui.state.get("digits", ""))[:-1]


def _start(ui: Ui) -> None:
    whole = str(ui.state.get("digits", "")).rjust(MOST_DIGITS, "0")
    seconds = int(whole[:2]) * 3600 + int(whole[2:4]) * 60 + int(whole[4:])
    timers = records.timers(ui.phone)
    id = max((timer.id for timer in timers), default=0) + 1
    made = Timer(id, seconds * 1000, seconds * 1000).started(ui.phone.clock.uptime_ms)
    records.set_timers(ui.phone, [made, *timers])
    ui.state.update(digits="")
    ui.close_overlay()


# -- those that are set --


def shown(ms: int) -> str:
    """``1:05:30`` or ``05:30``; with a minus since it went off."""
    seconds = -(-abs(ms) // 1000) if ms > 0 else abs(ms) // 1000
    sign = "−" if ms < 0 and seconds else ""
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    return sign + (f"{hours}:" if hours else "") + f"{minutes:02d}:{seconds:02d}"


def name_of(timer: Timer) -> str:
    """``1h 5m timer``."""
    minutes, seconds = divmod(timer.length // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "m"), (seconds, "s")]
    return " ".join(f"{n}{unit}" for n, unit in parts if n) + " timer"


def _card(ui: Ui, timer: Timer) -> Widget:
    now = ui.phone.clock.uptime_ms
    left = timer.remaining(now)
    running, over = timer.ends is not None, left <= 0
    name = name_of(timer)
    status = "Time's up" if over else "Running" if running else "Paused"

    def change(to: Timer | None) -> None:
        timers = [to if t.id == timer.id else t for t in records.timers(ui.phone)]
        records.set_timers(ui.phone, [t for t in timers if t is not None])

    if over:
        main = Button("Stop", partial(change, timer.reset()), icon="stop")
    elif running:
        main = Button("Pause", partial(change, timer.paused(now)), icon="pause")
    else:
        main = Button("Start", partial(change, timer.started(now)), icon="play")
    if running:
        side = Button("+1:00", partial(change, longer(timer, now)), style="tonal")
    else:
        side = Button("Reset", partial(change, timer.reset()), style="tonal")
    head = HStack(
        Expand(VStack(Text(name, "label", lines=1), Text(status, "small", "dim", lines=1))),
        IconButton("close", f"Delete {name}", partial(change, None)),
        gap=8,
    )
    time = Figures(shown(left), "error" if over else "text", align="center", id="timer_time_text")
    foot = HStack(side, Space(weight=1), main, gap=8, pad=(0, 6, 6, 0))
    return Surface(VStack(head, time, foot, gap=4), "surface", radius=20, pad=(18, 10, 10, 14))


def longer(timer: Timer, now: int) -> Timer:
    """A minute more; one that went off runs for that minute from now."""
    if timer.remaining(now) > 0:
        return timer.longer(MINUTE)
    return Timer(timer.id, timer.length, MINUTE).started(now)
