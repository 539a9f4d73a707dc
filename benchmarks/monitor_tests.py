"""What the benchmarks of the monitor share with its tests: a tab in Chromium, and made runs."""

from __future__ import annotations

import sys
from pathlib import Path

_TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(_TESTS), str(_TESTS / "monitor"), str(_TESTS / "monitor" / "browser")]

from made_runs import MadeRun  # noqa: E402
from watched_page import Browser, WatchedPage  # noqa: E402

__all__ = ["Browser", "MadeRun", "WatchedPage"]
