"""A training's episodes as traces of trackio, whose dashboard shows them: `trackio show`.

A trace is a conversation: the goal and the screens as the user's messages, with pictures, and what
the agent said between them. Turns are its spans, with their times. Format: trackio 0.43,
``trackio.Trace(messages, metadata, spans)``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode
from ui_gym_agents.pictures import decoded
from ui_gym_agents.records import queries
from ui_gym_agents.store import RunPictures

FindPicture = Callable[[str], bytes | None]
"""A picture by its hash, as a file; None if it was not kept."""


SHOWN = 40
"""Of an action's text, so many characters are a span's name."""


def write_traces(connection: Connection, run: Any, project: str | None, most: int) -> int:
    """Log the first `most` episodes of a training (a row of `queries.find`) to trackio's run of the
    same name, each at its step; returns how many.

    Args:
        project: In trackio; by default that of the training's own logger.

    Raises:
        UserError: trackio is not installed.
    """
    try:
        trackio = import_module("trackio")
    except ModuleNotFoundError as error:
        if error.name != "trackio":
            raise
        raise UserError(
            "trackio is not installed; to get it: pip install 'ui-gym[trackio]'"
        ) from None
    pictures = RunPictures(Path(run.directory))
    project = project or run.config["run"]["project"]
    trackio.init(project=project, name=run.name, resume="allow", embed=False)
    count = 0
    try:
        for episode in islice(queries.episodes(connection, run.id), most):
            key = episode.purpose.kind or "episode"
            trace = episode_trace(trackio, episode, pictures.encoded)
            trackio.log({f"episodes/{key}": trace}, step=episode.purpose.step)
            count += 1
    finally:
        trackio.finish()
    return count


def episode_trace(trackio: Any, episode: Episode, picture: FindPicture) -> Any:
    """An episode as a ``trackio.Trace``; a picture that was not kept is left out."""
    messages: list[dict[str, Any]] = []
    told = [episode.goal, *(turn.feedback for turn in episode.turns)]
    said = [turn.action_text for turn in episode.turns]
    for number, (text, key) in enumerate(zip(told, episode.screenshot_ids, strict=True)):
        content: list[Any] = [{"type": "text", "text": text}] if text else []
        data = picture(key) if key else None
        if data is not None:
            content.append(trackio.Image(decoded(data)))
        if content:
            messages.append({"role": "user", "content": content})
        if number < len(said):
            messages.append({"role": "assistant", "content": said[number]})
    return trackio.Trace(messages, metadata=_metadata(episode), spans=_spans(episode))


def _metadata(episode: Episode) -> dict[str, Any]:
    """What is known of an episode. The dashboard shows `status` and `duration_ms`."""
    status = "error" if episode.failure else "success" if episode.success else "failed"
    names = ("id", "task", "seed", "split", "score", "success", "failure", "notes", "version")
    return {
        "status": status,
        "duration_ms": 1000 * episode.seconds,
        **{name: getattr(episode, name) for name in names},
        "purpose": episode.purpose.kind,
        "mode": episode.purpose.mode,
    }


def _spans(episode: Episode) -> list[dict[str, Any]]:
    """The episode and, in it, its turns. What the env could not read costs a step, and is no error
    of the trace."""
    whole = {"id": "0", "name": episode.task, "kind": "span", "duration_ms": 1000 * episode.seconds}
    turns = [
        {
            "id": str(number),
            "parent_id": "0",
            "name": turn.action_text[:SHOWN],
            "kind": "tool",
            "input": turn.action_text,
            "output": turn.feedback,
            "duration_ms": 1000 * sum(turn.times.values()),
            "metadata": {"reward": turn.reward, "action_error": turn.action_error, **turn.times},
        }
        for number, turn in enumerate(episode.turns, start=1)
    ]
    return [whole, *turns]
