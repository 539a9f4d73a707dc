"""Tiers of tests: which folder belongs to which, and what a bare `pytest` runs.

Each test has one marker of `TIERS`, by the folder or file that it lies in; ``nightly`` is set by
hand on what is long or repeated on purpose, and comes on top of its tier:

=========  ==================================================================================
fast       no browser, no desktop, no torch: what a bare ``pytest`` runs, by several processes
browser    plays in Chromium
desktop    plays in X sessions with applications
learn      needs torch: policies, engines, trainers, runs
nightly    all levels of all families, corpora, fuzz, long proofs
=========  ==================================================================================

``pytest tests/browser`` and ``pytest -m browser`` run what is named, but nightly tests. ``pytest -m
nightly`` runs those alone; an ``-m`` that names them is taken as it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent

TIERS = ("fast", "browser", "desktop", "learn")

FOLDERS = {
    "bench/test_bench_for_real.py": "learn",
    "browser": "browser",
    "campaign": "learn",
    "desktop": "desktop",
    "core_cli/test_export.py": "browser",
    "core_cli/test_mcp.py": "browser",
    "engines": "learn",
    "evaluation/osworld/test_x11.py": "desktop",
    "remote/test_ui_verifiers.py": "browser",
    "evaluation/test_eval_cli.py": "browser",
    "fuzz/test_fuzz_policy_server.py": "learn",
    "integrations": "browser",
    "integrations/test_cookbook.py": "learn",
    "integrations/test_lerobot.py": "learn",
    "integrations/test_skyrl.py": "learn",
    "integrations/test_grid_examples.py": "learn",
    "integrations/test_trl.py": "learn",
    "integrations/test_trl_rollouts.py": "learn",
    "integrations/test_verl.py": "learn",
    "monitor/browser": "browser",
    "multiagent": "browser",
    "multiagent/test_documents.py": "fast",
    "multiagent/test_tiny.py": "learn",
    "peers": "browser",
    "plugins": "learn",
    "policy": "learn",
    "sb3": "learn",
    "test_docs.py": "browser",
    "tinker": "learn",
    "tinker_server": "learn",
    "training/test_tensors.py": "learn",
}
"""What lies in none of these is fast."""

BUDGET = 10.0
"""Seconds that a phase of a test without ``nightly`` may take on an otherwise quiet machine."""

NIGHTLY_TIMEOUT = 1800
"""Seconds after which a nightly test counts as hanging, however busy the machine is."""


def tier_of(path: Path) -> str:
    """The tier of a test file."""
    try:
        name = path.relative_to(ROOT).as_posix()
    except ValueError:
        return "fast"
    found = [folder for folder in FOLDERS if name == folder or name.startswith(f"{folder}/")]
    return FOLDERS[max(found, key=len)] if found else "fast"


def mark(items: Iterable[pytest.Item]) -> None:
    """Give every test the marker of its tier, and time to nightly ones."""
    for item in items:
        item.add_marker(tier_of(item.path))
        if item.get_closest_marker("nightly") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(NIGHTLY_TIMEOUT))


def workers() -> int:
    """How many processes share the tests: one more than there are cores, as some tests wait for
    browsers and deadlines; no more than four."""
    return min((os.cpu_count() or 1) + 1, 4)


def choose(config: pytest.Config) -> None:
    """What runs where nobody said it: the fast tests, or those that were named; no nightly ones
    where they are not spoken of."""
    if hasattr(config, "workerinput"):  # a worker of xdist does what it is told
        config.option.markexpr = config.workerinput["markexpr"]
        return
    asked = config.option.markexpr
    if asked and "nightly" not in asked:
        config.option.markexpr = f"({asked}) and not nightly"
    if asked or any("::" in argument for argument in config.args):
        return
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    config.option.markexpr = "not nightly" if named else "fast and not nightly"
    can_spread = config.pluginmanager.hasplugin("xdist") and not config.option.usepdb
    if not named and can_spread and config.option.numprocesses is None:
        config.option.numprocesses = workers()
        config.option.dist = "worksteal"


class Budget:
    """Tells at the end which tests without ``nightly`` took longer than they should.

    The seconds are those of a quiet machine: under load, tests are given as much longer. Nothing
    fails for it, since a machine may be slow for reasons of its own.
    """

    def __init__(self, seconds: float = BUDGET) -> None:
        self._seconds = seconds
        self._over: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        crowd = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        if report.duration > self._seconds * crowd and "nightly" not in report.keywords:
            self._over.append(
                f"{report.nodeid} ({report.when}): {report.duration:.1f} s, load x{crowd:.1f}"
            )

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._over:
            terminalreporter.section(f"over the budget of {self._seconds:g} s")
            for line in self._over:
                terminalreporter.line(line)
            terminalreporter.line("make them cheaper, or mark them nightly (tests/tiers.py)")
