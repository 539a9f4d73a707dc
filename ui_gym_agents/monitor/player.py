"""An episode as the player shows it: where it clicked, what it typed, what it was worth."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ui_gym.contract.action import Action, Drag, Finish, Press, Scroll, Type, Wait
from ui_gym.contract.device import Element
from ui_gym.dialects import get_dialect
from ui_gym.dialects.seen import Seen
from ui_gym.errors import ActionError, UIGymError, UserError
from ui_gym_agents.episode import Episode, Turn
from ui_gym_agents.monitor.sources import Picture
from ui_gym_agents.rewards import get_reward, parameters_of, weighed

FINE = 16
"""A model's point is found by reading its text on a screen so many times as large."""
BEYOND = 8
"""A point outside the screen is looked for on one so many times as large."""

Size = tuple[int, int]
Point = tuple[float, float]


def detail(
    episode: Episode, size: Size | None, dialect: str, config: Mapping[str, Any]
) -> dict[str, Any]:
    """All of an episode but its tokens; `size` is (width, height) of its pictures, if any."""
    return {
        "params": dict(episode.params),
        "finished": episode.finished_at,
        "terminated": episode.terminated,
        "truncated": episode.truncated,
        "version": episode.version,
        "max_turns": episode.max_turns,
        "blind_rate": episode.blind_rate,
        "dialect": dialect,
        "size": size,
        "terms": terms(episode, config),
        "judge": {"score": episode.score, "success": episode.success, "notes": episode.notes},
        "turns": [_turn(number, turn, size, dialect) for number, turn in enumerate(episode.turns)],
        "final": episode.final_screenshot_id,
    }


def _turn(number: int, turn: Turn, size: Size | None, dialect: str) -> dict[str, Any]:
    elements = [e for e in map(Element.read, turn.elements.splitlines()) if e is not None]
    tokens = turn.tokens
    return {
        "number": number,
        "picture": turn.screenshot_id,
        "text": turn.action_text,
        "feedback": turn.feedback,
        "error": turn.action_error,
        "caption": turn.caption,
        "reward": turn.reward,
        "times": turn.times,
        "elements": [
            {"id": e.id, "label": f"{e.role} {e.name}".strip(), "box": e.box} for e in elements
        ],
        "elements_text": turn.elements,
        "tokens": tokens is not None,
        "temperature": None if tokens is None else tokens.temperature,
        "version": None if tokens is None else tokens.version,
        "truncated": tokens is not None and tokens.truncated,
        "marks": marks(turn.action_text, size, dialect, elements),
    }


def marks(
    text: str, size: Size | None, dialect: str, elements: Sequence[Element] = ()
) -> list[dict[str, Any]]:
    """What is drawn over the picture for a text: its actions, and where the model's points lie.

    Where a text names a point outside the screen, which is never executed, `said` alone is given.
    """
    if size is None or not dialect:
        return []
    try:
        language = get_dialect(dialect)
    except UserError:
        return []
    seen = Seen(tuple(elements))
    try:
        done = language.parse(text, size, seen)
    except ActionError:
        return _outside(text, size, dialect)
    fine = _read(text, (size[0] * FINE, size[1] * FINE), dialect, seen)
    return [
        _mark(action, _said(action, other))
        for action, other in itertools.zip_longest(done, (fine or [])[: len(done)])
    ]


def _mark(action: Action, said: list[Point] | None) -> dict[str, Any]:
    kinds = {Type: "type", Press: "key", Scroll: "scroll", Drag: "drag", Wait: "wait",
             Finish: "finish"}  # fmt: skip
    kind = kinds.get(type(action), "point" if action.points() else "other")
    return {
        "kind": kind,
        "text": str(action),
        "points": action.points(),
        "said": said,
        "typed": action.text if isinstance(action, Type) else "",
        "keys": getattr(action, "keys", ""),
        "dx": getattr(action, "dx", 0),
        "dy": getattr(action, "dy", 0),
    }


def _said(action: Action, fine: Action | None) -> list[Point] | None:
    """The model's own points, as fractions of pixels, where they lie between two."""
    if fine is None or type(fine) is not type(action):
        return None
    found = [(x / FINE, y / FINE) for x, y in fine.points()]
    pairs = zip(found, action.points(), strict=False)
    # A dialect of pixels reads the same numbers on any screen, and they are what was executed.
    near = all(abs(a - x) <= 1 and abs(b - y) <= 1 for (a, b), (x, y) in pairs)
    return found if found and near else None


def _outside(text: str, size: Size, dialect: str) -> list[dict[str, Any]]:
    found = _read(text, (size[0] * BEYOND, size[1] * BEYOND), dialect, Seen())
    return [
        {**_mark(action, [(float(x), float(y)) for x, y in action.points()]), "points": []}
        for action in found or ()
        if action.points()
    ]


def _read(text: str, size: Size, dialect: str, seen: Seen) -> list[Action] | None:
    try:
        return get_dialect(dialect).parse(text, size, seen)
    except ActionError:
        return None


def terms(episode: Episode, config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The terms of a run's reward for an episode, as far as they are ours: a user's own code, or a
    model that judges, is not asked again."""
    trainer = config.get("trainer") or {}
    asked = trainer.get("reward") if isinstance(trainer, Mapping) else None
    if not asked or episode.failure is not None:
        return []
    given = trainer.get("reward_parameters") or {}
    found = []
    for name, weight in weighed(asked).items():
        if ":" in name:
            found.append({"name": name, "weight": weight, "value": None})
            continue
        try:
            reward = get_reward(name)
            value: float | None = reward(episode, parameters_of(reward, given))
        except (UIGymError, ValueError, TypeError):
            value = None
        found.append({"name": name, "weight": weight, "value": value})
    return found


def parting(episodes: Sequence[Episode]) -> int | None:
    """The first turn at which not all said the same; None where they never part."""
    longest = max((len(episode.turns) for episode in episodes), default=0)
    for number in range(longest):
        said = {
            e.turns[number].action_text.strip() if number < len(e.turns) else None for e in episodes
        }
        if len(said) > 1:
            return number
    return None


def picture_size(picture: Picture | None) -> Size | None:
    """(width, height) of a picture, from its first bytes; None where they do not say."""
    return None if picture is None else _size(picture.data[:64])


@lru_cache(maxsize=64)
def _size(head: bytes) -> Size | None:
    if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) >= 24:
        width, height = struct.unpack(">II", head[16:24])
        return width, height
    if head[:4] == b"RIFF" and head[8:16] == b"WEBPVP8L" and len(head) >= 25:
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return None
