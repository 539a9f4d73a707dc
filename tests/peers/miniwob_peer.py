"""MiniWoB's own envs, driven with our actions."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from ui_gym.browser import documents
from ui_gym.browser.chromium import process
from ui_gym.contract import action as act

miniwob = pytest.importorskip("miniwob", reason="needs pip install 'ui-gym[miniwob]'")
webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium>=4.40,<5")

from miniwob import selenium_instance  # noqa: E402
from miniwob.action import ActionTypes  # noqa: E402
from miniwob.constants import DEFAULT_ALLOWED_KEYS  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402

SHELL = shutil.which("chromium-headless-shell")
DRIVER = shutil.which("chromedriver")
if SHELL is None or DRIVER is None:
    pytest.skip(
        "needs chromium-headless-shell and chromedriver (Debian: apt-get install "
        "chromium-headless-shell chromium-driver)",
        allow_module_level=True,
    )

WALLS = ("--host-resolver-rules", "--proxy", "--disable-quic", "--force-webrtc")
"""Flags of ours that no page of the peer, from a file or a local server, would load with."""

CLOCK = """(() => {
  const Real = Date, begin = Real.now(), EPOCH = Date.UTC(2026, 0, 15, 9, 0, 0);
  class Moved extends Real {
    constructor(...args) { if (args.length) super(...args); else super(Moved.now()); }
    static now() { return EPOCH + Real.now() - begin; }
  }
  window.Date = new Proxy(Moved, { apply: () => new Moved().toString() });
  const wait = window.setTimeout;
  window.setTimeout = (run, ms, ...rest) => wait(run, ms >= 7000 ? 1e8 : ms, ...rest);
})()"""
"""The peer's pages get our day, which date pickers mark, on a clock that runs; and no time limit
(they begin at 7 seconds), which a busy machine would reach."""

KEYS = {
    "enter": "<Enter>", "tab": "<Tab>", "space": "<Space>", "down": "<ArrowDown>",
    "up": "<ArrowUp>", "backspace": "<Backspace>", "ctrl+a": "C-a", "ctrl+c": "C-c",
    "ctrl+v": "C-v",
}  # fmt: skip

SCROLL = 50
"""Pixels of the peer's scroll action."""


class Peer:
    """The envs of the distribution `miniwob`, one at a time, over one browser.

    It is the browser that we use, with the flags that decide on pixels.
    """

    def __init__(self, folder: Path) -> None:
        flags = [flag for flag in process.FLAGS if not flag.startswith(WALLS)]
        binary = folder / "browser"
        quoted = " ".join(f"'{flag}'" for flag in flags)
        binary.write_text(f'#!/bin/sh\nexec {SHELL} {quoted} "$@"\n')
        binary.chmod(0o755)
        options = webdriver.ChromeOptions()
        options.binary_location = str(binary)
        for argument in ("headless", "disable-gpu", "no-sandbox", "window-size=800,600"):
            options.add_argument(argument)
        service = webdriver.ChromeService(
            executable_path=DRIVER, env={**os.environ, "TZ": "UTC", "LANG": "C.UTF-8"}
        )
        self.driver = webdriver.Chrome(service=service, options=options)
        self._inject(CLOCK)
        self._world: str | None = None
        self._quit, self.driver.quit = self.driver.quit, lambda: None
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(selenium_instance.webdriver, "Chrome", lambda **_: self.driver)
        self.env: Any = None

    def open(self, subdomain: str, *, page_time: bool = False) -> Any:
        """The env of a task; with `page_time` its pages get our clock, which `perform` moves."""
        if self._world is not None:
            self._cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=self._world)
            self._world = None
        if page_time:
            self._world = self._inject(documents.text("world.js"))
        size = (600, 800) if subdomain.startswith("flight.") else (800, 600)
        self.driver.set_window_size(*size)
        self.env = gymnasium.make(
            f"miniwob/{subdomain}-v1", disable_env_checker=True, refresh_freq=1
        ).unwrapped
        return self.env

    def reset(self, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode in a fresh page, with the pointer elsewhere."""
        chain = ActionChains(self.driver, duration=0)
        chain.w3c_actions.pointer_action.move_to_location(500, 500)
        chain.w3c_actions.perform()
        observation, info = self.env.reset(seed=seed)
        return observation, info

    def perform(self, action: act.Action, rest: float) -> dict[str, Any]:
        """Do what an action of ours means there; what its env says `rest` seconds later."""
        for kind, arguments in translated(action):
            if isinstance(action, act.Drag) and kind != ActionTypes.MOUSEDOWN_COORDS:
                self._pass(action.seconds / 8, wall=False)
            *_, info = self.env.step(self.env.create_action(kind, **arguments))
            if info["done"]:
                break
        self._pass(rest)
        metadata: dict[str, Any] = self.env.instance.get_metadata()
        return metadata

    def _pass(self, seconds: float, *, wall: bool = True) -> None:
        """Let time pass: page time where the pages have our clock, else wall time."""
        if self._world is not None:
            self.driver.execute_script(f"uiGym.tick({seconds * 1000})")
        elif wall:
            time.sleep(seconds)

    def _inject(self, script: str) -> str:
        """Evaluate a script in every new document; its identifier."""
        added = self._cdp("Page.addScriptToEvaluateOnNewDocument", source=script)
        return str(added["identifier"])

    def _cdp(self, method: str, **arguments: Any) -> Any:
        return self.driver.execute_cdp_cmd(method, arguments)

    def close(self) -> None:
        self._patch.undo()
        self._quit()


def translated(action: act.Action) -> Iterator[tuple[ActionTypes, dict[str, Any]]]:
    """An action of ours as actions of the peer."""

    def at(x: float, y: float) -> dict[str, Any]:
        return {"coords": (float(x), float(y))}

    if isinstance(action, act.Click):
        kind = ActionTypes.CLICK_COORDS if action.count == 1 else ActionTypes.DBLCLICK_COORDS
        yield kind, at(action.x, action.y)
    elif isinstance(action, act.Move):
        yield ActionTypes.MOVE_COORDS, at(action.x, action.y)
    elif isinstance(action, act.Drag):
        yield ActionTypes.MOUSEDOWN_COORDS, at(action.x1, action.y1)
        for n in range(1, 8):  # the last move is the peer's own, before it releases
            x = round(action.x1 + (action.x2 - action.x1) * n / 8)
            y = round(action.y1 + (action.y2 - action.y1) * n / 8)
            yield ActionTypes.MOVE_COORDS, at(x, y)
        yield ActionTypes.MOUSEUP_COORDS, at(action.x2, action.y2)
    elif isinstance(action, act.Scroll):
        assert (action.dx, action.dy) == (0, SCROLL)
        yield ActionTypes.SCROLL_DOWN_COORDS, at(action.x, action.y)
    elif isinstance(action, act.Type):
        yield ActionTypes.TYPE_TEXT, {"text": action.text}
    elif isinstance(action, act.Press):
        yield ActionTypes.PRESS_KEY, {"key": DEFAULT_ALLOWED_KEYS.index(KEYS[action.keys])}
    else:
        raise NotImplementedError(f"the peer cannot do {action}")
