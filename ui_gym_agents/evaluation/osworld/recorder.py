"""Writing an episode into OSWorld's folder while it is played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ui_gym.contract.action import Action, Answer, Finish
from ui_gym.contract.device import Element, Image
from ui_gym.dialects import Dialect, get_dialect
from ui_gym.dialects.seen import Point, Seen
from ui_gym.errors import ActionError
from ui_gym_agents.agents.agent import Agent, AroundAgent, Decision, Submit, View, submitter
from ui_gym_agents.episode import Episode, Turn
from ui_gym_agents.evaluation.osworld.results import TaskFolder, save_picture, stamp

THREADS = 4
"""How many pictures are written at a time: coding one takes a tenth of a second or two."""


@dataclass
class _Written:
    """How far an episode is written."""

    folder: TaskFolder
    steps: int = 0
    time: str = ""
    """When the agent decided on the step that is under way."""
    pointer: Point | None = None
    begun: bool = False
    pictures: list[Future[None]] = field(default_factory=list)
    """Those that are being written."""

    def decided(self) -> None:
        """The agent has decided on a step, now."""
        self.time = stamp()

    def settle(self) -> None:
        """Wait until all pictures are there. `OSError` if one cannot be written."""
        pictures, self.pictures = self.pictures, []
        for picture in pictures:
            picture.result()


class TurnRecorder(AroundAgent):
    """An agent that does what another does, and writes down what came of each of its turns.

    What is seen in one turn is the outcome of the turn before; that of the last one comes with
    the episode, by `finish`. Episodes are told apart by their seeds.
    """

    def __init__(
        self, agent: Agent, folders: Mapping[int, TaskFolder], dialect: str, size: tuple[int, int]
    ) -> None:
        super().__init__(agent)
        self._dialect = get_dialect(dialect)
        self._size = size
        self._pictures = ThreadPoolExecutor(THREADS, thread_name_prefix="osworld-pictures")
        self._written = {seed: _Written(folder) for seed, folder in folders.items()}

    def act(self, views: Sequence[View]) -> Sequence[Decision]:
        """The agent's decisions."""
        for view in views:
            self._see(view)
        decisions = self._agent.act(views)
        for view in views:
            self._written[view.info["seed"]].decided()
        return decisions

    @property
    def submit(self) -> Submit | None:
        """Asks for one view's decision, if the agent answers one by one."""
        submit = submitter(self._agent)
        return None if submit is None else partial(self._submit, submit)

    def _submit(self, submit: Submit, view: View) -> Future[Decision]:
        self._see(view)
        decided = submit(view)
        written = self._written[view.info["seed"]]
        decided.add_done_callback(lambda _: written.decided())
        return decided

    def finish(self, episode: Episode, screen: Image) -> None:
        """Write the end of an episode: its last step, and its score or why it has none."""
        written = self._written[episode.seed]
        if not written.begun:
            self._begin(written, episode.goal)
        if len(episode.turns) > written.steps:
            last = self._actions(episode.turns[-1], written)
            ending = _ending(last) if episode.terminated else None
            self._step(written, episode.turns[-1], last, screen, ending)
        written.settle()
        if episode.failure is not None:
            written.folder.add_error(episode.failure)
        else:
            written.folder.finish(episode.score)

    def close(self) -> None:
        """Wait for the pictures that are being written, and leave the others."""
        self._pictures.shutdown(wait=True, cancel_futures=True)

    def _see(self, view: View) -> None:
        written = self._written[view.info["seed"]]
        if not view.turns:
            self._begin(written, view.goal)
            return
        encoded, kind = (view.info.get(f"screenshot_{k}") for k in ("encoded", "format"))
        screen = encoded if encoded is not None and kind == "png" else view.screenshot
        actions = self._actions(view.turns[-1], written)
        self._step(written, view.turns[-1], actions, screen)

    def _begin(self, written: _Written, goal: str) -> None:
        """Begin, perhaps once more: what an earlier try has left is gone."""
        written.settle()
        written.folder.empty()
        if goal:
            written.folder.log("INFO", f"Instruction: {goal}")
        written.steps, written.pointer, written.begun = 0, None, True

    def _step(
        self,
        written: _Written,
        turn: Turn,
        actions: Sequence[Action],
        screen: Image | bytes,
        ending: Mapping[str, Any] | None = None,
    ) -> None:
        written.steps += 1
        said = turn.action_text if turn.action_error else code(actions, self._size)
        wrong = {"feedback": turn.feedback, "action_error": turn.action_error}
        info = {**{k: v for k, v in wrong.items() if v}, **(ending or {})}
        line = {
            "action": said,
            "response": turn.action_text,
            "reward": turn.reward,
            "done": ending is not None,
            "info": info,
        }
        written.folder.log("INFO", f"Step {written.steps}: {said}")
        if turn.feedback:
            written.folder.log("WARNING", turn.feedback)
        path = written.folder.add_step(written.steps, written.time or stamp(), line)
        written.pictures.append(self._pictures.submit(save_picture, path, screen))

    def _actions(self, turn: Turn, written: _Written) -> list[Action]:
        """What a turn said; nothing, where that was refused."""
        found = read(self._dialect, turn, self._size, written.pointer)
        for action in found:
            if action.points():
                written.pointer = action.points()[-1]
        return found


def read(
    dialect: Dialect, turn: Turn, size: tuple[int, int], pointer: Point | None
) -> list[Action]:
    """The actions that the text of a turn stood for; none if it was refused."""
    shown = tuple(filter(None, map(Element.read, turn.elements.split("\n"))))
    try:
        return dialect.parse(turn.action_text, size, Seen(shown, pointer))
    except ActionError:
        return []


def code(actions: Sequence[Action], size: tuple[int, int]) -> str:
    """Actions as code of pyautogui, OSWorld's own words; canonical where that has none."""
    words = get_dialect("pyautogui")
    lines = []
    for action in actions:
        if words.can_say(action):
            fenced = words.render([action], size)
            lines += fenced.split("\n")[1:-1]
        else:
            lines.append(str(action))
    return "\n".join(lines)


def _ending(actions: Sequence[Action]) -> dict[str, Any]:
    """What OSWorld's env says in its info of the last step."""
    match actions[-1:]:
        case [Finish(outcome="infeasible")]:
            return {"fail": True}
        case [Finish() | Answer()]:
            return {"done": True}
    return {}
