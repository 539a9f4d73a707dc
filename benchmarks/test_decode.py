"""A token of an answer by `policy.decode`, beside the same model's forward in transformers.

Nine tokens after prompts with a picture each, by the main job's model, its adapter added to the
weights, on one thread, for as many rows as one, half and all of 24 slots ask for. What precedes the
first token (finding out whether the model is known, room for keys) counts with them. Both take
turns, round by round; `times_ui-gym` is the median over the rounds of a round's CPU time divided by
ours in the same round. A busy machine stretches it less than the clock's.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from ui_gym_agents.agents.agent import View
from ui_gym_agents.policy import VLMPolicy, load_policy, lora
from ui_gym_agents.policy.decode import Lean, lean
from ui_gym_agents.policy.forward import Prefix, Prompt
from ui_gym_agents.policy.images import Given

TOKENS, ROUNDS = 9, 40
OURS = "ui-gym"
WAYS = (OURS, "transformers")

Make = Callable[[], Prefix]


def made(policy: VLMPolicy, rows: int) -> Make:
    """Passes over the same prompts."""
    random = np.random.default_rng(rows)
    pictures = Given()
    prompts = []
    for _ in range(rows):
        picture = random.integers(0, 256, (256, 320, 3), dtype=np.uint8)
        question = policy.question(View(0, "Enter the data of row 3", [picture]))
        prompts.append(Prompt(question.ids, (pictures.add(picture),)))
    features = policy.eyes.look([key for p in prompts for key in p.images], pictures)
    return lambda: policy.forward.prefill(prompts, features)


def decode(policy: VLMPolicy, way: str, prefix: Prefix, tokens: torch.Tensor) -> Sequence[Any]:
    """Logits after each of `tokens` (rows,), taken for the answer's next token every time."""
    if way == OURS:
        decoder = lean(policy.base, prefix)
        assert isinstance(decoder, Lean)
        return [decoder.step(tokens, done) for done in range(TOKENS)]
    extend = policy.forward.extend
    return [extend(prefix, tokens[:, None], done=done)[:, -1] for done in range(TOKENS)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rows", [1, 12, 24])
def test_decode(benchmark: Any, rows: int, way: str) -> None:
    policy = load_policy("tiny-clerk", lora_rank=16, threads=1)
    pair = (way, OURS if way != OURS else WAYS[1])
    seconds: dict[str, list[float]] = {name: [] for name in pair}
    tokens = torch.arange(rows)
    with torch.inference_mode(), lora.merged(policy.base):
        prefix = made(policy, rows)
        found = [decode(policy, name, prefix(), tokens) for name in pair]
        assert all(map(torch.equal, *found))

        def once(name: str, given: Prefix) -> None:
            started = time.thread_time()
            decode(policy, name, given, tokens)
            seconds[name].append(time.thread_time() - started)

        def setup() -> tuple[tuple[str, Prefix], dict[str, Any]]:
            once(pair[1], prefix())
            return (way, prefix()), {}

        benchmark.group, benchmark.name = f"a token of {rows} rows of a tiny model", way
        benchmark.pedantic(once, setup=setup, rounds=ROUNDS)
    cpu = {name: statistics.median(each) / TOKENS for name, each in seconds.items()}
    benchmark.extra_info |= {
        "per_second": round(TOKENS / benchmark.stats.stats.median, 1),
        "cpu_ms": round(1000 * cpu[way], 3),
    }
    if way != OURS:
        pairs = zip(seconds[way], seconds[OURS], strict=True)
        ratio = round(statistics.median(a / b for a, b in pairs), 2)
        benchmark.extra_info["times_ui-gym"] = ratio
