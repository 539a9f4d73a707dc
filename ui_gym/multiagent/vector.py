"""TeamVectorEnv: teams side by side as a Gymnasium vector env, a slot for each agent."""

from __future__ import annotations

import functools
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.spaces import Space
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array

from ui_gym.contract.arguments import choose
from ui_gym.contract.device import Image
from ui_gym.errors import UserError
from ui_gym.multiagent.board import SharedBoard
from ui_gym.multiagent.team_env import RESET_OPTIONS
from ui_gym.playing.acting import Observation
from ui_gym.playing.slot import SlotResult
from ui_gym.playing.vector import Array, Batch, PlainInfos

Options = dict[str, Any]

Start = tuple[int | None, Options]
"""What a slot is reset with."""


class TeamVectorEnv(PlainInfos):
    """`num_teams` teams of a `SharedBoard`, as slots of one agent each.

    Slots ``t * N`` to ``t * N + N - 1`` are the agents of team `t`, where `team_size` is N. The
    autoreset mode is ``DISABLED``. A team begins an episode when all of its slots were reset, with
    one seed and the same options, and plays a round when all of its slots have an action; its
    slots then answer together. Teams wait for no other team: each has a thread of its own.

    `reset` and `step` are Gymnasium's, for all slots at once; `send`, `send_reset` and `recv` are
    those of `UIVectorEnv`. Infos are those of `SharedBoard`, for each slot.
    """

    def __init__(self, num_teams: int, document: Any = "kanban", **arguments: Any) -> None:
        """Make the teams; browsers are started when a team is first reset.

        Args:
            num_teams: How many teams.
            document: As for `SharedBoard`.
            arguments: As for `SharedBoard`. The teams share `pool`, which is made here if none is
                given.

        Raises:
            UserError: an argument that is unknown or cannot be.
        """
        if isinstance(num_teams, bool) or not isinstance(num_teams, int) or num_teams < 1:
            raise UserError(f"num_teams is a whole number from 1 on, not {num_teams!r}")
        first = SharedBoard(document, **arguments)
        others = [
            SharedBoard(document, **{**arguments, "pool": first.pool}) for _ in range(num_teams - 1)
        ]
        self.teams = [first, *others]
        self.team_size = len(first.possible_agents)
        self.num_envs = num_teams * self.team_size
        self.render_mode = first.render_mode
        self.autoreset_mode = AutoresetMode.DISABLED
        self.metadata = {
            "render_modes": first.metadata["render_modes"],
            "autoreset_mode": AutoresetMode.DISABLED,
            "reset_options": ("task", *RESET_OPTIONS),
        }
        self.single_observation_space = first.observation_space(first.possible_agents[0])
        self.single_action_space = first.action_space(first.possible_agents[0])
        self._calls = _TeamCalls(self.teams)
        self._finalizer = weakref.finalize(self, self._calls.close)

    @functools.cached_property
    def observation_space(self) -> Space[Any]:  # type: ignore[override]
        return batch_space(self.single_observation_space, self.num_envs)

    @functools.cached_property
    def action_space(self) -> Space[Any]:  # type: ignore[override]
        return batch_space(self.single_action_space, self.num_envs)

    # -- all slots at once, as Gymnasium has it --

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Options | None = None,
    ) -> tuple[Batch, dict[str, Any]]:
        """Begin new episodes, of all teams or of those of ``options["reset_mask"]``.

        Args:
            seed: One a slot, the same within a team; or an int for the first team, the others
                counting up from it.
            options: `reset_mask` (bool, shape (N,), whole teams), and those of `SharedBoard.reset`.

        Raises:
            DeviceError: an agent's device could not be healed in several tries.
            TaskError, UserError: as `SharedBoard.reset`.
        """
        self._check_quiet("reset")
        given = dict(options or {})
        mask = np.asarray(given.pop("reset_mask", np.ones(self.num_envs, np.bool_)))
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(
                f"options['reset_mask'] is a numpy array of bool of shape ({self.num_envs},) with "
                f"at least one True, not {mask!r}"
            )
        slots = [int(slot) for slot in np.flatnonzero(mask)]
        seeds = self._seeds(seed)
        self._check_whole(slots)
        self.send_reset(slots, [seeds[slot] for slot in slots], [given] * len(slots))
        infos: dict[str, Any] = {}
        for result in self._gather(len(slots)):
            infos = self._add_info(infos, result.info, result.slot)
        return self._batch(), infos

    def step(self, actions: Sequence[str]) -> tuple[Batch, Array, Array, Array, dict[str, Any]]:
        """A round of every team. Rewards are float64, the ends bool, all of shape (N,).

        Raises:
            ResetNeeded: a team's episode is over.
        """
        self._check_quiet("step")
        self.send(actions, range(self.num_envs))
        results = self._gather(self.num_envs)
        infos: dict[str, Any] = {}
        for result in results:
            infos = self._add_info(infos, result.info, result.slot)
        return (
            self._batch(),
            np.array([result.reward for result in results], np.float64),
            np.array([result.terminated for result in results], np.bool_),
            np.array([result.truncated for result in results], np.bool_),
            infos,
        )

    def render(self) -> tuple[Image | None, ...]:  # type: ignore[override]
        """The last pictures of every team, side by side, in ``rgb_array`` mode."""
        return tuple(team.render() for team in self.teams)

    def close_extras(self, **kwargs: Any) -> None:
        """Close all devices and end all threads."""
        self._finalizer()

    # -- teams that do not wait for each other --

    def send(self, actions: Sequence[str], slots: Sequence[int]) -> None:
        """Give actions to `slots`; a team's round begins once all of its slots have one."""
        slots = self._slots(slots, self._calls.begun | self._calls.waiting)
        if isinstance(actions, str) or len(actions) != len(slots):
            raise ValueError(f"one action for each of {len(slots)} slots is needed")
        over = [slot for slot in slots if not self._calls.plays(slot)]
        if over:
            raise ResetNeeded(
                f"the episodes of slots {over} are over (or none was begun): reset them first"
            )
        for slot, text in zip(slots, actions, strict=True):
            self._calls.act(slot, text)

    def send_reset(
        self,
        slots: Sequence[int],
        seeds: Sequence[int | None],
        options: Sequence[Options | None] | None = None,
    ) -> None:
        """Reset `slots`; a team's episode begins once all of its slots were reset.

        A slot's action that waits for the others of its team is forgotten.

        Raises:
            UserError: the slots of a team are given different seeds or options.
        """
        slots = self._slots(slots, self._calls.begun)
        each = [None] * len(slots) if options is None else list(options)
        if not len(slots) == len(seeds) == len(each):
            raise ValueError(
                f"send_reset takes one seed and one options dict for each slot, but got "
                f"{len(slots)} slots, {len(seeds)} seeds and {len(each)} options"
            )
        starts: dict[int, Start] = {}
        for slot, seed, asked in zip(slots, seeds, each, strict=True):
            for name in asked or {}:
                choose(name, self.metadata["reset_options"], "reset option")
            starts[slot] = (None if seed is None else int(seed), dict(asked or {}))
        self._calls.check(starts)
        for slot, start in starts.items():
            self._calls.start(slot, start)

    def recv(
        self,
        at_least: int = 1,
        timeout: float | None = None,
        until: Callable[[], bool] | None = None,
    ) -> list[SlotResult]:
        """Results of slots, in the order in which they came; those of a team come together.

        Args:
            at_least: How many to wait for; what else has come by then is returned as well.
            timeout: Seconds after which to return with fewer results; the others come later.
            until: Once this holds, return with what is there. It is asked before each wait, and
                again after each `wake`.

        Raises:
            RuntimeError: fewer than `at_least` slots were sent something.
            DeviceError, TaskError, UserError: of one team; the results of the others are kept.
        """
        self._check_open()
        begun, waiting = len(self._calls.begun), self._calls.waiting
        most = begun if timeout is None and until is None else begun + len(waiting)
        if not 1 <= at_least <= most:
            more = f", and slots {sorted(waiting)} wait for their team" if waiting else ""
            raise RuntimeError(
                f"recv(at_least={at_least}) while {begun} slots have an answer to come{more}: "
                "send() or send_reset() before recv()"
            )
        return self._calls.recv(at_least, timeout, until)

    def wake(self) -> None:
        """Let a `recv` that waits ask its `until` again. From any thread."""
        self._calls.wake()

    # -- inside --

    def _gather(self, count: int) -> list[SlotResult]:
        """All `count` answers, by slot. An error is raised when the other answers are there."""
        results: list[SlotResult] = []
        error: Exception | None = None
        answered = 0
        while answered < count:
            try:
                found = self._calls.recv(1, None, None)
                results += found
                answered += len(found)
            except Exception as raised:
                error = error or raised
                answered += 1
        if error is not None:
            raise error
        return sorted(results, key=lambda result: result.slot)

    def _batch(self) -> Batch:
        """The last observation of every slot, in fresh arrays; blank where there was none yet."""
        space = self.single_observation_space
        out = create_empty_array(space, self.num_envs, np.empty)
        items = [self._calls.last.get(slot) or _blank(space) for slot in range(self.num_envs)]
        return concatenate(space, items, out)  # type: ignore[arg-type, return-value]

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            return [int(seed) + slot // self.team_size for slot in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(
                f"seed is an int or a list of {self.num_envs}, one a slot; {len(seed)} were given"
            )
        return [None if one is None else int(one) for one in seed]

    def _check_whole(self, slots: Sequence[int]) -> None:
        for team in range(len(self.teams)):
            of_team = [slot for slot in slots if slot // self.team_size == team]
            if len(of_team) not in (0, self.team_size):
                raise ValueError(
                    f"a reset mask holds whole teams, and of team {team} it has slots {of_team} "
                    f"alone; a team is {self.team_size} slots in a row"
                )

    def _slots(self, slots: Sequence[int], taken: set[int]) -> list[int]:
        """Different slots, none of which are `taken`."""
        self._check_open()
        indices = [int(slot) for slot in slots]
        wrong = [slot for slot in indices if not 0 <= slot < self.num_envs]
        if wrong or len(set(indices)) != len(indices):
            raise ValueError(
                f"slots are different numbers from 0 to {self.num_envs - 1}, not {indices}"
            )
        busy = sorted(set(indices) & taken)
        if busy:
            raise RuntimeError(
                f"slots {busy} have answers to come: a slot takes one call at a time, so recv() "
                "its answer first"
            )
        return indices

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("this vector env is closed; make a new one")

    def _check_quiet(self, method: str) -> None:
        self._check_open()
        pending = sorted(self._calls.begun | self._calls.waiting)
        if pending:
            raise RuntimeError(
                f"{method}() while slots {pending} have answers to come: recv() them before "
                f"{method}()"
            )


class _TeamCalls:
    """What each team was asked so far, and what came of it. A thread for each team."""

    def __init__(self, teams: Sequence[SharedBoard]) -> None:
        self._teams = teams
        self._size = len(teams[0].possible_agents)
        self._threads = ThreadPoolExecutor(len(teams), thread_name_prefix="ui-gym-teams")
        self._starts: list[dict[int, Start]] = [{} for _ in teams]
        self._texts: list[dict[int, str]] = [{} for _ in teams]
        self._news = threading.Condition()
        self._came: deque[tuple[Sequence[int], list[SlotResult] | Exception]] = deque()
        self.begun: set[int] = set()
        """Slots whose team has begun what it was asked, and that have not answered yet."""
        self.last: dict[int, Observation] = {}
        """The last observation of each slot."""

    @property
    def waiting(self) -> set[int]:
        """Slots that were asked something, and wait for the others of their team."""
        return {slot for asked in self._starts for slot in asked} | {
            slot for asked in self._texts for slot in asked
        }

    def plays(self, slot: int) -> bool:
        """Whether the slot is in an episode that goes on."""
        return bool(self._teams[slot // self._size].agents)

    def check(self, starts: Mapping[int, Start]) -> None:
        """`UserError` where these would begin a team in different ways."""
        for team, begun in enumerate(self._starts):
            own = {slot: s for slot, s in starts.items() if slot // self._size == team}
            ways = list({**begun, **own}.values())
            if own and any(way != ways[0] for way in ways):
                raise UserError(
                    f"slots {team * self._size} to {(team + 1) * self._size - 1} are one team, "
                    f"which begins with one seed and the same options, not with {ways}: ask for a "
                    f"team's episodes in a row, or make the size of groups a multiple of "
                    f"{self._size}"
                )

    def start(self, slot: int, start: Start) -> None:
        """Reset a slot. An action that waits for the others of the team is forgotten."""
        team = slot // self._size
        self._texts[team].pop(slot, None)
        own = self._starts[team]
        own[slot] = start
        if len(own) == self._size:
            own.clear()
            self._begin(team, functools.partial(self._reset, *start))

    def act(self, slot: int, text: str) -> None:
        """Let a slot act."""
        team = slot // self._size
        own = self._texts[team]
        own[slot] = text
        if len(own) == self._size:
            texts = [own[slot] for slot in sorted(own)]
            own.clear()
            self._begin(team, functools.partial(self._step, texts))

    def recv(
        self, at_least: int, timeout: float | None, until: Callable[[], bool] | None
    ) -> list[SlotResult]:
        deadline = None if timeout is None else time.monotonic() + timeout
        found: list[SlotResult] = []
        with self._news:
            while True:
                while self._came and not (found and isinstance(self._came[0][1], Exception)):
                    slots, came = self._came.popleft()
                    self.begun -= set(slots)
                    if isinstance(came, Exception):
                        raise came
                    found += came
                left = None if deadline is None else deadline - time.monotonic()
                enough = len(found) >= at_least or (self._came and found)
                if enough or (left is not None and left <= 0) or (until is not None and until()):
                    break
                self._news.wait(left)
        self.last |= {result.slot: result.observation for result in found}
        return found

    def wake(self) -> None:
        with self._news:
            self._news.notify_all()

    def close(self) -> None:
        # The first owns the pool, where that is ours: it goes last.
        for team in reversed(self._teams):
            team.close()
        self._threads.shutdown(wait=True)

    def _begin(self, team: int, do: Callable[[SharedBoard, int], list[SlotResult]]) -> None:
        slots = range(team * self._size, (team + 1) * self._size)
        self.begun |= set(slots)
        self._threads.submit(self._play, self._teams[team], slots, do)

    # -- on a team's thread --

    def _play(
        self,
        board: SharedBoard,
        slots: Sequence[int],
        do: Callable[[SharedBoard, int], list[SlotResult]],
    ) -> None:
        answers: list[tuple[Sequence[int], list[SlotResult] | Exception]]
        try:
            answers = [(slots, do(board, slots[0]))]
        except Exception as error:
            answers = [([slot], error) for slot in slots]  # it is the answer of each
        with self._news:
            self._came += answers
            self._news.notify_all()

    def _reset(
        self, seed: int | None, options: Options, board: SharedBoard, first: int
    ) -> list[SlotResult]:
        seen, infos = board.reset(seed, options)
        return [
            SlotResult(first + i, seen[agent], 0.0, False, False, infos[agent], is_reset=True)
            for i, agent in enumerate(board.possible_agents)
        ]

    def _step(self, texts: Sequence[str], board: SharedBoard, first: int) -> list[SlotResult]:
        agents = board.possible_agents
        played = board.step(dict(zip(agents, texts, strict=True)))
        seen, rewards, terminated, truncated, infos = played
        return [
            SlotResult(
                first + i, seen[agent], rewards[agent], terminated[agent], truncated[agent],
                infos[agent],
            )
            for i, agent in enumerate(agents)
        ]  # fmt: skip


def _blank(space: Space[Any]) -> Mapping[str, Any]:
    blank = create_empty_array(space, 1, np.zeros)
    return {key: value[0] for key, value in blank.items()}  # type: ignore[union-attr]
