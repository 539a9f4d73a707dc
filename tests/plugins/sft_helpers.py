"""What the SFT tests share: a tiny policy, recordings made by hand, and a trainer on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.policy.tiny_models import SMALL, WORDS, picture
from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import Episode, TokenRecord, Turn
from ui_gym_agents.policy import PromptBuilder, VLMPolicy, load_policy
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunConfig
from ui_gym_sft import SFTConfig, SFTTrainer
from ui_gym_tiny.model import build


def build_model(folder: Path) -> Path:
    """A checkpoint that knows nothing yet."""
    build(SMALL, WORDS, seed=0, directory=folder)
    PromptBuilder.bare().save(folder)
    return folder


def make_policy(folder: Path) -> VLMPolicy:
    return load_policy(folder, lora_rank=4, seed=1, max_new_tokens=8, threads=1)


def record(
    store: EpisodeStore,
    policy: VLMPolicy | None,
    number: int,
    texts: tuple[str, ...] = ("Carl\nclick(<x1><y2>)", 'type("Carl")'),
    *,
    keep: bool = True,
    **fields: Any,
) -> Episode:
    """Add an episode that said `texts`, as token ids where a policy is given."""
    goal = f"Enter row {number}"
    images = [picture(10 * number + i) for i in range(len(texts))]
    turns: list[Turn] = []
    for index, text in enumerate(texts):
        tokens: TokenRecord | None = None
        if policy is not None:
            view = View(slot=0, goal=goal, screenshots=images[: index + 1], turns=tuple(turns))
            tokens = policy.encode(view, text)
        turns.append(Turn(store.screenshots.put(images[index], keep=keep), text, tokens=tokens))
    good: dict[str, Any] = {"seed": number, "success": True, "score": 1.0}
    good |= {"id": f"{number}.0", "group": str(number)}
    found = Episode("UI/DataEntry-v0", goal=goal, turns=turns, **{**good, **fields})
    store.add([found])
    return found


class Runs:
    """Trainers on the tiny policy, each in a run directory of its own."""

    def __init__(self, root: Path, model: Path) -> None:
        self.root = root
        self.model = model
        self.notes: list[str] = []
        self._open: list[RunDirectory] = []

    def context(self, name: str = "run", *, steps: int = 4, dialect: str = "cells") -> Any:
        self.close()
        directory = RunDirectory(self.root / name)
        self._open.append(directory)
        config = RunConfig(
            plugin="sft",
            run={"seed": 3, "steps": steps},  # type: ignore[arg-type]
            policy={"model": str(self.model)},  # type: ignore[arg-type]
            env={"dialect": dialect},  # type: ignore[arg-type]
        )
        context = TrainerContext(run=directory, config=config, note=self.notes.append)
        context.__dict__["policy"] = make_policy(self.model)
        return context

    def trainer(self, source: Path | str, context: Any = None, **settings: Any) -> SFTTrainer:
        given = source if isinstance(source, str) else f"run:{source}"
        config = SFTConfig.model_validate({"source": given, "batch_size": 4, **settings})
        return SFTTrainer(config, context or self.context())

    def step(self, trainer: SFTTrainer, number: int) -> dict[str, float]:
        trainer.context.step = number
        return dict(trainer.step())

    def close(self) -> None:
        for directory in self._open:
            directory.close()
        self._open.clear()


def weights(trainer: SFTTrainer) -> list[bytes]:
    return [p.detach().numpy().tobytes() for p in trainer.policy.parameters()]
