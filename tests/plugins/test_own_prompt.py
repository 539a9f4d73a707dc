"""A prompt of a user's own: what is asked changes; masks, log-probabilities and metrics do not."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import spots  # noqa: F401 - registers its tasks
from train_helpers import metrics, train

from ui_gym.errors import UserError
from ui_gym_agents.policy import PromptBuilder, load_policy
from ui_gym_agents.policy.prompts import builder_class
from ui_gym_agents.store import EpisodeStore

OWN = """
from ui_gym_agents import PromptBuilder

class Twice(PromptBuilder):
    def build(self, view):
        goal = {"type": "text", "text": f"{view.goal} <|image_pad|> {view.goal}"}
        return [{"role": "user", "content": [goal, {"type": "image"}]}], 1

class Other:
    pass

def letters(episode):
    return sum(ord(letter) for turn in episode.turns for letter in turn.action_text) % 5 / 4
"""

RUN = (
    "--plugin", "grpo", "--tasks.ids", '["PaintSpot"]', "--env.num_envs", "4", "--run.steps", "2",
    "--run.eval_every", "0", "--evaluation.episodes", "0", "--policy.lora_rank", "4",
    "--policy.max_new_tokens", "6", "--trainer.groups", "2", "--trainer.group_size", "4",
    "--trainer.reward", "own_prompts_here:letters",
)  # fmt: skip


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with a module of prompts."""
    (tmp_path / "own_prompts_here.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    importlib.invalidate_caches()
    yield tmp_path
    sys.modules.pop("own_prompts_here", None)


def test_a_run_asks_as_it_says_and_learns_the_same_tokens(own: Path, clicker: Path) -> None:
    model = ("--policy.model", str(clicker))
    assert train(*RUN, *model, "--run.directory", "bare", "--policy.prompt", "bare") == 0
    twice = "own_prompts_here:Twice"
    assert train(*RUN, *model, "--run.directory", "own", "--policy.prompt", twice) == 0

    tokenizer = load_policy(clicker).tokenizer
    bare, mine = (list(EpisodeStore(own / run / "episodes")) for run in ("bare", "own"))
    for before, after in zip(bare, mine, strict=False):
        (one,), (other,) = (
            [turn.tokens for turn in e.turns if turn.tokens] for e in (before, after)
        )
        assert len(other.prompt_ids) > len(one.prompt_ids)
        assert "box" in tokenizer.decode(other.prompt_ids)
        assert len(other.logprobs) == len(other.output_ids)
        assert other.images == (after.turns[0].screenshot_id,)
    gaps = [row["logprob_gap"] for row in metrics("own") if "logprob_gap" in row]
    assert gaps
    assert max(gaps) < 1e-4
    keys = [{key for row in metrics(run) for key in row} for run in ("bare", "own")]
    assert keys[0] == keys[1]


def test_a_model_remembers_whose_prompt_it_was_trained_with(own: Path) -> None:
    builder_class("own_prompts_here:Twice")(history=3).save(own)
    with pytest.raises(UserError, match=r"take it by policy\.prompt own_prompts_here:Twice, or"):
        PromptBuilder.of(own)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("ful", "there is no prompt 'ful'. Did you mean 'full'"),
        ("own_prompts_here:Twise", "has no 'Twise'. Did you mean 'Twice'"),
        ("own_prompts_here:Other", "and no class derived from ui_gym_agents.PromptBuilder"),
    ],
)
def test_one_that_is_not_there_is_named(
    own: Path, name: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(*RUN, "--run.directory", "own", "--policy.prompt", name) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "policy.prompt" in line
    assert told in line
