"""What a model is shown of an episode."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import Turn
from ui_gym_agents.policy import PromptBuilder

IMAGE = np.zeros((8, 8, 3), dtype=np.uint8)


def _view(turns: int, **kwargs: str) -> View:
    done = [
        Turn(
            screenshot_id=str(i),
            action_text=f"click({i}, 0)",
            feedback=f"fb{i}",
            elements=f"[{i}] el",
        )
        for i in range(turns)
    ]
    return View(slot=0, goal="Save it", screenshots=[IMAGE] * (turns + 1), turns=done, **kwargs)  # type: ignore[arg-type]


def _script(builder: PromptBuilder, view: View) -> list[str]:
    """One line a message; ``#`` stands for a picture."""
    messages, shown = builder.build(view)
    lines = [
        f"{m['role']}: " + "".join("#" if p["type"] == "image" else p["text"] for p in m["content"])
        for m in messages
    ]
    assert sum(line.count("#") for line in lines) == shown
    return lines


def test_a_bare_prompt_is_goal_and_picture() -> None:
    view = _view(3, feedback="wrong", elements="[1] button")
    assert _script(PromptBuilder.bare(), view) == ["user: Save it#"]


def test_the_system_prompt_ends_with_the_dialect() -> None:
    builder = PromptBuilder(dialect_prompt="Write click(x, y).", system="Act.")
    assert _script(builder, _view(0)) == ["system: Act.\n\nWrite click(x, y).", "user: Save it#"]


def test_turns_in_the_window_are_a_conversation_and_older_ones_are_told() -> None:
    builder = PromptBuilder(system="", history=2, recall=2)
    view = _view(4, feedback="fb3", elements="[4] el")
    assert _script(builder, view) == [
        "user: Save it\n\nYour steps so far:\n2. click(1, 0)\n3. click(2, 0)"
        "\n\nElements on the screen:\n[3] el#",
        "assistant: click(3, 0)",
        "user: fb3\n\nElements on the screen:\n[4] el#",
    ]


def test_with_one_picture_feedback_follows_the_goal() -> None:
    builder = PromptBuilder(system="", recall=0, elements=False)
    assert _script(builder, _view(2, feedback="no such key")) == ["user: Save it\n\nno such key#"]


def test_a_prompt_extends_the_one_before_while_the_window_holds() -> None:
    builder = PromptBuilder(history=3)
    views = [_view(n, feedback=f"fb{n - 1}", elements=f"[{n}] el") for n in (1, 2, 3)]
    first, second, third = (_script(builder, view) for view in views)
    assert second[: len(first)] == first
    assert third[: len(second)] != second


def test_a_long_window_shows_what_there_is() -> None:
    assert PromptBuilder(history=15).build(_view(1))[1] == 2


def test_a_prompt_shows_a_picture() -> None:
    with pytest.raises(UserError, match="one picture or more: history is 0"):
        PromptBuilder(history=0)


def test_settings_survive_in_a_models_folder(tmp_path: Path) -> None:
    assert PromptBuilder.of(tmp_path) is None
    builder = PromptBuilder(dialect_prompt='say "é"', history=3, feedback=False)
    builder.save(tmp_path)
    assert PromptBuilder.of(tmp_path) == builder


def test_a_wrong_setting_is_named(tmp_path: Path) -> None:
    (tmp_path / "prompt.json").write_text('{"histroy": 2}')
    with pytest.raises(UserError, match=r"histroy.*It may hold dialect_prompt, history"):
        PromptBuilder.of(tmp_path)


def test_several_pictures_may_leave_at_once() -> None:
    builder = PromptBuilder(history=5, drop=3, recall=8)
    assert [builder.build(_view(n))[1] for n in range(10)] == [1, 2, 3, 4, 5, 3, 4, 5, 3, 4]
    assert [builder.build(_view(n, elements="e"))[1] for n in range(3)] == [1, 2, 3]
    sliding = PromptBuilder(history=5)
    assert [sliding.build(_view(n))[1] for n in range(7)] == [1, 2, 3, 4, 5, 5, 5]


def test_prompts_extend_each_other_until_pictures_leave() -> None:
    builder = PromptBuilder(history=4, drop=3, elements=False, feedback=False)
    scripts = [_script(builder, _view(n)) for n in range(9)]
    extends = [b[: len(a)] == a for a, b in itertools.pairwise(scripts)]
    assert extends == [True, True, True, False, True, True, False, True]


@pytest.mark.parametrize("drop", [0, 4])
def test_no_more_pictures_leave_than_are_shown(drop: int) -> None:
    with pytest.raises(UserError, match="1 to 3 can leave at once: drop is"):
        PromptBuilder(history=3, drop=drop)
