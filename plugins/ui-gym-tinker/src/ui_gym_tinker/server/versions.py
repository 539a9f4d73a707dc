"""Which versions of the SDK this server speaks with."""

from __future__ import annotations

import re

from ui_gym_tinker.server.errors import HttpRefusal

SPOKEN = (0, 38)
"""The protocol is known from the source of these versions alone."""


def check_sdk(version: str) -> None:
    """Refuse an SDK whose protocol may be another.

    Raises:
        HttpRefusal: (400) it is older or newer than what is known.
    """
    said = re.match(r"(\d+)\.(\d+)", version)
    numbers = (int(said[1]), int(said[2])) if said else (0, 0)
    if numbers == SPOKEN:
        return
    known = ".".join(map(str, SPOKEN))
    how = "older" if numbers < SPOKEN else "newer"
    raise HttpRefusal(
        400,
        f"tinker {version} is {how} than the {known} that this server speaks with: install "
        f'"tinker=={known}.*", or start the server with --any-sdk and see',
    )
