"""Team: the windows of several agents on one document, and what goes to and fro between them.

A round has three parts. All agents act at once, each in its own browser. Then the server takes what
the windows sent, agent by agent, and answers. Then the answers are shown, and pictures are taken.
So an action of a round meets the window as it was before the round, and edits meet the document in
the order of the agents, however fast each browser was.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from ui_gym.browser.device import BrowserDevice
from ui_gym.contract.action import Action
from ui_gym.contract.device import DevicePool, Frame
from ui_gym.dialects import Dialect
from ui_gym.errors import DeviceError
from ui_gym.multiagent.document import SharedDocument
from ui_gym.multiagent.task import PAGES, Windows
from ui_gym.playing import acting
from ui_gym.playing.acting import ActOutcome
from ui_gym.playing.env import RESET_PAUSES
from ui_gym.playing.loan import Loan

T = TypeVar("T")


class TeamFault(DeviceError):
    """The device of one agent failed: `user` is its number."""

    def __init__(self, user: int, cause: DeviceError) -> None:
        super().__init__(str(cause))
        self.user = user
        self.cause = cause


class TeamWindow:
    """One agent's browser: a device, what was done on it, and the last picture of it."""

    def __init__(
        self, pool: DevicePool, dialect: Dialect, size: tuple[int, int], mode: str
    ) -> None:
        self.loan = Loan(pool)
        self.history: list[Action] = []
        self.frame: Frame | None = None
        self.times = dict.fromkeys(("action", "capture", "decode", "judge"), 0.0)
        self._dialect = dialect
        self._size = size
        self._mode = mode
        self._read = 0

    @property
    def device(self) -> BrowserDevice:
        """The browser. `DeviceLost` if there is none."""
        return self.loan.device  # type: ignore[return-value]

    def load(self, page: str, params: Mapping[str, Any], seed: int, who: str) -> None:
        """Show the page, on another device where this one fails.

        Raises:
            DeviceError: it failed three times in a row.
        """

        def show(device: Any) -> None:
            device.load(PAGES / page, params, seed=seed)
            self._picture()

        started = time.perf_counter()
        self.history, self._read = [], 0
        self.loan.heal(show, RESET_PAUSES, who)
        self.times = {**dict.fromkeys(self.times, 0.0), "action": time.perf_counter() - started}

    def act(self, text: str) -> ActOutcome:
        """Do what a text says."""
        assert self.frame is not None
        started = time.perf_counter()
        seen = acting.seen_so_far(self.frame, self.history, self._mode)
        outcome = acting.act(self.device, text, self._dialect, self._size, seen, self.history)
        self.device.state()  # what the page had to say has arrived by now
        self.times = {**dict.fromkeys(self.times, 0.0), "action": time.perf_counter() - started}
        return outcome

    def requests(self) -> list[Mapping[str, Any]]:
        """What the page sent to the server since it was last asked."""
        events = self.device.events
        new, self._read = events[self._read :], len(events)
        return [event.data for event in new if event.type == "request"]

    def settle(self, answers: Sequence[Mapping[str, Any]]) -> None:
        """Show the server's answers, and take a picture."""
        for answer in answers:
            # Data, written as JSON: nothing in it is ever run.
            self.device.evaluate(f"uiGym.answer({json.dumps(answer)})")
        self._picture()

    def _picture(self) -> None:
        self.frame = acting.take_picture(self.device, self._size, self._mode)
        self.times["capture"] = self.frame.time_capture
        self.times["decode"] = self.frame.time_decode


class Team(Windows):
    """The windows of `users` agents on devices of one pool."""

    def __init__(
        self, users: int, pool: DevicePool, dialect: Dialect, size: tuple[int, int], mode: str
    ) -> None:
        self.windows = [TeamWindow(pool, dialect, size, mode) for _ in range(users)]
        self._threads = ThreadPoolExecutor(users, thread_name_prefix="ui-gym-team")
        self._told = [0] * users

    # -- what oracles see --

    @property
    def devices(self) -> Sequence[BrowserDevice]:  # type: ignore[override]
        return [window.device for window in self.windows]

    def is_stale(self, user: int) -> bool:
        return self._told[user] < self.document.version

    # -- an episode --

    def begin(
        self,
        document: SharedDocument,
        page: str,
        params: Sequence[Mapping[str, Any]],
        seed: int,
        who: Sequence[str],
    ) -> None:
        """Open the document in all windows, each with its `params`.

        Raises:
            DeviceError: the device of an agent of these names failed three times in a row.
        """
        self.document = document
        self._told = [document.version] * len(self.windows)
        try:
            self._each(
                lambda user, window: window.load(
                    page,
                    {**params[user], "document": document.snapshot(user)},
                    seed,
                    who[user],
                )
            )
        except TeamFault as fault:
            raise fault.cause from None

    def play(self, texts: Mapping[int, str]) -> dict[int, ActOutcome]:
        """A round in which these users act; the others' windows show what they are told.

        Raises:
            TeamFault: a user's device failed. It is gone; the others' are as they are.
        """
        outcomes = self._each(lambda user, window: window.act(texts[user]), list(texts))
        answers = self._exchange(texts)
        self._each(lambda user, window: window.settle(answers[user]))
        return outcomes

    def _exchange(self, users: Mapping[int, str]) -> list[list[dict[str, Any]]]:
        """What each window is answered, and told."""
        answers: list[list[dict[str, Any]]] = [[] for _ in self.windows]
        for user in sorted(users):
            for request in self.windows[user].requests():
                knew_all = not self.is_stale(user)
                answer = self.document.edit(user, str(request["kind"]), request)
                if knew_all or "document" in answer:
                    self._told[user] = self.document.version
                answers[user].append(answer)
        if self.document.pushes:
            for user, own in enumerate(answers):
                if self.is_stale(user):
                    own.append({"kind": "news", "document": self.document.snapshot(user)})
                    self._told[user] = self.document.version
        return answers

    def close(self) -> None:
        """Give all devices back. May be repeated."""
        for window in self.windows:
            window.loan.close()
        self._threads.shutdown(wait=True)

    def _each(
        self, do: Callable[[int, TeamWindow], T], users: Sequence[int] | None = None
    ) -> dict[int, T]:
        """Do something in several windows at once; the first fault, by user, is raised."""
        chosen = range(len(self.windows)) if users is None else sorted(users)
        begun: dict[int, Future[T]] = {
            user: self._threads.submit(do, user, self.windows[user]) for user in chosen
        }
        done: dict[int, T] = {}
        faults: list[BaseException] = []
        for user, future in begun.items():
            try:
                done[user] = future.result()
            except DeviceError as error:
                self.windows[user].loan.drop(healthy=False)
                faults.append(TeamFault(user, error))
            except BaseException as error:
                faults.append(error)
        if faults:
            # A bug is told before a fault, which is nobody's.
            raise next((f for f in faults if not isinstance(f, TeamFault)), faults[0])
        return done
