"""Data of a training request: chunks, targets and the loss's inputs, checked against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from ui_gym.errors import nearest
from ui_gym_tinker.server import wire
from ui_gym_tinker.server.errors import BadRequest
from ui_gym_tinker.server.inputs import InputReader, ShownInput
from ui_gym_tinker.server.losses import INPUTS, Loss, choose
from ui_gym_tinker.server.training import TrainingDatum

Recorded = Mapping[str, np.ndarray]
"""The log-probabilities of sequences that were sampled, (tokens,) float32, by their ids."""


def read_data(
    request: wire.PassRequest, reader: InputReader, vocabulary: int, recorded: Recorded
) -> list[TrainingDatum]:
    """What a request wants to be learned from.

    Raises:
        BadRequest: a datum makes no sense; says which, and why.
    """
    loss, _ = choose(request.loss, request.config)
    found = []
    for number, datum in enumerate(wire.data_of(request)):
        try:
            shown = reader.read(datum.parts)
            inputs = dict(datum.inputs)
            if request.loss == "stable_reinforce" and "logprobs" not in inputs and datum.spans:
                length = sum(span.length for span in datum.spans)
                if length != len(shown):
                    raise BadRequest(f"its spans have {length} targets, not {len(shown)}")
                inputs["logprobs"] = logprobs_of_spans(datum.spans, recorded)
            tensors = {name: torch.from_numpy(array) for name, array in inputs.items()}
            found.append(_datum(shown, tensors, loss, vocabulary))
        except BadRequest as error:
            raise BadRequest(f"datum {number}: {error}") from None
    return found


def logprobs_of_spans(spans: Sequence[wire.Span], recorded: Recorded) -> np.ndarray:
    """What was recorded of the sequences that a datum's targets are from; 0 at prompts.

    Raises:
        BadRequest: nothing was, or less than is asked for.
    """
    found = []
    for span in spans:
        if span.sequence_id is None:
            found.append(np.zeros(span.length, dtype=np.float32))
            continue
        known = recorded.get(span.sequence_id)
        if known is None:
            raise BadRequest(
                f"nothing was recorded of the sequence {span.sequence_id!r} in this session: "
                "sample with record_stability_info=True"
            )
        part = known[span.offset : span.offset + span.length]
        if len(part) != span.length:
            raise BadRequest(
                f"the sequence {span.sequence_id!r} has {len(known)} tokens, and a span of it "
                f"names those from {span.offset} to {span.offset + span.length}"
            )
        found.append(part)
    return np.concatenate(found)


def _datum(
    shown: ShownInput, tensors: Mapping[str, torch.Tensor], loss: Loss, vocabulary: int
) -> TrainingDatum:
    """A datum whose tensors go together."""
    targets = tensors.get("target_tokens")
    if targets is None:
        raise BadRequest("it has no target_tokens")
    if targets.dtype != torch.int64 or targets.dim() not in (1, 2) or len(targets) != len(shown):
        raise BadRequest(
            f"target_tokens of the shape {tuple(targets.shape)} do not go with a model_input of "
            f"{len(shown)} tokens: one target (or row of targets) for each of them, those of "
            "pictures included"
        )
    if len(targets) and not 0 <= int(targets.min()) <= int(targets.max()) < vocabulary:
        raise BadRequest("target_tokens holds ids that are no tokens of this model")
    unknown = [name for name in tensors if name not in INPUTS]
    if unknown:
        raise BadRequest(f"no loss takes {unknown[0]!r}. {nearest(unknown[0], INPUTS)}")
    missing = [name for name in loss.required if name not in tensors]
    if missing:
        raise BadRequest(f"it has no {' and no '.join(missing)}, which its loss needs")
    inputs = {}
    for name in (*loss.required, *loss.optional):
        value = tensors.get(name)
        if value is None:
            continue
        if value.shape != targets.shape:
            raise BadRequest(
                f"{name} has the shape {tuple(value.shape)}, and target_tokens "
                f"{tuple(targets.shape)}"
            )
        inputs[name] = value.float()
    return TrainingDatum(shown, targets, inputs)
