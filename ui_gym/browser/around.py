"""What stands around a page and has nothing to do with what is asked for (``pages/around.js``).

Advertisements have a column of their own, so that all of the page is there, but narrower. Their
pictures are drawn. A click on one covers the page with what it sells, until its "Back to the page"
is pressed. The bar about cookies lies over the page until it is answered, in whichever way.
Nothing is lost by either but steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ui_gym.browser.content.data import table
from ui_gym.contract.draws import pick

ADVERTS: list[dict[str, str]] = table("around")["adverts"]
COUNT = 2
"""How many of them there are beside a page."""
COOKIE_BARS: list[dict[str, str]] = table("around")["cookie_bars"]
PLACES = ("bottom", "corner", "middle")
"""Where the bar about cookies may be; in the middle, no click reaches the page."""
HUES = 12
"""How many colours a picture or a button may have."""


def drawn_adverts(digest: int) -> list[dict[str, Any]]:
    """Those of an episode, by the digest of its params: brand, claim, call, scene, and the hue (0
    to 359) and seed of the picture."""
    rng = np.random.default_rng((digest, 2))
    chosen = rng.choice(len(ADVERTS), size=COUNT, replace=False)
    return [
        {**ADVERTS[number], "hue": _hue(rng), "seed": int(rng.integers(1000))} for number in chosen
    ]


def drawn_cookie_bar(digest: int) -> dict[str, Any]:
    """That of an episode, by the digest of its params: title, text, the answers accept and reject,
    which of these comes first, place, and the hue (0 to 359) of the first."""
    rng = np.random.default_rng((digest, 3))
    return {
        **pick(rng, COOKIE_BARS),
        "place": pick(rng, PLACES),
        "first": ("accept", "reject")[int(rng.integers(2))],
        "hue": _hue(rng),
    }


def _hue(rng: np.random.Generator) -> int:
    return 360 // HUES * int(rng.integers(HUES))
