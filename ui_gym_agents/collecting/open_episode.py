"""An episode in progress: what was asked for, what was seen and done so far, and its record."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ui_gym.contract.device import Image
from ui_gym.contract.task import GroundTruth
from ui_gym.playing.vector import SlotResult
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.episode import NOT_SAID, Episode, Purpose, Turn
from ui_gym_agents.seeds import derive_noise
from ui_gym_agents.store import frozen

HIDDEN = frozenset({"ground_truth", "oracle", "score", "success", "notes", "details"})
"""Keys of infos that no agent is shown but one with `wants_ground_truth`."""


@dataclass(frozen=True)
class EpisodeRequest:
    """An episode to play. Requests of one `group` are played from the same start.

    `task` and `split` are passed to envs that take these reset options; leave them empty for
    others. `member` tells apart the requests of a group, whose noise must differ. `purpose` is what
    the episode is for: it goes into the episode, and bears on nothing else.
    """

    seed: int
    task: str = ""
    group: str = ""
    member: int = 0
    split: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    purpose: Purpose = NOT_SAID

    @property
    def id(self) -> str:
        return f"{self.group or self.seed}.{self.member}"

    def reset_options(self) -> dict[str, Any]:
        """What goes to the env's `reset`."""
        given = {"task": self.task or None, "split": self.split}
        return {**{k: v for k, v in given.items() if v is not None}, **self.options}


@dataclass
class OpenEpisode:
    """An episode in progress. Its clock starts when it is made."""

    request: EpisodeRequest
    attempt: int
    started: float = field(default_factory=time.monotonic)
    started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat())
    """ISO 8601 in UTC."""
    goal: str = ""
    screenshots: list[Image] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    last: SlotResult | None = None
    ground_truth: GroundTruth | None = None
    """None where the env tells none."""
    failure: str | None = None
    """What failed the agent in this episode."""

    def note(self, result: SlotResult) -> None:
        """Take in what came back from the env; what came already changes nothing."""
        if result is self.last:
            return
        if result.is_reset:
            self.goal = str(result.observation.get("goal", ""))
            self.ground_truth = result.info.get("ground_truth")
        else:
            turn = self.turns[-1]
            turn.feedback = str(result.observation.get("feedback", ""))
            turn.reward = result.reward
            turn.action_error = result.info.get("action_error")
            times = ("action", "capture", "decode", "judge")
            turn.times |= {k: float(result.info.get(f"time_{k}", 0.0)) for k in times}
        if "screenshot" in result.observation:
            self.screenshots.append(frozen(result.observation["screenshot"]))
        self.last = result

    def is_late(self, limit: float | None) -> bool:
        """Whether it has taken more than `limit` seconds."""
        return limit is not None and time.monotonic() - self.started > limit

    def view(self, slot: int, run_seed: int, whole: bool) -> View:
        """What the agent is told; only a demonstrator is told the `whole`."""
        assert self.last is not None
        request, info = self.request, self.last.info
        return View(
            slot=slot,
            goal=self.goal,
            screenshots=self.screenshots,
            elements=str(self.last.observation.get("elements", "")),
            feedback=str(self.last.observation.get("feedback", "")),
            turns=self.turns,
            info=info if whole else {k: v for k, v in info.items() if k not in HIDDEN},
            noise=derive_noise(
                run_seed, request.task, request.seed, request.group, request.member,
                len(self.turns),
            ),
            ground_truth=self.ground_truth if whole else None,
        )  # fmt: skip

    def take(self, decision: Decision, seconds: float, screenshot_id: str) -> None:
        """Take in what the agent decided on the last screenshot, and how long that took."""
        assert self.last is not None
        self.failure = decision.failure
        self.turns.append(
            Turn(
                screenshot_id=screenshot_id,
                action_text=decision.action_text,
                elements=str(self.last.observation.get("elements", "")),
                tokens=decision.tokens,
                caption=decision.caption,
                times={"act": seconds},
                usage=decision.usage,
            )
        )

    def finished(self, result: SlotResult, final_screenshot_id: str, purpose: Purpose) -> Episode:
        """The record of the episode, which ended with `result`."""
        info, request, known = result.info, self.request, self.ground_truth or GroundTruth({})
        score = float(info.get("score", sum(turn.reward for turn in self.turns)))
        first = self.turns[0].tokens if self.turns else None
        return Episode(
            id=request.id,
            task=str(info.get("task", request.task)),
            seed=request.seed,
            goal=self.goal,
            turns=self.turns,
            group=request.group,
            split=str(info.get("split", request.split or "")),
            params=known.params,
            score=score,
            success=bool(info.get("success", score >= 1.0)),
            terminated=result.terminated,
            truncated=result.truncated,
            failure=self.failure or info.get("failure"),
            notes=str(info.get("notes", "")),
            final_screenshot_id=final_screenshot_id,
            seconds=time.monotonic() - self.started,
            blind_rate=known.blind_rate,
            version=first.version if first else 0,
            max_turns=info.get("max_steps"),
            purpose=purpose,
            started_at=self.started_at,
        )
