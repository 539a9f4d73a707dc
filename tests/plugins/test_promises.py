"""What the host tells a trainer that forgets something; the trainer of the guide does not."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import spots  # noqa: F401 - registers its tasks
import torch
from safetensors.torch import load_file
from train_helpers import metrics, train

from tests.distributions import install
from ui_gym_agents.policy import VLMPolicy
from ui_gym_agents.training.failures import TrainingError
from ui_gym_agents.training.promises import StepPromises

GUIDE = Path(__file__).parents[2] / "docs" / "architecture.md"
CLEAR = "        self.context.screenshots.clear()\n"
COUNT = "        self.policy.version += 1\n"

RUN = (
    "--plugin", "reinforce", "--tasks.ids", '["PaintSpot"]', "--env.num_envs", "4",
    "--run.steps", "2", "--run.eval_every", "0", "--evaluation.episodes", "0",
    "--policy.lora_rank", "4", "--policy.max_new_tokens", "6", "--trainer.episodes", "8",
    "--trainer.lr", "1e-2", "--policy.batch_tokens", "200",
)  # fmt: skip


def guides_trainer() -> str:
    """The trainer of the guide, as it stands there."""
    (source,) = re.findall(
        r"^```python ui_gym_reinforce\.py\n(.*?)^```$", GUIDE.read_text(), re.M | re.S
    )
    return str(source)


class Trainers:
    """Versions of the guide's trainer, and runs of them."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.folder = folder
        self.model = ("--policy.model", str(model))

    def run(self, *flags: str, without: str = "", name: str = "run") -> int:
        sys.modules.pop("ui_gym_reinforce", None)
        source = guides_trainer()
        assert without in source
        (self.folder / "ui_gym_reinforce.py").write_text(
            source.replace(without, "") if without else source
        )
        return train(*RUN, *self.model, "--run.directory", name, *flags)


@pytest.fixture
def trainers(clicker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trainers]:
    trainers = "[ui_gym.trainers]\nreinforce = ui_gym_reinforce:Reinforce\n"
    install(tmp_path, "ui-gym-reinforce", "1.0", trainers)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # the module changes within a second
    yield Trainers(tmp_path, clicker)
    sys.modules.pop("ui_gym_reinforce", None)


def adapter(run: str) -> dict[str, torch.Tensor]:
    return load_file(Path(run) / "checkpoints/step_000002/adapter_model.safetensors")


def test_the_guides_trainer_learns_and_forgets_nothing(
    trainers: Trainers, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trainers.run() == 0
    assert [row["episodes"] for row in metrics("run")] == [8, 8]
    assert any(value.any() for name, value in adapter("run").items() if "lora_B" in name)
    assert "warning" not in capsys.readouterr().out


@pytest.mark.parametrize("foreach", [False, True])
def test_a_trainer_that_forgets_the_version_is_told(
    trainers: Trainers,
    foreach: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from torch.optim import adamw

    made = adamw.AdamW.__init__
    monkeypatch.setattr(
        adamw.AdamW, "__init__", lambda self, *a, **k: made(self, *a, **k | {"foreach": foreach})
    )
    assert trainers.run(without=COUNT) == 1
    assert (
        "the trainer 'reinforce' changed the policy's weights in step 1 and left policy.version at "
        "0, so that what is sampled next would count as sampled by the old weights: add 1 to "
        "policy.version after each step of the optimizer"
    ) in " ".join(capsys.readouterr().err.split())


def test_a_trainer_that_keeps_its_pictures_is_told_once(
    trainers: Trainers, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    assert trainers.run(without=CLEAR) == 0
    log = Path("run/log.txt").read_text()
    (line,) = [line for line in log.splitlines() if "warning: the trainer" in line]
    assert "the trainer 'reinforce' left " in line
    assert "call context.screenshots.clear() at the end of step(), or say keeps_pictures" in line


def test_the_guides_trainer_recovers_from_a_lack_of_memory(
    trainers: Trainers, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert trainers.run(name="whole") == 0
    score = VLMPolicy.logprobs

    def scarce(policy: VLMPolicy, records: list[object], *given: object, **more: object) -> object:
        if len(records) > 1:
            raise torch.OutOfMemoryError("no memory left")
        return score(policy, records, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(VLMPolicy, "logprobs", scarce)
    assert trainers.run(name="scarce") == 0
    whole, less = adapter("whole"), adapter("scarce")
    assert all(torch.allclose(whole[name], less[name], atol=1e-4) for name in whole)


def test_a_policy_that_is_made_in_a_step_was_not_changed_by_it() -> None:
    weight = torch.nn.Parameter(torch.zeros(2))
    policy = SimpleNamespace(version=0, parameters=lambda: [weight])
    config = SimpleNamespace(plugin="late")
    context: Any = SimpleNamespace(
        config=config, has_policy=False, policy=policy, step=1, pictures_held=0
    )
    promises = StepPromises(context, object(), print)
    promises.begin()
    context.has_policy = True
    with torch.no_grad():
        weight.fill_(1.0)
    promises.check()
    promises.begin()
    with torch.no_grad():
        weight.fill_(2.0)
    with pytest.raises(TrainingError, match=r"left policy\.version at 0"):
        promises.check()
