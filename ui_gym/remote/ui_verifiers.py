"""Servers of ui-verifiers, UI-RL's, as devices: ``device="ui-verifiers:http://HOST:PORT"``.

Such a server brings its own screen, so there is a task for it, ``UI/UIVerifiersDataEntry-v0``,
whose verdict is the server's. Both generations are played, our own server
(`ui_gym.remote.ui_verifiers_server`) too: one of many sessions is asked for a new one in each
episode, and one of a single session (a container of UI-RL's) goes on with the one it has. An
address may have a path, as a proxy before such containers gives them (``http://HOST/proxy/ID``).
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote

import numpy as np
from numpy.random import Generator
from PIL import Image as Pillow

from ui_gym.contract.action import Action, Wait
from ui_gym.contract.device import DeviceOptions, DevicePool, Frame, Image
from ui_gym.contract.draws import between
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.task import Task, Verdict
from ui_gym.errors import (
    ActionError,
    DeviceError,
    DeviceLost,
    DeviceSetupError,
    DeviceStartError,
    UserError,
)
from ui_gym.playing import devices
from ui_gym.playing.pool import FreshPool
from ui_gym.remote.ui_verifiers_http import (
    EXAMPLE,
    VerifierAddress,
    VerifierRefusal,
    VerifierServer,
    is_busy,
)
from ui_gym.remote.ui_verifiers_words import acts

SUITE = "ui-verifiers"

BOOTING = 0.5
"""Seconds between two looks at a server that is not up yet."""

CLOSE_SECONDS = 5.0
"""How long the end of a session may take."""

ROWS = 100
"""Of the spreadsheet."""


DATA_ENTRY = TaskSpec(
    name="UIVerifiersDataEntry",
    suite=SUITE,
    entry_point=f"{__name__}:UIVerifiersDataEntry",
    category="input",
    max_steps=40,
    tags=(SUITE,),
    summary="Copy rows of a spreadsheet into a form, on a server of ui-verifiers.",
    collection=SUITE,
)


@dataclass(frozen=True)
class EntryProgress:
    """What was submitted: rows of the spreadsheet, 0 for its first, and how much else."""

    rows: tuple[int, ...]
    wrong: int


class UIVerifiersDevice:
    """A screen behind a server of ui-verifiers: pictures, a mouse, a keyboard, and its progress.

    `is_single` says that the server has one session alone: what it shows at the beginning of an
    episode is what the last one left, and `progress` is what was submitted since.
    """

    def __init__(self, options: DeviceOptions, address: VerifierAddress) -> None:
        self.size = options.size
        self.address = address
        self.is_single = False
        self._server = VerifierServer(address, options.timeout)
        self._lock = threading.Lock()
        self._session = ""
        """The path of the session; empty where there is but one."""
        self._picture: bytes | None = None
        self._started = False
        self._used = False
        self._before = EntryProgress((), 0)

    # -- Device --

    def start(self) -> None:
        """Begin a session, once the server is up and has one to lend.

        Raises:
            DeviceStartError: that was not so within the timeout.
            UserError: its screen has another size.
        """
        if self._started:
            return
        until = time.monotonic() + self._server.timeout
        while True:
            try:
                self._begin()
                break
            except DeviceSetupError:
                raise
            except DeviceError as error:
                self._end()  # a session that was begun and shows nothing
                waits = isinstance(error, DeviceLost) or is_busy(error)
                if not waits or time.monotonic() > until or self._server.closed.wait(BOOTING):
                    raise DeviceStartError(f"{error}. Is a server of ui-verifiers there?") from None
        self._started = True

    def perform(self, action: Action) -> None:
        if isinstance(action, Wait):
            self._picture = None
            if self._server.closed.wait(action.seconds):
                raise DeviceLost(f"{self.address} was closed")
            return
        *first, last = acts(action)
        self._used, self._picture = True, None
        for act in first:
            self._act(act | {"delay": 0})
        self._picture = self._act(last)

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        """The picture that the last action was answered with, after the server's own pause."""
        started = time.perf_counter()
        if self._picture is None:
            self._picture = self._look()
        captured = time.perf_counter()
        image = self._decoded(self._picture)
        if out is not None:
            np.copyto(out, image)
        return Frame(
            image=image if out is None else out,
            encoded=self._picture,
            format="png",
            time_capture=captured - started,
            time_decode=time.perf_counter() - captured,
        )

    def close(self) -> None:
        """End the session, where the server has more; a call in progress fails."""
        self._server.close()
        self._end()

    # -- for the task --

    def renew(self) -> None:
        """A session that nobody has used; or, where there is but one, a count from here on."""
        if self._used and not self.is_single:
            self._end()
            self._begin()
        self._before = EntryProgress((), 0)
        if self.is_single:
            self._picture = None
            self._before = self.progress()

    def progress(self) -> EntryProgress:
        """What was submitted since `renew`."""
        told = _json(self._server.look(f"{self._session}/progress"))
        rows: Any = told.get("submitted_row_indices")
        wrong: Any = told.get("num_incorrect_submissions")
        if not _are_whole(rows) or not _are_whole([wrong]):
            raise DeviceError(
                f"{self.address} told its progress as {str(told)[:200]}, without "
                "submitted_row_indices and num_incorrect_submissions: is it older, or its task "
                "another one?"
            )
        before = self._before
        if len(rows) < len(before.rows) or wrong < before.wrong:
            raise DeviceLost(f"the session of {self.address} was begun anew by somebody else")
        return EntryProgress(tuple(rows[len(before.rows) :]), wrong - before.wrong)

    # -- parts --

    def _begin(self) -> None:
        try:
            told = _json(self._server.ask("POST", "/session", type="simple_data_entry", n=1))
        except VerifierRefusal as refusal:
            if refusal.status not in (404, 405):
                raise
            self.is_single = True
        else:
            ids = told.get("session_ids")
            if not isinstance(ids, list) or len(ids) != 1:
                raise DeviceError(f"{self.address} began a session as {str(told)[:200]}")
            with self._lock:
                self._session = f"/session/{quote(str(ids[0]), safe='')}"
        self._used = False
        self._picture = self._look()
        self._decoded(self._picture)

    def _end(self) -> None:
        with self._lock:
            session, self._session = self._session, ""
        if session:
            # Of its own: this device's is closed, or busy. Whoever is not there has no session.
            with contextlib.suppress(DeviceError):
                VerifierServer(self.address, CLOSE_SECONDS).ask("DELETE", session)

    def _look(self) -> bytes:
        return self._server.look(f"{self._session}/act", action_type="screenshot")

    def _act(self, act: dict[str, object]) -> bytes:
        try:
            return self._server.ask("GET", f"{self._session}/act", **act)
        except VerifierRefusal as refusal:
            if refusal.status in (400, 422):
                raise ActionError("runtime", str(refusal)) from None
            if refusal.status == 404 and self._session:
                raise DeviceLost(f"the session is gone: {refusal}") from None
            raise

    def _decoded(self, data: bytes) -> Image:
        try:
            with Pillow.open(io.BytesIO(data), formats=("PNG",)) as picture:
                if picture.size == self.size:
                    return np.asarray(picture.convert("RGB"))
                width, height = picture.size
        except (OSError, ValueError, SyntaxError) as error:
            raise DeviceError(f"{self.address} sent no PNG file: {error}") from None
        raise UserError(
            f"the screen of {self.address} is {width}x{height} pixels, not "
            f"{self.size[0]}x{self.size[1]}: make the env with viewport=({width}, {height})"
        )


def _json(body: bytes) -> dict[str, Any]:
    try:
        told = json.loads(body)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise DeviceError(f"a server of ui-verifiers answers with JSON, not with {body[:100]!r}")
    return told


def _are_whole(values: object) -> bool:
    return isinstance(values, list) and all(type(value) is int and value >= 0 for value in values)


class UIVerifiersPool(FreshPool[UIVerifiersDevice]):
    """Lends sessions of servers, those of each in turn: of a server with many as many as it has,
    of one with a single session that one.

    ``ui-verifiers:http://one:8000,http://two:8000`` names two servers.
    """

    suites = (SUITE,)

    def __init__(self, options: DeviceOptions) -> None:
        if options.elements:
            raise UserError("a server of ui-verifiers shows pictures alone: observation=screenshot")
        named = options.kind.partition(":")[2]
        self._addresses = [VerifierAddress.parse(text) for text in named.split(",")]
        if len(set(self._addresses)) < len(self._addresses):
            raise UserError(f"a server is named twice in {options.kind!r}")
        self._options = options
        super().__init__(self._next)

    def acquire(self) -> UIVerifiersDevice:
        device = super().acquire()
        if device.is_single and self._slots(device.address) > 1:
            self.release(device, healthy=False)
            raise UserError(
                f"{device.address} has one session, which another slot plays: name a server for "
                "each slot, with commas, or make fewer slots"
            )
        return device

    def _next(self) -> UIVerifiersDevice:
        return UIVerifiersDevice(self._options, min(self._addresses, key=self._slots))

    def _slots(self, address: VerifierAddress) -> int:
        with self._lock:
            return sum(
                isinstance(device, UIVerifiersDevice) and device.address == address
                for device in self._lent
            )


@dataclass(frozen=True)
class VerifierEntryParams:
    """All that varies between episodes."""

    asked: tuple[int, ...]
    """The rows to copy, ascending; 0 is the spreadsheet's first."""
    phrasing: int


class UIVerifiersDataEntry(Task[VerifierEntryParams, UIVerifiersDevice]):
    """Copy rows of a spreadsheet into a form, on a server of ui-verifiers.

    ## Description
    UI-RL's data entry where UI-RL plays it: a spreadsheet of 100 people beside a form, both shown
    by the server that ``device="ui-verifiers:http://HOST:PORT"`` names. The goal names rows by the
    numbers beside them; each is to be submitted by itself. What is in the spreadsheet is not known
    here, so there is no oracle.

    A server of many sessions gives each episode one of its own. One of a single session (a
    container of UI-RL's) shows at the beginning what the last episode left, a half-filled form
    too; submissions count from there.

    ## Action space
    Clicks (left, right, double, triple), moves, scrolls up and down by three notches at a time,
    ASCII text, and keys. There is no drag, no middle button, and no key held while clicking.

    ## Rewards
    The score when the episode ends, by what the server says was submitted: 1 for the asked rows and
    nothing else, as UI-RL counts it (a row that comes twice is no fault). Otherwise, of n asked
    rows, those that were submitted divided by n + 1.

    ## Starting state
    The server's. The seed draws which rows are asked for.

    ## Episode end
    Termination: the asked rows are all submitted; or something else was.

    ## Arguments
    | `rows` | 1 | how many rows to copy |
    | `first_row` | 2 | the number beside the first row: 1 where `ui-gym serve` is the server |
    """

    spec: ClassVar[TaskSpec] = DATA_ENTRY

    goals: ClassVar[Sequence[str]] = (
        "Enter row {} of the spreadsheet into the form and submit it.",
        "Copy what is in row {} of the spreadsheet into the form, one row at a time, and submit.",
        "Submit the form with the data of row {}, each row by itself.",
    )

    def __init__(self, *, rows: int = 1, first_row: int = 2) -> None:
        self.rows = self.check_range("rows", rows, 1, ROWS)
        self.first_row = self.check_range("first_row", first_row, 0, 1000)
        self.max_steps = self.spec.max_steps * rows

    def sample(self, rng: Generator) -> VerifierEntryParams:
        asked = rng.choice(ROWS, size=self.rows, replace=False)
        return VerifierEntryParams(tuple(sorted(map(int, asked))), between(rng, 0, 2))

    def goal(self, params: VerifierEntryParams) -> str:
        numbers = ", ".join(str(row + self.first_row) for row in params.asked)
        goal = self.goals[params.phrasing].format(numbers)
        return goal.replace("row ", "rows ", 1) if len(params.asked) > 1 else goal

    def setup(self, device: UIVerifiersDevice, params: VerifierEntryParams) -> None:
        device.renew()

    def judge(
        self, device: UIVerifiersDevice, params: VerifierEntryParams, history: Sequence[Action]
    ) -> Verdict:
        found = device.progress()
        asked, submitted = set(params.asked), set(found.rows)
        details = {
            "submitted_row_indices": list(found.rows), "num_incorrect_submissions": found.wrong,
        }  # fmt: skip
        if submitted == asked and not found.wrong:
            return Verdict(1.0, done=True, notes="all asked rows are submitted", details=details)
        right = len(asked & submitted)
        others = len(submitted - asked) + found.wrong
        notes = f"{right} of {len(asked)} rows are submitted, and {others} others"
        return Verdict(right / (len(asked) + 1), others > 0, notes, details)

    def blind_rate(self, params: VerifierEntryParams) -> float:
        """Any rows of the spreadsheet, copied without fault."""
        return 1 / math.comb(ROWS, len(params.asked))

    @classmethod
    def pool(cls, options: DeviceOptions) -> DevicePool:
        if options.kind == "auto":
            raise UserError(
                f"{cls.spec.id} is played on a server: say which, as device={EXAMPLE!r}"
            )
        return devices.make_pool(options, SUITE, {})


DATA_ENTRY.document(UIVerifiersDataEntry)
