"""The first tokens of a prompt, whose keys and values are there already."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor


@dataclass(frozen=True)
class Beginning:
    """The first tokens of a prompt after their pass, without padding.

    `ids` (tokens,) and the hashes of the pictures among them; `places` are where each picture's
    placeholders begin and end, `grids` as in `Features`. `layers` are keys and values, each
    (heads, tokens, width).
    """

    ids: np.ndarray
    images: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    grids: tuple[tuple[int, int, int] | None, ...]
    layers: tuple[tuple[Tensor, Tensor], ...]

    @property
    def nbytes(self) -> int:
        return sum(t.numel() * t.element_size() for layer in self.layers for t in layer)

    def first(self, tokens: int, pictures: int) -> Beginning:
        """The beginning of so many tokens, which hold so many pictures. Nothing is copied."""
        return Beginning(
            self.ids[:tokens],
            self.images[:pictures],
            self.places[:pictures],
            self.grids[:pictures],
            tuple((keys[:, :tokens], values[:, :tokens]) for keys, values in self.layers),
        )
