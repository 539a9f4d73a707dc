"""An oracle that plays by messages: what the model of somebody else's trainer is, in tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ui_gym_agents.chat import ChatEpisode
from ui_gym_agents.integrations.episodes import EpisodeRow

Messages = Sequence[Mapping[str, Any]]


def words(message: Mapping[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n\n".join(part["text"] for part in content if part["type"] == "text")


def pictures(messages: Messages) -> list[str]:
    """The data URLs, in order."""
    return [
        part["image_url"]["url"]
        for message in messages if isinstance(message["content"], list)
        for part in message["content"] if part["type"] == "image_url"
    ]  # fmt: skip


class Oracle:
    """Says what solves the episode that the messages are of, which it has played before."""

    def __init__(self, rows: Sequence[EpisodeRow]) -> None:
        self.texts: dict[str, list[str]] = {}
        """What it says, by goal."""
        self.seen: dict[int, list[str]] = {}
        """The pictures of each seed's episode."""
        for row in rows:
            self._play(row)

    def __call__(self, messages: Messages) -> str:
        turn = sum(message["role"] == "assistant" for message in messages)
        return self.texts[words(messages[1])][turn]

    def _play(self, row: EpisodeRow) -> None:
        chat = ChatEpisode(row.task, **row.arguments)
        messages = chat.reset(seed=row.seed, options={"oracle": True})
        said, seen = self.texts.setdefault(words(messages[1]), []), pictures(messages)
        done = bool(said)  # two seeds may have the same goal and the same solution
        while not done:
            said.append(chat.info["oracle"]["action_text"])
            step = chat.act(said[-1])
            seen += pictures(step.news)
            done = step.done
        self.seen[row.seed] = seen
        chat.close()
