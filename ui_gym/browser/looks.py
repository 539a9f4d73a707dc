"""Looks: the same page as another house would have built it.

A look is a style sheet of its name in ``pages/looks``, which dresses what `kit.js` makes; `plain`
is what pages look like without one. What a look may not say, where things stand, is drawn beside
it (`ARRANGED`). Both are drawn by a hash of the episode's params: nothing else of it changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ui_gym.contract.arguments import choose
from ui_gym.contract.draws import pick

PLAIN = "plain"
DRESSED = ("material", "bootstrap", "enterprise", "dark", "nineties", "mobile")
"""The looks that have a style sheet."""
LOOKS = (PLAIN, *DRESSED)
HELD_OUT = ("bootstrap", "nineties")
"""The looks that nothing is trained on."""
DRAWN = {
    "varied": tuple(look for look in LOOKS if look not in HELD_OUT),
    "heldout": HELD_OUT,
    "any": LOOKS,
}
"""Words for several looks, of which each episode has one."""
ARRANGED = ("labels-beside", "side-right", "dense", "actions-first")
"""What may be arranged otherwise: labels beside their fields, the links on the right, rows closer
together, the button that goes on before the others."""


def check_look(look: str) -> str:
    """`look` if there is such a look, or such a word for several; else a `UserError`."""
    choose(look, (*LOOKS, *DRAWN), "look")
    return look


def dress(look: str, digest: int, *, compact: bool) -> dict[str, Any]:
    """What the page is told of its look: `look`, and `arranged` on a page of full size.

    Args:
        look: One look, which stands as it is; or a word of `DRAWN`.
        digest: Of the params of the episode.
    """
    if look == PLAIN:
        return {}
    if look not in DRAWN:
        return {"look": look}
    rng = np.random.default_rng((digest, 1))
    drawn = pick(rng, DRAWN[look])
    arranged = [name for name in ARRANGED if rng.random() < 0.4 and not compact]
    return {"look": drawn, "arranged": arranged}
