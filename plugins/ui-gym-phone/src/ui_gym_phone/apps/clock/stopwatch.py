"""The stopwatch, with its laps."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ui_gym_phone.apps.clock import records
from ui_gym_phone.apps.clock.records import Stopwatch
from ui_gym_phone.apps.figures import Figures
from ui_gym_phone.apps.support import small
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Space, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView
from ui_gym_phone.ui.scene import Handler
from ui_gym_phone.ui.widgets import Icon, Text

MOST_LAPS = 99


def page(ui: Ui) -> AppPage:
    """The tab: the time, the laps, and the two or three buttons."""
    watch = records.stopwatch(ui.phone)
    now = ui.phone.clock.uptime_ms
    elapsed = watch.elapsed(now)
    time = Figures(shown(elapsed), align="center", id="stopwatch_time_text")
    rows = _laps(watch, elapsed)
    laps = VStack(*rows, pad=(24, 8, 24, 8))
    body = VStack(
        VStack(time, pad=(16, 24, 16, 16)),
        ScrollView(ui, "laps", laps),
        _buttons(ui, watch, now),
    )
    return AppPage(body, title="" if small(ui.phone) else "Stopwatch")


def shown(ms: int) -> str:
    """``01:05.30``, with hours in front where there are any."""
    hours, rest = divmod(ms, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    seconds, rest = divmod(rest, 1000)
    return (f"{hours}:" if hours else "") + f"{minutes:02d}:{seconds:02d}.{rest // 10:02d}"


def _laps(watch: Stopwatch, elapsed: int) -> list[Widget]:
    """Newest first: the number, how long the lap took, when it ended."""
    if not watch.laps:
        return []
    ends = [*watch.laps, elapsed]
    rows: list[Widget] = []
    for i in reversed(range(len(ends))):
        took = ends[i] - (ends[i - 1] if i else 0)
        rows.append(
            HStack(
                   Text(f"# {i + 1}", "body", "dim", lines=1), Expand(Space()),
                   Text(shown(took), "body", lines=1), Space(width=20),
                   Text(shown(ends[i]), "body", "dim", lines=1), pad=(0, 9, 0, 9),
            )
        )  # fmt: skip
    return rows


def _buttons(ui: Ui, watch: Stopwatch, now: int) -> Widget:
    running, elapsed = watch.started is not None, watch.elapsed(now)
    put = partial(records.set_stopwatch, ui.phone)
    if running:
        stand = replace(watch, before=elapsed, started=None)
        main = _round("pause", "Pause", partial(put, stand), "primary", "on_primary", 32)
        lap = replace(watch, laps=(*watch.laps, elapsed)[:MOST_LAPS])
        side: Widget = _round("timer-outline", "Lap", partial(put, lap), "tonal", "on_tonal", 24)
    else:
        main = _round("play", "Start", partial(put, replace(watch, started=now)),
                      "primary", "on_primary", 32)  # fmt: skip
        side = Space(width=56)
        if elapsed:
            side = _round("refresh", "Reset", partial(put, Stopwatch()), "tonal", "on_tonal", 24)
    return HStack(Space(weight=1), side, main, Space(width=56), Space(weight=1), gap=24,
                  pad=(0, 8, 0, 20))  # fmt: skip


def _round(icon: str, desc: str, on_tap: Handler, ground: str, ink: str, size: float) -> Tap:
    face = Surface(Icon(icon, size, ink), ground, radius=40, pad=16 if size < 30 else 20)
    return Tap(face, on_tap, cls="android.widget.ImageButton", desc=desc)
