"""The tiny VLM's tokenizer: one token for each word that matters, bytes for all other text.

Text is cut at the given words; a word becomes its own token, anything else becomes its UTF-8
bytes, so that every text survives ``decode(encode(text))``. A word that starts with a letter or
digit has a twin with a space in front: ``3 Carl Abel`` is three tokens. Words match whole only:
``Carl`` is not cut out of ``Carlson``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

END = "<|im_end|>"
PAD = "<|endoftext|>"
IMAGE = "<|image_pad|>"
SPECIAL = (
    PAD, "<|im_start|>", END, "<|vision_start|>", "<|vision_end|>", IMAGE, "<|video_pad|>",
)  # fmt: skip
"""Qwen's special tokens, by Qwen's names."""

ROLES = ("system\n", "user\n", "assistant\n")
DIGITS = tuple("0123456789")
SYNTAX = ("click(", 'type("', '")', ")", "\n", '"', ", ", "press(", "scroll(", "wait(", "finish(")

CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    "{{ '<|im_start|>' + message.role + '\\n' }}"
    "{%- if message.content is string -%}{{ message.content }}{%- else -%}"
    "{%- for part in message.content -%}"
    "{%- if part.type == 'image' -%}{{ '<|vision_start|><|image_pad|><|vision_end|>' }}"
    "{%- else -%}{{ part.text }}{%- endif -%}"
    "{%- endfor -%}{%- endif -%}"
    "{{ '<|im_end|>\\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}"
)


def cell_words(columns: int, rows: int) -> list[str]:
    """The coordinate tokens of a grid: ``<x0>`` to ``<x{columns-1}>``, then the ``<y..>``."""
    return [f"<x{i}>" for i in range(columns)] + [f"<y{i}>" for i in range(rows)]


def build_tokenizer(words: Sequence[str], columns: int, rows: int) -> PreTrainedTokenizerFast:
    """A tokenizer in which each of `words` is one token, next to the syntax and the cells.

    Ids depend on `words` and their order alone. A word may be any non-empty text.
    """
    plain = list(dict.fromkeys([*SYNTAX, *ROLES, *DIGITS, *words, *cell_words(columns, rows)]))
    pieces = list(dict.fromkeys([*plain, *(" " + word for word in plain if word[:1].isalnum())]))
    vocab = {char: index for index, char in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    for piece in pieces:
        vocab.setdefault(_as_bytes(piece), len(vocab))

    # No merges: a piece that is in the vocabulary is taken whole, any other falls into bytes.
    core = Tokenizer(models.BPE(vocab=vocab, merges=[], ignore_merges=True))
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_pattern(pieces)), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in SPECIAL])
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        eos_token=END,
        pad_token=PAD,
        extra_special_tokens=[text for text in SPECIAL if text not in (END, PAD)],
        padding_side="left",
        clean_up_tokenization_spaces=False,
        chat_template=CHAT_TEMPLATE,
    )


def twins(tokenizer: PreTrainedTokenizerFast) -> list[tuple[int, int]]:
    """(id of a word, id of the word with a space in front), for every word that has both."""
    vocab = tokenizer.get_vocab()
    space = _as_bytes(" ")
    return sorted((vocab[t[1:]], i) for t, i in vocab.items() if t[0] == space and t[1:] in vocab)


def _as_bytes(text: str) -> str:
    """`text` in the alphabet of byte-level BPE: one printable character a UTF-8 byte."""
    ((piece, _),) = pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    ).pre_tokenize_str(text)
    return str(piece)


def _pattern(pieces: Iterable[str]) -> str:
    """A regex that finds the pieces, longest first, where no letter or digit touches a word."""
    parts = []
    for piece in sorted(pieces, key=lambda p: (-len(p), p)):
        before = r"(?<!\w)" if piece[0].isalnum() else ""
        after = r"(?!\w)" if piece[-1].isalnum() else ""
        parts.append(before + re.escape(piece).replace("\n", "n") + after)
    return "|".join(parts)
