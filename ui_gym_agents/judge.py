"""A judge: a model behind an OpenAI-compatible server that says what an episode is worth.

It is shown the goal, what was done, and the last screenshots, and ends its answer with a score from
0 to 1. A score is kept by what the episode was: it is asked for once, and not again by a resumed
run. Where the server fails, or an answer names no score, the episode has no reward, which is not
a reward of zero.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from ui_gym.contract.device import Image
from ui_gym_agents import files
from ui_gym_agents.agents.openai_chat import OPENAI
from ui_gym_agents.engines.http import JsonClient
from ui_gym_agents.engines.openai import environment_key
from ui_gym_agents.engines.pictures import PictureCache, wire_messages
from ui_gym_agents.engines.protocol import EngineError, RequestLimits
from ui_gym_agents.episode import Episode
from ui_gym_agents.rewards import Parameters, PictureSource, Reward, RewardFailure, get_reward

INSTRUCTIONS = (
    "You judge how well an agent did a task on a computer or phone. You are told the goal and what "
    "the agent did, and shown the last screenshots. Say in a sentence or two what of the goal was "
    "done, and what was not or was done wrongly."
)
ENDING = (
    "End with a line of its own, 'Score: N', where N is a number from 0 (nothing of the goal was "
    "done) to 1 (all of it, and nothing else)."
)
SCORE = re.compile(r"score[^\d\n-]*(-?\d*\.?\d+)", re.IGNORECASE)


class Judge:
    """Asks a served model about episodes, several at a time. Safe to use from several threads.

    Args:
        name: ``openai:MODEL@URL``; without URL it is OpenAI's own server.
        instructions: What the model is told to do; how it gives its score is added.
        pictures: How many of an episode's last screenshots it is shown.
        max_new_tokens: Most tokens of its answer.
        connections: Questions under way at a time.
        limits: How long it is waited for.
        kept: A file in which scores are kept, a JSON line each; None: in memory.

    Raises:
        UserError: the name is none of a served model.
    """

    def __init__(
        self,
        name: str,
        *,
        instructions: str | None = None,
        pictures: int = 4,
        max_new_tokens: int = 512,
        connections: int = 16,
        limits: RequestLimits | None = None,
        kept: Path | None = None,
    ) -> None:
        self._reward = get_reward(name)
        model, _, url = name.partition(":")[2].partition("@")
        self.name = name
        self.model = model
        self.instructions = f"{instructions or INSTRUCTIONS} {ENDING}"
        self.pictures = pictures
        self.max_new_tokens = max_new_tokens
        key = environment_key()
        self._client = JsonClient(url or OPENAI, key=key, limits=limits, connections=connections)
        self._pool = ThreadPoolExecutor(connections, thread_name_prefix="judge")
        self._urls = PictureCache()
        self._lock = Lock()
        self._kept = kept
        self._scores = {} if kept is None else _read(kept)
        self._asked: dict[str, Future[float]] = {}

    @property
    def reward(self) -> Reward:
        """The judge as a reward."""
        return replace(self._reward, function=self.score, begin=self.begin)

    def begin(self, episode: Episode, pictures: PictureSource) -> None:
        """Ask about an episode, unless its score is known; `score` waits for the answer."""
        key = self._key(episode)
        with self._lock:
            if key not in self._scores and key not in self._asked:
                shown = self._shown(episode)
                images = [pictures.get(one) for one in shown]
                self._asked[key] = self._pool.submit(self._ask, key, episode, images)

    def score(self, episode: Episode, parameters: Parameters, pictures: PictureSource) -> float:
        """What the judge says of an episode, from 0 to 1; `parameters` are not for it.

        Raises:
            RewardFailure: it gave no answer, or one without a score.
            UserError: it can never give one: a wrong key, model or address.
        """
        self.begin(episode, pictures)
        key = self._key(episode)
        with self._lock:
            if key in self._scores:
                return self._scores[key]
            asked = self._asked[key]
        try:
            return asked.result()
        finally:
            with self._lock:  # one that failed is asked again, when somebody wants to know again
                self._asked.pop(key, None)

    def close(self) -> None:
        """Give up what is under way, and close all connections."""
        self._client.close()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _ask(self, key: str, episode: Episode, images: Sequence[Image]) -> float:
        payload = {
            "model": self.model,
            "messages": wire_messages(self._messages(episode, images), images, self._urls.url),
            "temperature": 0.0,
            "max_completion_tokens": self.max_new_tokens,
        }
        try:
            found = self._client.post("/chat/completions", payload)
            text = str(found["choices"][0]["message"]["content"] or "")
        except EngineError as error:
            raise RewardFailure(f"the judge {self.name!r} did not answer: {error}") from None
        except (KeyError, IndexError, TypeError) as error:
            raise RewardFailure(
                f"the judge {self.name!r} gave an answer that is no chat completion: {error!r}"
            ) from None
        scores = SCORE.findall(text)
        if not scores or not 0 <= float(scores[-1]) <= 1:
            said = " ".join(text.split())[-200:]
            raise RewardFailure(
                f"the judge {self.name!r} named no score from 0 to 1; its answer ended: {said!r}"
            )
        score = float(scores[-1])
        with self._lock:
            self._scores[key] = score
            if self._kept is not None:
                line = {"key": key, "episode": episode.id, "score": score, "said": text}
                files.append(self._kept, [json.dumps(line)])
        return score

    def _messages(self, episode: Episode, images: Sequence[Image]) -> list[dict[str, Any]]:
        lines = [f"Goal: {episode.goal}", "", "What the agent did:"]
        for number, turn in enumerate(episode.turns, start=1):
            told = f" ({turn.feedback.strip()})" if turn.feedback else ""
            lines.append(f"{number}. {turn.action_text.strip()}{told}")
        if images:
            lines += [
                "",
                f"The last {len(images)} screenshots, the last one after the last action:",
            ]
        asked = [{"type": "text", "text": "\n".join(lines)}]
        system = [{"type": "text", "text": self.instructions}]
        return [
            {"role": "system", "content": system},
            {"role": "user", "content": asked + [{"type": "image"}] * len(images)},
        ]

    def _shown(self, episode: Episode) -> list[str]:
        known = [key for key in episode.screenshot_ids if key]
        return known[max(0, len(known) - self.pictures) :]

    def _key(self, episode: Episode) -> str:
        """What tells apart what the judge is asked about."""
        turns = [(turn.seen, turn.action_text, turn.feedback) for turn in episode.turns]
        asked = [self.model, self.instructions, self.pictures, episode.goal, turns]
        whole = json.dumps([*asked, episode.final_screenshot_id])
        return hashlib.sha256(whole.encode()).hexdigest()


def _read(path: Path) -> dict[str, float]:
    """The scores of a file, as far as its lines are whole."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line, _ in files.whole_lines(path)]
    return {line["key"]: float(line["score"]) for line in lines}
