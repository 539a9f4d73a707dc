"""An image-only processor for the Qwen-VL family, and a text-only one for language models.

The first does without torchvision. Qwen's own processors cannot be built where torchvision is
missing, since they insist on a video processor (transformers 5.2x: ``AttributeError`` about
``VIDEO_PROCESSOR_MAPPING``). This one is the same in all that concerns text and images.

`AutoProcessor.from_pretrained` on a folder whose ``processor_class`` it does not know returns the
bare tokenizer, silently. So the folder keeps the stock name, which AutoProcessor understands where
torchvision is installed, and this package loads such folders through `load` here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.models.qwen3_vl import Qwen3VLProcessor
from transformers.processing_utils import ProcessorMixin

FAMILY = frozenset({"qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe"})
"""The ``model_type`` values whose pictures and placeholders this processor makes."""


class ImageOnlyProcessor(Qwen3VLProcessor):
    """Qwen's processor without its video half."""

    def __init__(
        self,
        image_processor: Any = None,
        tokenizer: Any = None,
        chat_template: str | None = None,
        **kwargs: Any,
    ) -> None:
        ProcessorMixin.__init__(self, image_processor, tokenizer, chat_template=chat_template)
        for role in ("image", "video"):
            self._name_token(role + "_token", f"<|{role}_pad|>")
        for role in ("vision_start", "vision_end"):
            self._name_token(role + "_token", f"<|{role}|>")

    def _name_token(self, attribute: str, text: str) -> None:
        setattr(self, attribute, text)
        setattr(self, attribute + "_id", self.tokenizer.convert_tokens_to_ids(text))


def load(directory: str | Path) -> ImageOnlyProcessor:
    """The processor of a Qwen-VL folder, from its tokenizer and image processor."""
    tokenizer = AutoTokenizer.from_pretrained(directory)
    images = Qwen2VLImageProcessorPil.from_pretrained(directory)
    return ImageOnlyProcessor(images, tokenizer, chat_template=tokenizer.chat_template)


def save(processor: ImageOnlyProcessor, directory: str | Path) -> None:
    """Write tokenizer, template and image settings under the names that stock loaders read."""
    processor.tokenizer.save_pretrained(directory)
    processor.image_processor.save_pretrained(directory)


class TextProcessor:
    """A language model's tokenizer in the place of a processor: it makes no pictures.

    Templates of language models take a message's content as one text, not as parts.
    """

    image_processor = None
    image_token_id = None

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def apply_chat_template(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> Any:
        """As the tokenizer's, of messages whose contents are lists of parts."""
        plain = [
            {**m, "content": "".join(part["text"] for part in m["content"] if "text" in part)}
            for m in messages
        ]
        return self.tokenizer.apply_chat_template(plain, **options)

    def __call__(self, text: Any, images: None = None, **options: Any) -> Any:
        """The tokenizer's answer."""
        return self.tokenizer(text, **options)

    def save_pretrained(self, directory: str | Path) -> None:
        """Write the tokenizer's files."""
        self.tokenizer.save_pretrained(directory)
