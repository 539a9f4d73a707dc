"""Comparisons with other implementations: ``tox -e peers``. They take minutes, and drivers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent

sys.path.insert(0, str(FOLDER))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("UI_GYM_PEERS"):
        return
    reason = "a comparison with a peer: run `tox -e peers`, or set UI_GYM_PEERS=1"
    for item in items:
        if FOLDER in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=reason))
