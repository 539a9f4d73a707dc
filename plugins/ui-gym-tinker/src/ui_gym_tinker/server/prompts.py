"""Requests for samples: what is asked for, and what is told of the prompt itself."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from tinker.types import SampleRequest

from ui_gym_agents.policy.generation import log_distribution, quantile, uniforms
from ui_gym_tinker.server import wire
from ui_gym_tinker.server.errors import BadRequest
from ui_gym_tinker.server.futures import Failure, Promised, ProtoResult
from ui_gym_tinker.server.hosted import HostedModel
from ui_gym_tinker.server.inputs import InputReader, ShownInput
from ui_gym_tinker.server.sampling import GrowingSample, SampleSettings, seed_of
from ui_gym_tinker.server.scoring import logits_of, logprobs_of
from ui_gym_tinker.server.snapshots import Snapshot

MASKED = -99999.0
"""What stands for no log-probability in lists of the likeliest tokens."""

MOST_SAMPLES = 1024

MOST_TOP = 1024


@dataclass(frozen=True)
class PromptQuestions:
    """What is asked of a prompt's own tokens; `targets` (tokens - 1, choices), -1 for nothing."""

    logprobs: bool = False
    top: int = 0
    last: int | None = None
    targets: np.ndarray | None = None
    targets_wire: Any = None
    alternatives: int = 0

    @property
    def any(self) -> bool:
        return self.logprobs or self.top > 0 or self.targets is not None or self.alternatives > 0


@dataclass(eq=False)
class SampleWork:
    """A request for samples on its way: from the answers' first token to the result."""

    promised: Promised
    model: HostedModel
    snapshot: Snapshot | None
    shown: ShownInput
    questions: PromptQuestions
    answers: list[GrowingSample] = field(default_factory=list)
    scores: wire.PromptScores = field(default_factory=wire.PromptScores)
    asked: bool = False
    """Whether the prompt's own scores are there."""
    record: Callable[[str, np.ndarray], None] | None = None
    """Keeps the log-probabilities of a sequence, by its id."""

    @property
    def weights(self) -> object:
        return self.model.name, id(self.snapshot)

    def fail(self, error: BaseException) -> None:
        if isinstance(error, BadRequest):
            self.promised.resolve(Failure(str(error), "user"))
        else:
            self.promised.resolve(Failure(f"{type(error).__name__}: {error}", "server"))

    def finish(self) -> None:
        """Resolve the future, if all is there."""
        if not (self.asked and all(answer.done for answer in self.answers)):
            return
        rows = [
            wire.SampledRow(
                answer.ids, answer.logprobs, answer.stopped,
                _as_arrays(answer.top, answer.settings.top) if answer.settings.top else None,
            )
            for answer in self.answers
        ]  # fmt: skip
        for number, row in enumerate(rows):
            if self.record is not None:
                self.record(
                    sequence_id(self.promised.request_id, number),
                    np.asarray(row.logprobs, dtype=np.float32),
                )
        self.promised.resolve(ProtoResult(wire.sample_result(rows, self.scores)))


def sequence_id(request_id: str, number: int) -> str:
    """What the sample of that number of a request is called."""
    return f"{request_id}:{number}"


def read_sample(
    request: SampleRequest, reader: InputReader, model: HostedModel
) -> tuple[ShownInput, list[GrowingSample], PromptQuestions]:
    """What a request asks for.

    Raises:
        BadRequest: it cannot be done.
    """
    shown = reader.read(wire.parts_of(request.prompt))
    if not 1 <= request.num_samples <= MOST_SAMPLES:
        raise BadRequest(f"num_samples is from 1 to {MOST_SAMPLES}, not {request.num_samples}")
    settings = _settings(request, model, shown)
    seed = request.sampling_params.seed
    seed = secrets.randbits(64) if seed is None else seed
    answers = [
        GrowingSample(shown, settings, seed_of(seed, number))
        for number in range(request.num_samples)
    ]
    return shown, answers, _questions(request, model, shown)


def _settings(request: SampleRequest, model: HostedModel, shown: ShownInput) -> SampleSettings:
    given = request.sampling_params
    room = model.max_context - len(shown)
    most = room if given.max_tokens is None else given.max_tokens
    if not 1 <= most <= room:
        raise BadRequest(
            f"a prompt of {len(shown)} tokens leaves room for {room} of the context's "
            f"{model.max_context}: max_tokens is from 1 to that, not {most}"
        )
    if not given.temperature >= 0:
        raise BadRequest(f"a temperature is 0 or more, not {given.temperature}")
    if not 0 < given.top_p <= 1:
        raise BadRequest(f"top_p is above 0, and 1 at most, not {given.top_p}")
    top_k = 0 if given.top_k in (-1, 0) else given.top_k
    if top_k < 0:
        raise BadRequest(f"top_k is 1 or more, or -1 for all, not {given.top_k}")
    ids, texts = _stops(given.stop, model)
    return SampleSettings(
        given.temperature, top_k, given.top_p, most, ids, texts,
        _top(request.topk_sample_logprobs, "topk_sample_logprobs", model),
    )  # fmt: skip


def _stops(stop: Any, model: HostedModel) -> tuple[frozenset[int], tuple[str, ...]]:
    """None: the model's own ends; else what is given, and nothing beside it."""
    if stop is None:
        return frozenset(model.policy.stops), ()
    given = [stop] if isinstance(stop, str) else list(stop)
    texts = tuple(one for one in given if isinstance(one, str))
    if "" in texts:
        raise BadRequest("a stop text is empty, and would end every answer at once")
    return frozenset(int(one) for one in given if not isinstance(one, str)), texts


def _top(count: int, name: str, model: HostedModel) -> int:
    most = min(MOST_TOP, model.vocabulary)
    if not 0 <= count <= most:
        raise BadRequest(f"{name} is from 0 to {most}, not {count}")
    return count


def _questions(request: SampleRequest, model: HostedModel, shown: ShownInput) -> PromptQuestions:
    last = request.prompt_logprobs_last_n
    if last is not None and not request.prompt_logprobs:
        raise BadRequest("prompt_logprobs_last_n goes with prompt_logprobs")
    if last is not None and not 1 <= last <= len(shown) - 1:
        raise BadRequest(
            f"prompt_logprobs_last_n is from 1 to {len(shown) - 1} for this prompt, not {last}"
        )
    given = request.target_prompt_logprobs
    targets = None if given is None else given.to_numpy(-1)
    if targets is not None:
        if targets.ndim != 2 or targets.shape[0] != len(shown) - 1:
            raise BadRequest(
                f"target_prompt_logprobs has the shape {targets.shape}, and not one row for each "
                f"of the {len(shown) - 1} tokens after the first"
            )
        if targets.min(initial=0) < -1 or targets.max(initial=0) >= model.vocabulary:
            raise BadRequest("target_prompt_logprobs holds ids that are no tokens of this model")
    return PromptQuestions(
        bool(request.prompt_logprobs),
        _top(request.topk_prompt_logprobs, "topk_prompt_logprobs", model),
        last, targets, given, _top(request.prompt_alt_tokens_k, "prompt_alt_tokens_k", model),
    )  # fmt: skip


@torch.inference_mode()
def score_prompt(work: SampleWork) -> wire.PromptScores:
    """What was asked of a prompt's tokens, with the weights that are at work now."""
    asked, shown, model = work.questions, work.shown, work.model
    suppressed = model.policy.suppressed
    logits = logits_of(model, [shown])[0][:-1]
    ids = torch.tensor(shown.prompt.ids[1:], device=logits.device)
    first = 0 if asked.last is None else len(shown) - 1 - asked.last
    logprobs = top = targets = alternatives = None
    if asked.logprobs:
        logprobs = np.full(len(shown), np.nan, dtype=np.float32)
        found = logprobs_of(logits, ids, suppressed).cpu().numpy()
        logprobs[1 + first :] = found[first:]
    if asked.top:
        values, likely = log_distribution(logits, 1.0, suppressed).topk(asked.top)
        top = _with_empty(likely.cpu().numpy(), values.cpu().numpy(), 1 + first)
    if asked.targets is not None:
        targets = _targets(logits, asked, suppressed)
    if asked.alternatives:
        alternatives = _alternatives(logits, work)
    return wire.PromptScores(logprobs, top, targets, alternatives)


def _targets(logits: torch.Tensor, asked: PromptQuestions, suppressed: torch.Tensor) -> Any:
    assert asked.targets is not None
    wanted = torch.from_numpy(np.ascontiguousarray(asked.targets)).to(logits.device)
    found = logprobs_of(logits, wanted.clamp(min=0), suppressed).cpu().numpy()
    found = np.where(asked.targets < 0, 0, found).astype(np.float32)
    given = asked.targets_wire
    message = wire.dense(found)
    if given.sparse_crow_indices is not None:
        counts = np.diff(given.sparse_crow_indices)
        rows, columns = np.repeat(np.arange(len(counts)), counts), given.sparse_col_indices
        message.sparse_csr.values = found[rows, columns].tobytes()
        message.sparse_csr.crow_indices = np.asarray(
            given.sparse_crow_indices, dtype=np.int64
        ).tobytes()
        message.sparse_csr.col_indices = np.asarray(columns, dtype=np.int64).tobytes()
    return message


def _alternatives(logits: torch.Tensor, work: SampleWork) -> tuple[np.ndarray, np.ndarray]:
    """Tokens drawn at each place of the prompt at the request's temperature, (tokens - 1, k)."""
    count, suppressed = work.questions.alternatives, work.model.policy.suppressed
    answer = work.answers[0]
    temperature = answer.settings.temperature
    drawn_from = log_distribution(logits, temperature, suppressed)
    noise = seed_of(answer.noise, -1)
    draws = torch.from_numpy(uniforms(noise, len(logits) * count)).to(logits.device)
    draws = draws.view(len(logits), count)
    if temperature == 0:
        ids = drawn_from.argmax(-1, keepdim=True).expand(-1, count)
    else:
        ids = torch.stack([quantile(drawn_from, draws[:, i]) for i in range(count)], dim=1)
    values = logprobs_of(logits, ids, suppressed)
    return ids.cpu().numpy(), values.cpu().numpy()


def _with_empty(ids: np.ndarray, values: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """With `rows` empty rows in front, in place of what stands there beyond the first of them."""
    empty_ids = np.zeros((rows, ids.shape[1]), dtype=np.int32)
    empty_values = np.full((rows, ids.shape[1]), MASKED, dtype=np.float32)
    kept = rows - 1
    return np.concatenate([empty_ids, ids[kept:]]), np.concatenate([empty_values, values[kept:]])


def _as_arrays(
    top: Sequence[tuple[list[int], list[float]]], count: int
) -> tuple[np.ndarray, np.ndarray]:
    ids = np.array([ids for ids, _ in top], dtype=np.int32).reshape(-1, count)
    values = np.array([values for _, values in top], dtype=np.float32).reshape(-1, count)
    return ids, np.maximum(values, MASKED)
