"""What tasks of choosing and filling in share: what is drawn, what is taken for what, and how much
is done."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from ui_gym.contract.draws import pick


def chosen(pool: Sequence[str], count: int, rng: np.random.Generator) -> list[str]:
    """`count` different ones of a pool, or all that there are.

    Draws otherwise than `ui_gym.contract.draws.some`, and stays as it is for the sake of seeds.
    """
    picked = rng.choice(len(pool), size=min(count, len(pool)), replace=False)
    return [pool[int(i)] for i in picked]


def likeness(one: str, other: str) -> float:
    """How alike two texts look, 0 to 1."""
    return difflib.SequenceMatcher(None, one, other).ratio()


def lookalike(wanted: str, texts: Sequence[str], besides: Collection[int] = ()) -> int:
    """The index of the text that looks most like `wanted`, none of `besides`, and not `wanted`."""
    left = [i for i, text in enumerate(texts) if i not in besides and text != wanted]
    return max(left, key=lambda i: likeness(wanted, texts[i]))


def changed_share(
    before: Sequence[object], asked: Sequence[object], now: Sequence[object]
) -> float:
    """How much of the way from `before` to `asked` lies behind `now`, 0 to 1; what was changed
    without need takes of it."""
    needed = sum(b != a for b, a in zip(before, asked, strict=True))
    left = sum(n != a for n, a in zip(now, asked, strict=True))
    return max(0.0, 1 - left / max(1, needed))


def otherwise(labels: Iterable[str], asked: Iterable[object], now: Iterable[object]) -> list[str]:
    """What is not as asked, by its label: ``Size: 'L', not 'M'``."""
    return [
        f"{label}: {got!r}, not {want!r}"
        for label, want, got in zip(labels, asked, now, strict=True)
        if got != want
    ]


def typo(text: str, rng: np.random.Generator) -> str:
    """`text` with two unlike neighbours swapped, or its last letter lost."""
    unlike = [i for i in range(len(text) - 1) if text[i] != text[i + 1]]
    if not unlike or rng.random() < 0.5:
        return text[:-1]
    i = pick(rng, unlike)
    return text[:i] + text[i + 1] + text[i] + text[i + 2 :]
