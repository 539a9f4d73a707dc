"""Quick settings: turn exactly the named tiles of the shade."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from ui_gym.android import moves
from ui_gym.android.compact import CompactTask
from ui_gym.android.content import texts
from ui_gym.android.device import AndroidDevice
from ui_gym.android.facts import settings_change
from ui_gym.android.task import Steps
from ui_gym.contract.action import Action, Click
from ui_gym.contract.draws import Rng
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import TaskError, UserError

TILES = {
    "wifi": ("Wi-Fi", "global", "wifi_on", "1"),
    "bt": ("Bluetooth", "global", "bluetooth_on", "1"),
    "dnd": ("Do Not Disturb", "global", "zen_mode", "1"),
    "rotation": ("Auto-rotate", "system", "accelerometer_rotation", "1"),
    "battery": ("Battery Saver", "global", "low_power", "1"),
    "cell": ("Mobile data", "global", "mobile_data", "1"),
    "location": ("Location", "secure", "location_mode", "3"),
    "night": ("Night Light", "secure", "night_display_activated", "1"),
}
"""Name in ``sysui_qs_tiles`` -> its label, the setting that it turns, that one's value if on."""

GOALS = texts.goals("AndroidQuickSettings")
MOST_CHANGES = 4


@dataclass(frozen=True)
class QuickSettingsParams:
    tiles: tuple[str, ...]
    """All tiles, in their order on the screen."""
    on: tuple[str, ...]
    """Those that are on at the start."""
    asked: tuple[str, ...]
    """Those that are to be turned, in this order."""
    touched: tuple[str, ...]
    """Those that the oracle turns: the asked ones, unless it is careless."""
    phrasing: int


@register(
    "AndroidQuickSettings", suite="android", category="settings", difficulty="easy", max_steps=8
)
class AndroidQuickSettings(CompactTask[QuickSettingsParams]):
    """Turn the named tiles of the quick settings on or off, and no others.

    ## Description
    The shade is pulled down and shows eight tiles, whose order and state vary. The goal names some
    of them and whether each should be on or off. With ``compact=True`` the screen is so small
    that a model of a million parameters can read it.

    ## Action space
    Touching a tile turns it.

    ## Rewards
    The share of the named tiles that are as asked; 0 once another one was turned. Judged by
    ``settings get``.

    ## Starting state
    None of the named tiles is as asked.

    ## Arguments
    | `changes` | 2 (compact: 1) | how many tiles are named, 1 to 4 |
    | `on` | 0.5 (compact: 0) | the share of tiles that are on at the start |
    | `compact` | False | a screen of 256x320 pixels |
    """

    mistakes = ("neighbour",)
    goals = GOALS
    compact_steps = 2
    """To each tile that is named."""
    compact_lines = ()
    """The shade has tiles of its own for a small screen."""

    def __init__(
        self, *, compact: bool = False, changes: int | None = None, on: float | None = None
    ) -> None:
        super().__init__(compact=compact)
        self.on = on if on is not None else (0.0 if compact else 0.5)
        if not 0 <= self.on <= 1:
            raise UserError(f"AndroidQuickSettings: on is a share from 0 to 1, not {on!r}")
        self.changes = self.check_range(
            "changes", changes if changes is not None else (1 if compact else 2), 1, MOST_CHANGES
        )
        if compact:
            self.max_steps = self.compact_steps * self.changes

    def sample(self, rng: Rng) -> QuickSettingsParams:
        names = list(TILES)
        tiles = tuple(names[i] for i in rng.permutation(len(names)))
        on = tuple(name for name in names if rng.random() < self.on)
        asked = tuple(names[i] for i in rng.permutation(len(names))[: self.changes])
        return QuickSettingsParams(tiles, on, asked, asked, int(rng.integers(len(GOALS))))

    def goal(self, params: QuickSettingsParams) -> str:
        told = [f"{'off' if name in params.on else 'on'} {TILES[name][0]}" for name in params.asked]
        changes = told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
        return GOALS[params.phrasing].format(changes=changes)

    def prepare(self, params: QuickSettingsParams) -> Sequence[str]:
        lines = [f"settings put secure sysui_qs_tiles {','.join(params.tiles)}"]
        for name, (_, namespace, key, value) in TILES.items():
            lines.append(f"settings put {namespace} {key} {value if name in params.on else 0}")
        return [*lines, "cmd statusbar expand-settings"]

    def judge(
        self, device: AndroidDevice, params: QuickSettingsParams, history: Sequence[Action]
    ) -> Verdict:
        now = self._states(device)
        turned = {name for name in TILES if now[name] != (name in params.on)}
        others = turned - set(params.asked)
        if others:
            labels = ", ".join(sorted(TILES[name][0] for name in others))
            return Verdict(0.0, done=True, notes=f"also turned: {labels}")
        score = len(turned) / len(params.asked)
        return Verdict(score, done=score == 1, notes=f"{len(turned)} of {len(params.asked)}")

    def may_change(self, params: QuickSettingsParams) -> Sequence[AllowedChange]:
        return settings_change(*(" ".join(TILES[name][1:3]) for name in params.asked))

    def oracle(self, device: AndroidDevice, params: QuickSettingsParams) -> Steps:
        for name, touched in zip(params.asked, params.touched, strict=True):
            label = TILES[touched][0]
            found = moves.find(device, label)
            if found is None:
                raise TaskError(f"the quick settings show no tile {label!r}")
            thought = self._search(params, name)
            yield Demo(Click(*found.center), thought, self._caption(device, params))

    def misread(self, params: QuickSettingsParams, mistake: str, rng: Rng) -> QuickSettingsParams:
        """``neighbour``: at the first asked tile, the finger slips to the one above (in the first
        row: below)."""
        place = params.tiles.index(params.asked[0])
        slipped = params.tiles[place - 2 if place >= 2 else place + 2]
        return dataclasses.replace(params, touched=(slipped, *params.asked[1:]))

    def blind_rate(self, params: QuickSettingsParams) -> float:
        """Any tiles, touched without fault."""
        rate = 1.0
        for left in range(len(params.asked)):
            rate *= (len(params.asked) - left) / (len(params.tiles) - left)
        return rate

    def _states(self, device: AndroidDevice) -> dict[str, bool]:
        line = "; ".join(f"settings get {space} {key}" for _, space, key, _ in TILES.values())
        values = device.shell(line).text.splitlines()
        return {name: value not in ("0", "null") for name, value in zip(TILES, values, strict=True)}

    @staticmethod
    def _search(params: QuickSettingsParams, name: str) -> str:
        """The tiles read one after the other, up to the one that is looked for."""
        read = params.tiles[: params.tiles.index(name) + 1]
        return " ".join(f"{i} {TILES[tile][0]}" for i, tile in enumerate(read, 1))

    def _caption(self, device: AndroidDevice, params: QuickSettingsParams) -> str:
        """All that the compact picture says: each tile, and whether it is on."""
        if not self.compact:
            return ""
        now = self._states(device)
        return "\n".join(
            f"{TILES[name][0]} {'on' if now[name] else 'off'}" for name in params.tiles
        )
