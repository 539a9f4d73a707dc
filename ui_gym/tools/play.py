"""Playing one episode for people to see: who plays it, what happened, and the film of it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium as gym
from PIL import Image
from rich.console import Console
from rich.text import Text

from ui_gym.contract import device, registry
from ui_gym.dialects import Dialect, get_dialect
from ui_gym.dialects.reread import reread
from ui_gym.errors import UserError, nearest
from ui_gym.tools.film import animation, film_strip, mark
from ui_gym.tools.terminal import ShownColumn, print_table

Act = Callable[[Mapping[str, Any], Mapping[str, Any]], str | None]
"""From (observation, info) to the text of an action; None to leave."""


@dataclass(frozen=True)
class PlayedStep:
    """One step: what was written, what it was read as, what came of it. `seconds` of wall time."""

    text: str
    action: str
    feedback: str
    reward: float
    score: float
    seconds: float


@dataclass
class PlayedEpisode:
    """An episode as it was played."""

    task: str
    agent: str
    seed: int
    goal: str
    steps: list[PlayedStep] = field(default_factory=list)
    success: bool = False
    score: float = 0.0
    ending: str = "left"
    notes: str = ""
    failure: str | None = None
    strip: str = ""
    animation: str = ""
    frames: list[device.Image] = field(default_factory=list, repr=False)
    elements: list[str] = field(default_factory=list, repr=False)
    """What was listed before each step, "" where nothing was."""


def record(
    task: str,
    *,
    agent: str,
    seed: int,
    split: str,
    dialect: str,
    mistakes: Mapping[str, float],
    arguments: Mapping[str, Any],
    out: Path,
    console: Console,
) -> PlayedEpisode:
    """Play the episode of `seed` and write its film strip and animation into the folder `out`.

    Raises:
        UserError: an unknown task, agent, split, dialect, mistake or argument.
        DeviceError: no device could be had.
    """
    if agent not in AGENTS:
        raise UserError(f"there is no agent {agent!r}. {nearest(agent, AGENTS)}")
    if mistakes and agent != "oracle":
        raise UserError("--mistake is for --agent oracle: no other makes mistakes on purpose")
    spec = registry.spec(task)
    options: dict[str, Any] = {"split": split}
    if agent == "oracle":
        options["oracle"] = dict(mistakes) or True
    given = dict(arguments)
    if agent == "me":
        given.setdefault("observation", "both")
    env = _make(spec.id, dialect=dialect, **given)
    try:
        act = AGENTS[agent](env, seed, out / "screen.png", console)
        who = "-".join([agent, *sorted(mistakes)])
        return _film(_episode(env, act, spec.id, who, seed, options), get_dialect(dialect), out)
    finally:
        env.close()


def first_screenshot(task: str, seed: int, arguments: Mapping[str, Any], path: Path) -> None:
    """Write what an agent sees first in the episode of `seed`, in the format of the suffix."""
    if path.suffix.lower() not in Image.registered_extensions():
        raise UserError(f"{path.name}: a picture's name ends in .png, .webp or .jpg")
    env = _make(task, **arguments)
    try:
        observation, _ = env.reset(seed=seed)
    finally:
        env.close()
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(observation["screenshot"]).save(path)


def print_steps(played: PlayedEpisode, console: Console) -> None:
    """The steps, one a row."""
    columns = (
        ShownColumn("step", right=True),
        ShownColumn("action", least=20),
        ShownColumn("feedback", rank=1, least=16, style="yellow"),
        ShownColumn("reward", rank=3, right=True),
        ShownColumn("score", rank=2, right=True),
        ShownColumn("seconds", rank=4, right=True),
    )
    fed_back = any(step.feedback for step in played.steps)
    rows = [
        (str(n), s.action, s.feedback, f"{s.reward:g}", f"{s.score:.2f}", f"{s.seconds:.3f}")
        for n, s in enumerate(played.steps, 1)
    ]
    kept = [i for i in range(len(columns)) if fed_back or columns[i].heading != "feedback"]
    print_table(console, [columns[i] for i in kept], [[row[i] for i in kept] for row in rows])


def print_outcome(played: PlayedEpisode, console: Console) -> None:
    """How it ended, and where the pictures lie."""
    word, color = ("success", "green") if played.success else ("no success", "red")
    notes = f" ({played.failure or played.notes})" if played.failure or played.notes else ""
    ended = f"{word}: score {played.score:.2f}, {played.ending}{notes}"
    console.print(Text(ended, style=color), soft_wrap=True)
    for path in (played.strip, played.animation):
        console.print(path, soft_wrap=True, highlight=False, markup=False)


def _make(task: str, **arguments: Any) -> gym.Env[Any, Any]:
    # The checker would look at every step of a task that `ui-gym check` looks at better.
    return gym.make(task, disable_env_checker=True, **arguments)


def _episode(
    env: gym.Env[Any, Any], act: Act, task: str, agent: str, seed: int, options: dict[str, Any]
) -> PlayedEpisode:
    observation, info = env.reset(seed=seed, options=options)
    played = PlayedEpisode(task, agent, seed, str(observation["goal"]))
    played.frames.append(_picture(observation))
    while (text := act(observation, info)) is not None:
        played.elements.append(str(observation.get("elements", "")))
        started = time.perf_counter()
        observation, reward, terminated, truncated, info = env.step(text)
        seconds = time.perf_counter() - started
        played.frames.append(_picture(observation))
        score = float(info["score"])
        played.steps.append(
            PlayedStep(text, text, observation["feedback"], float(reward), score, round(seconds, 4))
        )
        played.success, played.score = bool(info["success"]), score
        played.notes, played.failure = info["notes"], info["failure"]
        if terminated or truncated:
            played.ending = "terminated" if terminated else "truncated"
            break
    return played


def _picture(observation: Mapping[str, Any]) -> device.Image:
    if "screenshot" not in observation:
        raise UserError("a film needs screenshots: leave out --set observation=elements")
    picture: device.Image = observation["screenshot"]
    return picture


def _film(played: PlayedEpisode, dialect: Dialect, out: Path) -> PlayedEpisode:
    """Put canonical text into the steps, and write the pictures."""
    height, width = played.frames[0].shape[:2]
    written = zip((step.text for step in played.steps), played.elements, strict=True)
    done = reread(written, dialect, (width, height))
    played.steps = [
        PlayedStep(**{**vars(step), "action": "; ".join(map(str, actions)) or step.text})
        for step, actions in zip(played.steps, done, strict=True)
    ]
    captions = [step.action for step in played.steps]
    captions.append("success" if played.success else f"no success, score {played.score:.2f}")
    done.append([])
    out.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{played.task}-{played.agent}-{played.seed}")
    strip = film_strip(played.frames, captions, actions=done, title=played.goal)
    played.strip = str(out / f"{name}.png")
    strip.save(played.strip, optimize=True)
    marked = [mark(frame, actions) for frame, actions in zip(played.frames, done, strict=True)]
    played.animation = str(animation(marked, out / f"{name}.webp"))
    return played


# -- agents --


def _oracle(env: gym.Env[Any, Any], seed: int, screen: Path, console: Console) -> Act:
    return lambda observation, info: str(info["oracle"]["action_text"])


def _random(env: gym.Env[Any, Any], seed: int, screen: Path, console: Console) -> Act:
    env.action_space.seed(seed)
    return lambda observation, info: env.action_space.sample()


def _me(env: gym.Env[Any, Any], seed: int, screen: Path, console: Console) -> Act:
    """A person at the terminal, who sees the elements, and the screenshot in a file."""
    screen.parent.mkdir(parents=True, exist_ok=True)

    def act(observation: Mapping[str, Any], info: Mapping[str, Any]) -> str | None:
        Image.fromarray(observation["screenshot"]).save(screen)
        console.print(Text(observation["goal"], style="bold"))
        console.print(Text(observation.get("elements", ""), style="dim"))
        if observation["feedback"]:
            console.print(Text(observation["feedback"], style="yellow"))
        console.print(f"screen: {screen} (an empty line leaves)", markup=False, soft_wrap=True)
        try:
            return console.input("action> ") or None
        except EOFError:
            return None

    return act


AGENTS: dict[str, Callable[[gym.Env[Any, Any], int, Path, Console], Act]] = {
    "oracle": _oracle,
    "random": _random,
    "me": _me,
}
"""Who can play."""
