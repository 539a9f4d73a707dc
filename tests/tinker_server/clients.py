"""What tests of the server share: pictures as files, prompts as chunks, data, and clients."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tinker
from PIL import Image as PilImage
from tinker import types

from tests.policy.tiny_models import picture
from ui_gym.contract.device import Image
from ui_gym_agents.agents.agent import View
from ui_gym_agents.engines.protocol import EngineQuestion
from ui_gym_agents.episode import Turn
from ui_gym_agents.policy import PromptBuilder, VLMPolicy, load_policy
from ui_gym_tinker.server import TinkerServer

SECONDS = 60.0
"""How long a result may take."""

TWO_PICTURES = PromptBuilder(system="Look.", history=2, recall=2)

MakeServer = Callable[..., TinkerServer]


@contextmanager
def client_of(server: TinkerServer, **more: Any) -> Iterator[tinker.ServiceClient]:
    """A client of a server; its session is finished at the end."""
    client = tinker.ServiceClient(base_url=server.url, api_key=server.key, **more)
    try:
        yield client
    finally:
        client.close("success").result(SECONDS)


def trainer_of(client: tinker.ServiceClient, model: str = "tiny-clerk", **more: Any) -> Any:
    """A new training run, of rank 4 and seed 0 unless told otherwise."""
    return client.create_lora_training_client(model, **{"rank": 4, "seed": 0, **more}).result()


def file_of(image: Image, kind: str = "png") -> bytes:
    """A picture as a PNG or JPEG."""
    written = io.BytesIO()
    PilImage.fromarray(image).save(written, kind.upper())
    return written.getvalue()


def question_of(policy: VLMPolicy, goal: str, seeds: Sequence[int]) -> EngineQuestion:
    """What a policy would be asked, with pictures that are functions of their seeds."""
    images = [picture(seed) for seed in seeds]
    turns = [Turn(screenshot_id=str(i), action_text=f"{i} Carl") for i in range(len(images) - 1)]
    view = View(slot=0, goal=goal, screenshots=images, turns=turns, noise=0)
    return policy.question(view)


def input_of(policy: VLMPolicy, question: EngineQuestion) -> types.ModelInput:
    """A question as chunks: each picture from its first placeholder to its last."""
    image_id = policy.encoder.image_id
    blank = policy.encoder.encode(
        [{"role": "user", "content": [{"type": "image"}]}],
        [image.shape[:2] for image in question.images[:1]],
    ) if question.images else []  # fmt: skip
    places = [i for i, token in enumerate(blank) if token == image_id]
    run = places[-1] + 1 - places[0] if places else 0
    ids, chunks = list(question.ids), []
    for image in question.images:
        at = ids.index(image_id)
        chunks.append(types.EncodedTextChunk(tokens=ids[:at]))
        chunks.append(types.ImageChunk(data=file_of(image), format="png", expected_tokens=run))
        ids = ids[at + run :]
    return types.ModelInput(chunks=[*chunks, types.EncodedTextChunk(tokens=ids)])


def text_of(*tokens: int) -> types.ModelInput:
    return types.ModelInput(chunks=[types.EncodedTextChunk(tokens=list(tokens))])


def sampled(
    client: Any, prompt: types.ModelInput, count: int = 1, **params: Any
) -> list[types.SampledSequence]:
    """What a sampling client samples; 8 tokens and seed 7 unless told otherwise."""
    settings = types.SamplingParams(**{"max_tokens": 8, "seed": 7, **params})
    return list(client.sample(prompt, count, settings).result(SECONDS).sequences)


def turn_datum(
    prompt: types.ModelInput, tokens: Sequence[int], **inputs: Sequence[float]
) -> types.Datum:
    """A datum of an answer; `inputs` are of its tokens, and 0 at the prompt's."""
    whole = prompt
    if len(tokens) > 1:
        whole = prompt.append(types.EncodedTextChunk(tokens=list(tokens[:-1])))
    before = prompt.length - 1
    targets = np.array([0] * before + list(tokens), dtype=np.int64)
    filled = {
        name: np.array([0.0] * before + list(values), dtype=np.float32)
        for name, values in inputs.items()
    }
    return types.Datum(model_input=whole, loss_fn_inputs={"target_tokens": targets, **filled})


def logprobs_in(output: types.ForwardBackwardOutput, number: int, tokens: int) -> np.ndarray:
    """The log-probabilities of the last `tokens` targets of a datum."""
    found = np.asarray(output.loss_fn_outputs[number]["logprobs"].to_numpy())
    return found[len(found) - tokens :]


def adapter_folder(server: TinkerServer, path: str) -> Path:
    """Where a checkpoint lies."""
    run, kind, name = path.removeprefix("tinker://").split("/")
    return Path(server.checkpoints) / run.replace(":", "_") / kind / name


def policy_with(server: TinkerServer, path: str, model: str | Path = "tiny-clerk") -> VLMPolicy:
    """A policy in this process, with the adapter of a checkpoint."""
    return load_policy(
        model, adapter=adapter_folder(server, path), threads=1, prompt=TWO_PICTURES,
        max_new_tokens=8,
    )  # fmt: skip


def shaken(trainer: Any, policy: VLMPolicy, steps: int = 2) -> None:
    """Train a little on nonsense, so that the adapter changes something."""
    prompt = input_of(policy, question_of(policy, "Enter row 3", [1]))
    tokens = [int(i) for i in np.random.default_rng(0).integers(10, 200, 6)]
    datum = turn_datum(prompt, tokens, weights=[1.0] * 6)
    for _ in range(steps):
        trainer.forward_backward([datum], "cross_entropy")
        trainer.optim_step(types.AdamParams(learning_rate=0.02)).result(SECONDS)
