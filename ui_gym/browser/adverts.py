"""Advertisements: what stands beside a page and has nothing to do with what is asked for.

They stand in a column of their own (``pages/adverts.js``), so that all of the page is there, but
narrower. Their pictures are drawn. A click on one covers the page with what it sells, until its
"Back to the page" is pressed; nothing is lost by it but steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ui_gym.browser.content.data import table

COUNT = 2
HUES = 12
"""How many colours a picture may have."""
ADVERTS: list[dict[str, str]] = table("adverts")["adverts"]


def drawn_adverts(digest: int) -> list[dict[str, Any]]:
    """Those of an episode, by the digest of its params: brand, claim, call, scene, and the hue (0
    to 359) and seed of the picture."""
    rng = np.random.default_rng((digest, 2))
    chosen = rng.choice(len(ADVERTS), size=COUNT, replace=False)
    return [
        {
            **ADVERTS[number],
            "hue": 360 // HUES * int(rng.integers(HUES)),
            "seed": int(rng.integers(1000)),
        }
        for number in chosen
    ]
