"""Log-probabilities at every position of a model input, of whatever targets are asked for.

The distribution is the one that answers are sampled from: the structural ids (pictures' tokens,
padding, turns' beginnings) are left out of it. A target that is such an id itself is scored by the
whole distribution, so that every number is finite.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ui_gym_agents.policy.generation import log_distribution
from ui_gym_agents.policy.merging import Merged
from ui_gym_tinker.server.hosted import HostedModel
from ui_gym_tinker.server.inputs import ShownInput, ShownPictures


def logits_of(model: HostedModel, inputs: Sequence[ShownInput]) -> list[Tensor]:
    """The logits (tokens, vocabulary) after each token of each of `inputs`, in one pass."""
    policy = model.policy
    keys = [key for one in inputs for key in one.prompt.images]
    features = policy.eyes.look(keys, ShownPictures(inputs))
    end = (policy.forward.pad_id,)  # what would come next, which is not read
    rows = [
        Merged((*one.prompt.ids, *end), one.prompt.images, (0,), ((1, len(one) + 1),))
        for one in inputs
    ]
    return [found[0] for found in policy.forward.sequence_logits(rows, features)]


def logprobs_of(logits: Tensor, targets: Tensor, suppressed: Tensor) -> Tensor:
    """The log-probability of each of `targets` (tokens,) or (tokens, choices), float32.

    `logits` is (tokens, vocabulary); `suppressed` (vocabulary,) is true for ids that are never
    sampled.
    """
    wide = targets if targets.dim() == 2 else targets[:, None]
    never = suppressed[wide]
    found = log_distribution(logits, 1.0, suppressed).gather(-1, wide.masked_fill(never, 0))
    rows = never.any(-1).nonzero()[:, 0]
    if len(rows):
        whole = torch.log_softmax(logits[rows].float(), dim=-1).gather(-1, wide[rows])
        found = found.index_copy(0, rows, torch.where(never[rows], whole, found[rows]))
    return found if targets.dim() == 2 else found[:, 0]
