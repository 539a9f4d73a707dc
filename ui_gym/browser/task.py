"""BrowserTask: what every task of the browser suite shares."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from ui_gym.browser.around import drawn_adverts, drawn_cookie_bar
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.languages import ENGLISH, Language, drawn, language_of
from ui_gym.browser.looks import PLAIN, dress
from ui_gym.browser.moves import click
from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.contract.task import Demo, Task, params_json
from ui_gym.errors import UserError

P = TypeVar("P")


class BrowserTask(Task[P, BrowserDevice]):
    """A task on one page: `page` is a built-in page's name or the path of the author's own file."""

    page: ClassVar[str | Path]
    shown: ClassVar[tuple[str, ...]] = ()
    """Names of the params and of the task's arguments that the page is given; by default all
    params. Leave out what would give the answer."""
    meanings = {
        "look": 'a design, such as "dark", or "varied", "heldout" or "any": one of several by the '
        'seed; None: "plain"',
        "adverts": "whether advertisements stand beside the page",
        "cookie_bar": "whether a question about cookies lies over it until it is answered",
        "language": 'of goal and page: "de", "es", "ja", or "varied": any, by the seed; None: "en"',
    }
    translated: ClassVar[tuple[str, ...]] = ()
    """The tables of ``content/data/languages`` in which it is translated; none if it is not."""
    compact: bool = False
    """Whether the page is small, for small models."""
    look: str = PLAIN
    """What the page looks like (`ui_gym.browser.looks`)."""
    adverts: bool = False
    """Whether advertisements stand beside the page (`ui_gym.browser.around`)."""
    cookie_bar: bool = False
    """Whether a bar about cookies lies over the page until it is answered."""
    language: str = ENGLISH
    """What the goal and the page are written in (`ui_gym.browser.languages`)."""

    def page_params(self, params: P) -> dict[str, Any]:
        """What the page is given; by default what `shown` names."""
        if not self.shown:
            return dataclasses.asdict(params)  # type: ignore[call-overload,no-any-return]
        known = {**vars(self), **vars(params)}
        return {name: known[name] for name in self.shown}

    def drawn_by(self, params: P) -> Mapping[str, Any]:
        """What the language is drawn by: nothing of what is asked for, about which somebody
        careless may err; by default all that the page is given."""
        return self.page_params(params)

    def speak(self, params: P) -> Language:
        """The language of an episode."""
        name = self.language
        if name != ENGLISH:
            name = drawn(name, _digest(self.drawn_by(params)))
        return language_of(name, self.translated)

    def composed(self, params: P, say: Language) -> dict[str, str]:
        """Texts of the page that are put together of others, by what they are in English."""
        return {}

    def put_around(self, adverts: bool | None, cookie_bar: bool | None) -> None:
        """Set `adverts` and `cookie_bar`, by default False; `UserError` where the page has no room
        for them."""
        self.adverts = self.check_flag("adverts", adverts or False)
        self.cookie_bar = self.check_flag("cookie_bar", cookie_bar or False)
        if self.compact and (self.adverts or self.cookie_bar):
            what = "adverts" if self.adverts else "a cookie_bar"
            raise UserError(f"{self.spec.name}: the compact page has no room for {what}")

    def around(self, digest: int) -> dict[str, Any]:
        """What stands around the page in the episode whose params have `digest`."""
        drawn: dict[str, Any] = {}
        if self.adverts:
            drawn["adverts"] = drawn_adverts(digest)
        if self.cookie_bar:
            drawn["cookie_bar"] = drawn_cookie_bar(digest)
        return drawn

    def setup(self, device: BrowserDevice, params: P) -> None:
        digest = _digest(params)
        more = dress(self.look, digest, compact=self.compact)
        if around := self.around(digest):
            more["around"] = around
        if self.language != ENGLISH:
            say = self.speak(params)
            more |= say.on_page(self.composed(params, say))
        small = {"compact": True} if self.compact else {}
        device.load(self.page, {**self.page_params(params), **more, **small}, seed=digest)

    def overdone(self, params: P, excess: str) -> P:
        """The params of what is done too much; the oracle does it, by `overdo`."""
        raise NotImplementedError

    def overdo(self, device: BrowserDevice, params: P, excess: str) -> None:
        for demo in self.demonstrate(device, self.overdone(params, excess)):
            device.perform(demo.action)

    def demonstrate(self, device: BrowserDevice, params: P) -> Iterator[Demo]:
        """The oracle's steps, once the bar about cookies is answered."""
        if self.cookie_bar and device.evaluate("document.querySelector('.cookie-bar') !== null"):
            yield Demo(click(device, ".cookie-bar .reject"), "First, decline the cookies.")
        yield from super().demonstrate(device, params)

    @classmethod
    def pool(cls, options: DeviceOptions) -> DevicePool:
        # Imported only when a browser is wanted: it needs the extra `browser` (OpenCV).
        from ui_gym.browser.pool import browser_pool

        return browser_pool(options)


def _digest(values: object) -> int:
    return int.from_bytes(hashlib.sha256(params_json(values).encode()).digest()[:4], "big")
