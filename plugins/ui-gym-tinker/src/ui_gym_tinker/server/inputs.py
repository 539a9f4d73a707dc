"""What a request shows the model: chunks of tokens and pictures as one sequence of ids.

A picture's chunk stands for the run of ids from its first placeholder to its last, as the model's
own processor writes it; what the template puts around it (``<|vision_start|>`` and the like) is
text. So the ids of a prompt, cut at each picture's first and last placeholder, are its chunks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ui_gym.contract.device import Image
from ui_gym.errors import UserError
from ui_gym_agents.policy import VLMPolicy
from ui_gym_agents.policy.forward import Prompt
from ui_gym_tinker.server.errors import BadRequest
from ui_gym_tinker.server.pictures import Pictures

Size = tuple[int, int]


@dataclass(frozen=True)
class TextPart:
    """Tokens of a model input."""

    tokens: Sequence[int]


@dataclass(frozen=True)
class PicturePart:
    """A picture of a model input: its file, and how many ids the client thinks it takes."""

    data: bytes
    kind: str
    expected_tokens: int | None


Part = TextPart | PicturePart


@dataclass(frozen=True)
class ShownInput:
    """A model input as the model reads it: `prompt`, and its pictures by their hash."""

    prompt: Prompt
    pictures: Mapping[str, Image]

    def __len__(self) -> int:
        return len(self.prompt.ids)


class ShownPictures:
    """The pictures of several inputs, as a source of screenshots."""

    def __init__(self, inputs: Sequence[ShownInput]) -> None:
        self._images = {key: image for one in inputs for key, image in one.pictures.items()}

    def get(self, key: str) -> Image:
        return self._images[key]


class Reads(Protocol):
    """What is needed of a hosted model."""

    policy: VLMPolicy
    vocabulary: int
    max_context: int


class InputReader:
    """Reads model inputs for a model. For one thread."""

    def __init__(self, model: Reads, pictures: Pictures) -> None:
        self._model = model
        self._pictures = pictures
        self._runs: dict[Size, tuple[int, ...]] = {}

    def read(self, parts: Sequence[Part]) -> ShownInput:
        """The ids and pictures of `parts`.

        Raises:
            BadRequest: it is empty or too long, an id is none of the model's or poses as a
                picture's, or a picture is not what the client took it for.
        """
        ids: list[int] = []
        keys: list[str] = []
        images: dict[str, Image] = {}
        for number, part in enumerate(parts):
            if len(ids) > self._model.max_context:
                break  # before more pictures are decoded
            if isinstance(part, TextPart):
                ids += self._text(number, part)
                continue
            picture = self._pictures.decode(part.data, part.kind)
            run = self.run(picture.size)
            if part.expected_tokens not in (None, len(run)):
                height, width = picture.size
                raise BadRequest(
                    f"chunk {number}: a picture of {width}x{height} takes {len(run)} tokens of "
                    f"this model, not the expected_tokens={part.expected_tokens}"
                )
            ids += run
            keys.append(picture.key)
            images[picture.key] = picture.image
        if not ids:
            raise BadRequest("a model input has no tokens: send one at least")
        if len(ids) > self._model.max_context:
            raise BadRequest(
                f"a model input of {len(ids)} tokens is longer than the context of "
                f"{self._model.max_context} tokens: shorten it"
            )
        return ShownInput(Prompt(tuple(ids), tuple(keys)), images)

    def run(self, size: Size) -> tuple[int, ...]:
        """The ids from the first placeholder of a picture of `size` to the last.

        Raises:
            BadRequest: the model sees no pictures.
        """
        if size not in self._runs:
            encoder = self._model.policy.encoder
            try:
                whole = encoder.encode([{"role": "user", "content": [{"type": "image"}]}], [size])
            except UserError as error:
                raise BadRequest(f"a picture cannot be shown: {error}") from None
            places = [i for i, token in enumerate(whole) if token == encoder.image_id]
            self._runs[size] = tuple(whole[places[0] : places[-1] + 1])
        return self._runs[size]

    def _text(self, number: int, part: TextPart) -> list[int]:
        vocabulary, image_id = self._model.vocabulary, self._model.policy.encoder.image_id
        tokens = [int(token) for token in part.tokens]
        for token in tokens:
            if not 0 <= token < vocabulary:
                raise BadRequest(
                    f"chunk {number}: {token} is no token of this model, whose ids end at "
                    f"{vocabulary - 1}: encode with the tokenizer of get_info"
                )
            if token == image_id:
                raise BadRequest(
                    f"chunk {number}: {token} is the placeholder of a picture, which a text may "
                    "not hold: send the picture as an image chunk"
                )
        return tokens
