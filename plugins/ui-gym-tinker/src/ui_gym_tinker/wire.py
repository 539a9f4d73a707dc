"""Token records as the Tinker API has them: prompts in chunks, and datums to learn from.

A prompt's run of placeholders becomes an `ImageChunk` of the picture, as PNG, bit by bit as it was
seen; the API counts as many tokens for it. A datum's input is prompt and answer without the last
token, and its targets are the tokens that follow each place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ui_gym.contract.device import Image
from ui_gym.errors import UserError
from ui_gym.remote.png import png
from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy.encoding import Recent
from ui_gym_agents.policy.wording import Wording
from ui_gym_agents.store import screenshot_hash

if TYPE_CHECKING:
    import tinker
    from tinker.types import ModelInput, ModelInputChunk

REMEMBERED = 512
"""Encoded pictures that are kept: each is shown in several turns."""


class TinkerWire:
    """Makes what is sent of tokens and pictures.

    Args:
        wording: Says which token stands for pictures, and how many of them for one.
    """

    def __init__(self, wording: Wording) -> None:
        self._encoder = wording.encoder
        self._encoded: Recent[str, bytes] = Recent(REMEMBERED)

    def prompt(self, ids: Sequence[int], images: Sequence[Image]) -> ModelInput:
        """A prompt, its runs of placeholders as pictures.

        Raises:
            UserError: the placeholders are not those of the pictures, or a picture of this model
                is more than one run of them.
        """
        from tinker import types

        chunks: list[ModelInputChunk] = []
        waiting = iter(images)
        at = 0
        while at < len(ids):
            if ids[at] != self._encoder.image_id:
                end = _next(ids, self._encoder.image_id, at)
                chunks.append(types.EncodedTextChunk(tokens=list(ids[at:end])))
            else:
                image = next(waiting, None)
                count = 0 if image is None else self._encoder.placeholders(image.shape[:2])
                end = at + count
                if image is None or list(ids[at:end]) != [self._encoder.image_id] * count:
                    raise UserError(
                        f"a prompt has other image tokens than its {len(images)} pictures: it was "
                        "made with another model or another limit of pixels"
                    )
                chunks.append(
                    types.ImageChunk(data=self._png(image), format="png", expected_tokens=count)
                )
            at = end
        if next(waiting, None) is not None:
            raise UserError(f"a prompt shows fewer than its {len(images)} pictures")
        return types.ModelInput(chunks=chunks)

    def datum(
        self,
        record: TokenRecord,
        picture: Callable[[str], Image],
        advantages: Sequence[float],
        *,
        sequence_mask: bool = False,
    ) -> tinker.types.Datum:
        """What is learned from a turn; `advantages` are one for each token of its answer.

        Args:
            record: The turn's tokens, as they were sampled.
            picture: Gives the picture of a hash.
            advantages: What each token of the answer counts; 0 leaves it out.
            sequence_mask: Name the tokens that a ratio of the whole answer is made of.
        """
        from tinker import types

        ids = (*record.prompt_ids, *record.output_ids)
        images = [picture(key) for key in record.images]
        before = len(record.prompt_ids) - 1
        answer = len(record.output_ids)

        def spread(values: Sequence[float]) -> NDArray[np.float32]:
            return np.concatenate([np.zeros(before), values]).astype(np.float32)

        inputs: dict[str, NDArray[Any]] = {
            "target_tokens": np.asarray(ids[1:], np.int64),
            "logprobs": spread(record.logprobs),
            "advantages": spread(advantages),
        }
        if sequence_mask:
            inputs["sequence_ratio_mask"] = spread([1.0] * answer)
        tensors = {name: types.TensorData.from_numpy(value) for name, value in inputs.items()}
        return types.Datum(model_input=self.prompt(ids[:-1], images), loss_fn_inputs=tensors)

    def _png(self, image: Image) -> bytes:
        key = screenshot_hash(image)
        encoded = self._encoded.get(key)
        if encoded is None:
            encoded = png(image)
            self._encoded.put(key, encoded)
        return encoded


def _next(ids: Sequence[int], wanted: int | None, start: int) -> int:
    """Where `wanted` comes next; the end, if nowhere."""
    try:
        return list(ids).index(wanted, start)  # type: ignore[arg-type]
    except ValueError:
        return len(ids)
