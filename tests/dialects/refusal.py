"""How the tests of all dialects say that a text is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ui_gym.errors import ActionError


@contextmanager
def refused(kind: str, message: str) -> Iterator[None]:
    """What is done must raise an `ActionError` of this kind that says `message`."""
    with pytest.raises(ActionError) as caught:
        yield
    assert message in str(caught.value), str(caught.value)
    assert caught.value.kind == kind, f"{caught.value.kind}: {caught.value}"
