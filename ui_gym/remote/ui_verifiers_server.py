"""The protocol of ui-verifiers, UI-RL's environment servers: envs of ours for its clients.

A screenshot is the PNG body of an answer, an action the query of a GET. Both generations of the
protocol are spoken at the same time:

- several sessions: ``POST /session?type=TYPE&n=N``, ``GET /session/ID/screenshot``, ``.../act``,
  ``.../progress``, ``GET /session/ID``, ``DELETE /session/ID``, ``GET /status``;
- one session: ``GET /``, ``GET /act``, ``GET /progress``. It is lent when it is first used.

The type ``simple_data_entry`` is `SimpleDataEntry`, the page of ``UI/DataEntry-v0`` with 100 rows
on 1280x800 pixels, as UI-RL has it; any other is a task of ours. The argument ``seed`` is the first
session's (each further one has the next), all others are the env's, in JSON where they are no text:
``POST /session?type=DataEntry&compact=true&seed=7``. What a task asks for is the ``goal`` of
``GET /session/ID``, and beside UI-RL's actions there are ``answer`` and ``finish``, which end it.

``delay`` is a pause of the task's clock before the screenshot, and 0 by default: screens of ours
are at rest when they are looked at.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ui_gym.contract import registry
from ui_gym.contract.action import Action, shorten
from ui_gym.contract.arguments import make_task
from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.task import Task, Verdict
from ui_gym.errors import ActionError, DeviceError, UIGymError, UserError
from ui_gym.playing.slot import Call, Reset, SlotResult, Step
from ui_gym.remote.guard import Mistake
from ui_gym.remote.lending import Lender, LentSlot
from ui_gym.remote.png import png_of
from ui_gym.remote.ui_verifiers_words import Query, read_actions

SESSION_TYPE = "simple_data_entry"
"""What a session is where its client does not say."""

ROWS = 100
"""Of UI-RL's spreadsheet."""

ONLY_SEED = 0
"""Of the one session: UI-RL's spreadsheet is always the same, and so is this one."""

IDLE_SECONDS = 600.0
"""How long a session may not be asked for anything before it ends: its client may be dead."""

OWN = ("dialect", "observation", "render_mode", "pool")
"""Arguments of an env that this protocol has already chosen."""

FEEDBACK = "X-UI-Gym-Feedback"
"""The header that says what was wrong with an action where the answer is a screenshot."""

SIMPLE_DATA_ENTRY = TaskSpec(
    name="SimpleDataEntry",
    suite="browser",
    entry_point=f"{__name__}:SimpleDataEntry",
    category="input",
    max_steps=10_000,
    tags=("ui-verifiers",),
    summary="UI-RL's data entry as its servers have it: any rows may be submitted.",
    collection="ui-verifiers",
)


class SimpleDataEntry(Task[Any, Any]):
    """UI-RL's data entry as its servers have it: any rows may be submitted.

    ## Description
    The page of ``UI/DataEntry-v0`` with a table of 100 rows. Which of them are to be copied is said
    by the client, who also judges; the task tells what was submitted. It is there for
    `ui_gym.remote.ui_verifiers_server`; to learn data entry here, play ``UI/DataEntry-v0``.

    ## Rewards
    The share of the table's rows that were submitted; less, and never 1, where anything else was.
    ``info["details"]`` has `submitted_row_indices` (0 is the first row, which the page calls 1; in
    the order of the submissions, and again where a row came again) and `num_incorrect_submissions`
    (of what is no row of the table).

    ## Starting state
    As in ``UI/DataEntry-v0``.

    ## Episode end
    Termination: the agent says so. A wrong submission ends nothing.
    """

    spec: ClassVar[TaskSpec] = SIMPLE_DATA_ENTRY

    def __init__(self) -> None:
        self._entry: Any = make_task("UI/DataEntry-v0", {"rows": ROWS, "length": ROWS})
        self.viewport = self._entry.viewport

    def sample(self, rng: Any) -> Any:
        return self._entry.sample(rng)

    def goal(self, params: Any) -> str:
        return "Copy rows of the table into the form, and submit each."

    def setup(self, device: Any, params: Any) -> None:
        self._entry.setup(device, params)

    def judge(self, device: Any, params: Any, history: Sequence[Action]) -> Verdict:
        device.state()  # brings the log of events up to date
        rows: list[int] = []
        wrong = 0
        for event in device.events:
            if event.type != "submit":
                continue
            entry = tuple(str(event.data.get(name, "")).strip() for name in self._entry.columns)
            if entry in params.people:
                rows.append(params.people.index(entry))
            else:
                wrong += 1
        return Verdict(
            len(set(rows)) / (ROWS + wrong),
            notes=f"{len(rows)} rows of the table were submitted, and {wrong} others",
            details={"submitted_row_indices": rows, "num_incorrect_submissions": wrong},
        )

    @classmethod
    def pool(cls, options: DeviceOptions) -> DevicePool:
        pool: DevicePool = registry.spec("UI/DataEntry-v0").load().pool(options)
        return pool


SIMPLE_DATA_ENTRY.document(SimpleDataEntry)
registry.declare(SIMPLE_DATA_ENTRY)


@dataclass(eq=False)
class _Session:
    """A slot that is lent to a client, and what is known of it beside."""

    number: int
    type: str
    slot: LentSlot
    goal: str
    pointer: tuple[int, int]
    """Where the last action with a point was to end."""
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by the request that is done: a session does one after the other."""
    begun: datetime = field(default_factory=lambda: datetime.now(UTC))
    asked: float = 0.0
    """When a request came last, by the event loop's clock."""
    actions: int = 0
    expiry: asyncio.TimerHandle | None = None

    @property
    def last(self) -> SlotResult:
        """What was answered last; `Mistake` where the slot failed, or was closed."""
        last = self.slot.last
        if last is None:
            raise Mistake(410, "this session is over")
        return last

    @property
    def told(self) -> dict[str, Any]:
        """What anybody may know of it who may ask this server."""
        return {
            "id": self.number, "type": self.type, "start_time": self.begun.isoformat(),
            "action_count": self.actions, "stop_time": None,
        }  # fmt: skip

    @property
    def progress(self) -> dict[str, Any]:
        last = self.last
        info = last.info
        if self.type == SESSION_TYPE:
            found = {"submitted_row_indices": [], "num_incorrect_submissions": 0} | info["details"]
            return {**found, "num_correct_submissions": len(found["submitted_row_indices"])}
        names = ("task", "seed", "score", "success", "step", "max_steps", "notes")
        return {name: info[name] for name in names} | {"done": last.ended}


class _Sessions:
    """The sessions of ui-verifiers' clients."""

    def __init__(self, lender: Lender) -> None:
        self._lender = lender
        self._known: dict[str, _Session] = {}
        self._only: _Session | None = None
        """That of the generation with one session."""
        self._finding_only = asyncio.Lock()
        self._begun = 0
        # As many as there are slots: none waits for another's answer.
        self._threads = ThreadPoolExecutor(lender.limits.slots, "ui-gym-ui-verifiers")
        self._endings: set[asyncio.Task[None]] = set()

    # -- finding and beginning --

    async def open(self, asked: Query) -> list[_Session]:
        """As many sessions as are asked for; none where one of them cannot be had.

        Raises:
            Mistake: an argument is wrong.
            UserError: there is no such task, or it takes no such argument.
            DeviceError: no slot is free, or its device cannot be had.
        """
        arguments = dict(asked)
        count = _whole(arguments.pop("n", "1"), "n", 1, self._lender.limits.slots)
        kind = arguments.pop("type", SESSION_TYPE)
        said = arguments.pop("seed", None)
        seed = None if said is None else _whole(said, "seed", 0, 2**31 - 1)
        if count > self._lender.free:
            raise DeviceError(f"{self._lender.free} slots of this server are free, not {count}")
        task = SIMPLE_DATA_ENTRY.id if kind == SESSION_TYPE else kind
        own = _env_arguments(arguments)
        seeds = [None if seed is None else seed + index for index in range(count)]
        begun = await asyncio.gather(
            *(self._in_thread(self._begin, task, own, seed) for seed in seeds),
            return_exceptions=True,
        )
        slots = [slot for slot in begun if isinstance(slot, LentSlot)]
        for error in begun:
            if isinstance(error, BaseException):
                await asyncio.gather(*(asyncio.to_thread(slot.close) for slot in slots))
                raise error
        return [self._enter(kind, slot) for slot in slots]

    def find(self, id: str) -> _Session:
        session = self._known.get(id)
        if session is None:
            raise Mistake(404, "there is no such session: it was ended, or not used for too long")
        session.asked = asyncio.get_running_loop().time()
        return session

    async def only(self) -> _Session:
        """The one session of the generation that has no more."""
        async with self._finding_only:
            if self._only is None or self._only.id not in self._known:
                (self._only,) = await self.open({"seed": str(ONLY_SEED)})
            return self.find(self._only.id)

    @property
    def told(self) -> dict[str, Any]:
        """All sessions by their numbers: an id is for the client alone that has it."""
        return {str(session.number): session.told for session in self._known.values()}

    def _begin(self, task: str, arguments: dict[str, Any], seed: int | None) -> LentSlot:
        try:
            slot = self._lender.lend(task, arguments)
        except (TypeError, ValueError) as error:
            raise UserError(f"these arguments cannot be: {error}") from None
        try:
            slot.play(Reset(seed))
        except BaseException:
            slot.close()
            raise
        return slot

    def _enter(self, kind: str, slot: LentSlot) -> _Session:
        assert slot.last is not None
        self._begun += 1
        self._lender.counts["sessions"] += 1
        width, height = slot.env.size
        goal = str(slot.last.observation["goal"])
        session = _Session(self._begun, kind, slot, goal, (width // 2, height // 2))
        session.asked = asyncio.get_running_loop().time()
        self._known[session.id] = session
        self._watch(session)
        return session

    # -- playing --

    async def act(self, session: _Session, asked: Query) -> Response:
        """Do an action, and show the screen. ``screenshot`` shows what came of the last one.

        Raises:
            ActionError: it cannot be read, or is not of this screen; nothing was done.
            Mistake: the episode, or the session, is over.
        """
        async with session.lock:
            feedback = ""
            if asked.get("action_type") != "screenshot":
                actions = read_actions(asked, session.pointer)
                env = session.slot.env
                result = await self._play(session, Step(env.dialect.render(actions, env.size)))
                session.actions += 1
                for action in actions:
                    session.pointer = (*action.points(), session.pointer)[0]
                feedback = result.observation["feedback"]
            last = session.last
            data = await self._in_thread(png_of, last)
        session.asked = asyncio.get_running_loop().time()
        self._lender.counts["bytes_sent"] += len(data)
        headers = {FEEDBACK: _header(feedback)} if feedback else None
        return Response(data, media_type="image/png", headers=headers)

    async def progress(self, session: _Session) -> Response:
        async with session.lock:
            return JSONResponse(session.progress)

    async def _play(self, session: _Session, call: Call) -> SlotResult:
        last = session.slot.last
        if last is not None and last.ended:
            raise Mistake(409, "the episode is over; ask for its progress, and begin another one")
        try:
            result: SlotResult = await self._in_thread(session.slot.play, call)
            failure = result.info["failure"]
        except DeviceError as error:  # the session was ended meanwhile
            failure = str(error)
        except BaseException:
            if session.slot.last is None:  # nothing can be shown any more
                await self.end(session)
            raise
        if failure:
            await self.end(session)
            raise Mistake(410, f"this session is over, and the task is not to blame: {failure}")
        return result

    async def _in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, function, *arguments)

    # -- ending --

    async def end(self, session: _Session) -> None:
        """Give the slot back, also while it acts."""
        self._known.pop(session.id, None)
        if session.expiry is not None:
            session.expiry.cancel()
        await asyncio.to_thread(session.slot.close)

    def _watch(self, session: _Session) -> None:
        """End a session that was not used for too long; else look again when it may be."""
        if session.id not in self._known:
            return
        loop = asyncio.get_running_loop()
        if session.lock.locked():
            session.asked = loop.time()
        left = session.asked + IDLE_SECONDS - loop.time()
        if left > 0:
            session.expiry = loop.call_later(left, self._watch, session)
            return
        ending = loop.create_task(self.end(session))
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)


def routes(lender: Lender) -> list[Route]:
    """The pages of both generations."""
    sessions = _Sessions(lender)
    if "UI/DataEntry-v0" in lender.tasks:
        lender.tasks |= {SIMPLE_DATA_ENTRY.id}

    async def root(request: Request) -> Response:
        return PlainTextResponse(
            f"ui-gym, as a server of ui-verifiers\nSession type: {SESSION_TYPE}\n"
        )

    async def open_some(request: Request) -> Response:
        opened = await sessions.open(request.query_params)
        return JSONResponse({"session_ids": [session.id for session in opened]})

    async def status(request: Request) -> Response:
        return JSONResponse(sessions.told)

    async def session(request: Request) -> Response:
        found = sessions.find(request.path_params["id"])
        if request.method == "DELETE":
            await sessions.end(found)
            return JSONResponse({"deleted": found.id})
        return JSONResponse(found.told | {"id": found.id, "goal": found.goal})

    async def screenshot(request: Request) -> Response:
        found = sessions.find(request.path_params["id"])
        return await sessions.act(found, {"action_type": "screenshot"})

    async def act(request: Request) -> Response:
        return await sessions.act(await which(request), request.query_params)

    async def progress(request: Request) -> Response:
        return await sessions.progress(await which(request))

    async def which(request: Request) -> _Session:
        id = request.path_params.get("id")
        return await sessions.only() if id is None else sessions.find(id)

    return [
        Route("/", _told(root)),
        Route("/act", _told(act)),
        Route("/progress", _told(progress)),
        Route("/status", _told(status)),
        Route("/session", _told(open_some), methods=["POST"]),
        Route("/session/{id}", _told(session), methods=["GET", "DELETE"]),
        Route("/session/{id}/screenshot", _told(screenshot)),
        Route("/session/{id}/act", _told(act)),
        Route("/session/{id}/progress", _told(progress)),
    ]


def _told(
    handler: Callable[[Request], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    """A page that says in a sentence what went wrong."""

    async def page(request: Request) -> Response:
        try:
            return await handler(request)
        except Mistake as mistake:
            return PlainTextResponse(f"{mistake}\n", mistake.status)
        except UIGymError as error:
            wrong = isinstance(error, UserError | ActionError)
            status = 400 if wrong else 503 if isinstance(error, DeviceError) else 500
            return PlainTextResponse(f"{error}\n", status)

    return page


def _whole(said: str, name: str, low: int, high: int) -> int:
    if not (said.isascii() and said.isdigit() and len(said) < 20 and low <= int(said) <= high):
        raise Mistake(400, f"{name} is a whole number from {low} to {high}, not {shorten(said)}")
    return int(said)


def _env_arguments(asked: Query) -> dict[str, Any]:
    """Arguments of an env: JSON where they can be read as such, else text."""
    for name in asked:
        if name in OWN:
            raise Mistake(400, f"the argument {name} is not for clients of this protocol")
    return {name: _value(said) for name, said in asked.items()}


def _value(said: str) -> Any:
    try:
        return json.loads(said)
    except (ValueError, RecursionError):
        return said


def _header(text: str) -> str:
    """A text as a header can carry it."""
    return "".join(char if " " <= char <= "~" else "?" for char in " ".join(text.split()))[:500]
