"""Writes docs/multiagent.png: two agents on one board, side by side, round by round.

Run with ``python docs/multiagent_film.py``. A careless team plays: both move the same card in the
first round, and the server refuses the second of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

from ui_gym.contract.action import Action, parse
from ui_gym.multiagent import shared_board_v0
from ui_gym.multiagent.board import SharedBoard
from ui_gym.tools.film import film_strip

HERE = Path(__file__).resolve().parent
SEED = 0
WIDTH = 680
"""Of both windows, in pixels."""


def main() -> None:
    """Play, and draw what was seen and done."""
    env = shared_board_v0.parallel_env(document="kanban", goal="split", render_mode="rgb_array")
    try:
        seen, infos = env.reset(seed=SEED, options={"oracle": {"twice": 1.0}})
        goals = [one["goal"] for one in seen.values()]
        frames, captions, done = [env.render()], [], []
        while env.agents:
            texts = {agent: infos[agent]["oracle"]["action_text"] for agent in env.agents}
            captions.append("   |   ".join(f"{agent}: {text}" for agent, text in texts.items()))
            done.append(side_by_side(env, list(texts.values())))
            *_, infos = env.step(texts)
            frames.append(env.render())
        score = f"score {infos['user_0']['score']:g}: {infos['user_0']['notes']}"
    finally:
        env.close()
    strip = film_strip(
        frames, [*captions, score], actions=[*done, []], title=" / ".join(goals), width=WIDTH,
        columns=2,
    )  # fmt: skip
    strip.quantize(256, method=2).save(HERE / "multiagent.png", optimize=True)


def side_by_side(env: SharedBoard, texts: Sequence[str]) -> list[Action]:
    """The actions of all agents, each where its window is in the picture."""
    return [
        shifted(action, number * env.size[0])
        for number, text in enumerate(texts)
        for action in parse(text)
    ]


def shifted(action: Action, right: int) -> Action:
    """An action so many pixels to the right."""
    names = {field.name for field in fields(action)} & {"x", "x1", "x2"}
    return replace(action, **{name: getattr(action, name) + right for name in names})


if __name__ == "__main__":
    main()
