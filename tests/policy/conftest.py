"""Policies of tiny models, built once a session in a temporary folder, and views for them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tests.policy.tiny_models import folders, picture
from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import Turn
from ui_gym_agents.policy import PromptBuilder, VLMPolicy, load_policy
from ui_gym_agents.store import ScreenshotStore


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    return folders(tmp_path_factory)


@pytest.fixture
def make_policy(folder_of: Callable[[str], Path]) -> Callable[..., VLMPolicy]:
    """A policy of a class; keyword arguments go to `load_policy`."""

    def make(kind: str = "qwen3_vl", **kwargs: Any) -> VLMPolicy:
        settings = {"max_new_tokens": 8, "threads": 1, "prompt": PromptBuilder.bare(), **kwargs}
        return load_policy(folder_of(kind), **settings)

    return make


@pytest.fixture
def screenshots() -> ScreenshotStore:
    return ScreenshotStore()


@pytest.fixture
def make_view(screenshots: ScreenshotStore) -> Callable[..., View]:
    """A view whose pictures are random, each a function of its seed, and are in the store."""

    def make(goal: str = "Enter row 3", seeds: tuple[int, ...] = (0,), noise: int = 0) -> View:
        images = [picture(seed) for seed in seeds]
        keys = [screenshots.put(image) for image in images]
        turns = [
            Turn(screenshot_id=key, action_text=f"{i} Carl") for i, key in enumerate(keys[:-1])
        ]
        return View(slot=0, goal=goal, screenshots=images, turns=turns, noise=noise)

    return make
