"""Rollouts in the format of OpenEnv's `TrainingTrace` (``openenv.core.harness.training``, 0.10).

``{"schema_version": 1, "turns": [...]}``; a turn has its tokens (`prompt_token_ids`,
`completion_token_ids`, `per_token_logps`, a `loss_mask` over both), the `request` and `response`
as they went over the wire, and a `node_id`. Rewards are not part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.serving.rollouts import Rollout

VERSION = 1


def of_rollout(rollout: Rollout) -> dict[str, Any]:
    """What was sampled for a rollout and reached its agent, as a `TrainingTrace`."""
    with rollout.lock:
        kept = [s for s in rollout.samples if s.said is not None and s.delivered]
    turns = []
    for number, sample in enumerate(kept):
        assert sample.said is not None
        tokens = sample.said.tokens
        turns.append(
            {
                "node_id": f"{number}",
                "prompt_token_ids": list(tokens.prompt_ids),
                "completion_token_ids": list(tokens.output_ids),
                "per_token_logps": list(tokens.logprobs),
                "loss_mask": [0] * len(tokens.prompt_ids) + [1] * len(tokens.output_ids),
                "request": dict(sample.request),
                "response": sample.response.result(),
                "metadata": {
                    "temperature": tokens.temperature, "version": tokens.version,
                    "truncated": tokens.truncated, "images": list(tokens.images),
                },
            }
        )  # fmt: skip
    return {"schema_version": VERSION, "turns": turns}


def records(trace: Mapping[str, Any]) -> list[TokenRecord]:
    """The token records of a `TrainingTrace`, one a turn.

    What the mask leaves out of a completion has weight 0.

    Raises:
        UserError: it is none, or of another version.
    """
    if trace.get("schema_version") != VERSION:
        raise UserError(f"a trace of version {trace.get('schema_version')!r}: {VERSION} is read")
    try:
        return [_record(turn) for turn in trace["turns"]]
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"this is no TrainingTrace: {error!r}") from None


def _record(turn: Mapping[str, Any]) -> TokenRecord:
    prompt, sampled = tuple(turn["prompt_token_ids"]), tuple(turn["completion_token_ids"])
    logprobs, mask = tuple(turn["per_token_logps"]), list(turn["loss_mask"])
    if len(logprobs) != len(sampled) or len(mask) != len(prompt) + len(sampled):
        raise ValueError("its tokens, log-probabilities and mask differ in number")
    told = turn.get("metadata") or {}
    weights = tuple(float(value) for value in mask[len(prompt) :])
    return TokenRecord(
        prompt, sampled, logprobs, tuple(told.get("images", ())),
        weights=() if all(weights) else weights, temperature=float(told.get("temperature", 1.0)),
        version=int(told.get("version", 0)), truncated=bool(told.get("truncated", False)),
    )  # fmt: skip
