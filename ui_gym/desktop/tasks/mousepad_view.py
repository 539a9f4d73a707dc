"""Change a setting of the text editor."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.action import Action
from ui_gym.contract.draws import between, other
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.desktop import keyfile, navigation
from ui_gym.desktop.device import DesktopDevice, SessionSpec
from ui_gym.desktop.facts import preference
from ui_gym.desktop.tasks.editing import DOCUMENT, EDITOR, VIEW, EditorParams, EditorTask

_GROUP = "org/xfce/mousepad/preferences/"


@dataclass(frozen=True)
class EditorSetting:
    """Something that is on or off."""

    name: str
    group: str
    key: str
    """Where it is kept: see `keyfile`."""
    menu: navigation.Place
    entry: navigation.Place
    """Where it is switched: a menu, and the entry in it."""


SETTINGS = (
    EditorSetting("line numbers", "view", "show-line-numbers", VIEW, (200, 88)),
    EditorSetting("the toolbar", "window", "toolbar-visible", VIEW, (200, 138)),
    EditorSetting("the status bar", "window", "statusbar-visible", VIEW, (200, 164)),
    EditorSetting("word wrap", "view", "word-wrap", DOCUMENT, (280, 37)),
    EditorSetting("automatic indentation", "view", "auto-indent", DOCUMENT, (280, 62)),
)


@dataclass(frozen=True)
class EditorViewParams(EditorParams):
    """A file, and how the editor shows it."""

    states: tuple[bool, ...]
    """Which of `SETTINGS` are on in the beginning."""
    which: int
    """The one that is meant."""


@register(
    "DesktopEditorSetting", suite="desktop", category="mousepad", difficulty="easy", max_steps=10,
    tags=("settings",),
)  # fmt: skip
class DesktopEditorSetting(EditorTask[EditorViewParams]):
    """Turn a setting of the text editor on or off, such as line numbers.

    ## Description
    The goal names line numbers, the toolbar, the status bar, word wrap or automatic indentation.

    ## Rewards
    1 if the editor's settings on the disk have it so and the other four are as they were.

    ## Starting state
    The editor with a file; each setting is on or off.
    """

    mistakes = ("neighbour",)
    goals = (
        "Turn {state} {setting} in the text editor.",
        "In the editor that is open, switch {setting} {state}.",
        "I want {setting} {state} in Mousepad. Leave its other settings alone.",
    )

    def sample(self, rng: np.random.Generator) -> EditorViewParams:
        states = tuple(bool(rng.random() < 0.4) for _ in SETTINGS)
        return EditorViewParams(
            **self.sample_files(rng), states=states, which=between(rng, 0, len(states) - 1)
        )

    def told(self, params: EditorViewParams) -> dict[str, object]:
        wanted = not params.states[params.which]
        return {"setting": SETTINGS[params.which].name, "state": "on" if wanted else "off"}

    def session(self, params: EditorViewParams) -> SessionSpec:
        changes: dict[str, dict[str, str]] = {}
        for setting, state in zip(SETTINGS, params.states, strict=True):
            changes.setdefault(_GROUP + setting.group, {})[setting.key] = str(state).lower()
        usual = super().session(params)
        files = {**usual.files, keyfile.PATH: keyfile.beginning(changes)}
        return dataclasses.replace(usual, files=files)

    def may_change(self, params: EditorViewParams) -> Sequence[AllowedChange]:
        setting = SETTINGS[params.which]
        return [AllowedChange(preference(setting.group, setting.key))]

    def judge(
        self, device: DesktopDevice, params: EditorViewParams, history: Sequence[Action]
    ) -> Verdict:
        kept = keyfile.read(device)
        wrong = []
        for i, setting in enumerate(SETTINGS):
            value = kept.get(_GROUP + setting.group, {}).get(setting.key, "false")
            if (value == "true") != (params.states[i] != (i == params.which)):
                wrong.append(f"{setting.name}: {value}")
        return Verdict(0.0 if wrong else 1.0, done=not wrong, notes="; ".join(wrong))

    def oracle(self, device: DesktopDevice, params: EditorViewParams) -> Iterator[Action | Demo]:
        setting = SETTINGS[params.which]
        yield from navigation.menu(navigation.window(device, EDITOR), setting.menu, setting.entry)

    def misread(
        self, params: EditorViewParams, mistake: str, rng: np.random.Generator
    ) -> EditorViewParams:
        """``neighbour``: another setting is taken."""
        others = tuple(range(len(SETTINGS)))
        return dataclasses.replace(params, which=other(rng, others, params.which))
