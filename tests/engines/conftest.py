"""Model servers as vLLM and SGLang are, on a tiny model, and what asks them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "policy"))
sys.path.insert(0, str(Path(__file__).parent))

from tests.engines.model_server import ModelServer
from tests.policy.tiny_models import BUILDERS, picture
from ui_gym_agents.agents.agent import View
from ui_gym_agents.engines.agent import WIRES
from ui_gym_agents.engines.openai import OpenAIEngine
from ui_gym_agents.engines.protocol import RequestLimits
from ui_gym_agents.episode import Turn
from ui_gym_agents.policy import PromptBuilder, VLMPolicy, load_policy

TURN = Turn(screenshot_id="", action_text="3 Carl")
PROMPT = PromptBuilder(system="Look.", history=2, recall=2)
SLOW = RequestLimits(timeout=20.0, attempts=3, pause=0.01)

MakeEngine = Callable[..., OpenAIEngine]


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A checkpoint folder of two classes."""
    found = {kind: tmp_path_factory.mktemp(kind) for kind in ("qwen3_vl", "smolvlm")}
    for kind, folder in found.items():
        BUILDERS[kind](folder)
    return found


@pytest.fixture
def make_server(folders: dict[str, Path]) -> Iterator[Callable[..., ModelServer]]:
    """Starts servers of a class of model, and stops them."""
    started: list[ModelServer] = []

    def make(kind: str = "qwen3_vl", wire: str = "vllm") -> ModelServer:
        started.append(ModelServer(folders[kind], wire))
        return started[-1]

    yield make
    for server in started:
        server.close()


@pytest.fixture
def server(make_server: Callable[..., ModelServer]) -> ModelServer:
    return make_server()


@pytest.fixture(params=["vllm", "sglang"])
def either(request: pytest.FixtureRequest, make_server: Callable[..., ModelServer]) -> ModelServer:
    """A server of each kind."""
    return make_server(wire=request.param)


@pytest.fixture
def make_policy(folders: dict[str, Path]) -> Callable[..., VLMPolicy]:
    """The learner's own copy of the model."""

    def make(kind: str = "qwen3_vl", **kwargs: object) -> VLMPolicy:
        settings = {"lora_rank": 2, "max_new_tokens": 6, "threads": 1, "prompt": PROMPT, **kwargs}
        return load_policy(folders[kind], **settings)  # type: ignore[arg-type]

    return make


@pytest.fixture
def policy(make_policy: Callable[..., VLMPolicy]) -> VLMPolicy:
    return make_policy()


@pytest.fixture
def make_engine(policy: VLMPolicy) -> Iterator[MakeEngine]:
    """Engines for a server."""
    made: list[OpenAIEngine] = []

    def make(server: ModelServer, **kwargs: object) -> OpenAIEngine:
        settings = {
            "image_id": policy.encoder.image_id,
            "limits": SLOW,
            "wire": WIRES[server.wire],
            **kwargs,
        }
        made.append(OpenAIEngine(server.url, "tiny", **settings))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for engine in made:
        engine.close()


@pytest.fixture
def views() -> list[View]:
    """Of one picture and of two."""
    return [
        View(0, f"Enter row {i}", [picture(i), picture(9)][: 1 + i % 2], noise=70 + i,
             turns=[TURN][: i % 2])
        for i in range(4)
    ]  # fmt: skip
