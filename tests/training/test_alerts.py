"""Alerts: steps that take too long, failures by the machine, losses that are no numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import eventually

from ui_gym_agents.collecting.fault import EpisodeFault
from ui_gym_agents.episode import Episode
from ui_gym_agents.training import alerts as module
from ui_gym_agents.training.alerts import Alerts
from ui_gym_agents.training.listeners import RunInfo
from ui_gym_agents.training.settings import RunConfig, RunSettings

Told = list[tuple[int, str, str]]


@pytest.fixture
def told() -> Told:
    return []


class Watched:
    """Alerts of a run that begins now, with a clock that is turned by hand."""

    def __init__(self, told: Told, **settings: float) -> None:
        self.now = 0.0
        self.alerts = Alerts(
            RunSettings(**settings),
            lambda *alert: told.append(alert),
            shortest=1.0,
            clock=lambda: self.now,
        )
        self.alerts.begun(RunInfo(Path("run"), RunConfig()))

    def step(self, number: int, seconds: float, **metrics: float) -> None:
        self.alerts.step_begun(number, 100)
        self.now += seconds
        self.alerts.step_finished(number, metrics, 0.0)


@pytest.fixture
def watched(told: Told, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    monkeypatch.setattr(module, "LOOK", 0.01)
    found = Watched(told)
    yield found
    found.alerts.ended("finished", 3)


def fault(number: int) -> EpisodeFault:
    return EpisodeFault(f"1-0.{number}", "UI/Toy-v0", 1, 0, 1, "device: gone", True)


def episode(failure: str | None = None) -> Episode:
    return Episode(task="UI/Toy-v0", seed=1, goal="", turns=[], failure=failure)


def test_a_step_that_takes_too_long_is_told_once_while_it_goes_on(
    watched: Watched, told: Told
) -> None:
    for number in (1, 2, 3):
        watched.step(number, 2.0)
    watched.alerts.step_begun(4, 100)
    watched.now += 19.9
    assert not eventually(lambda: told, 0.2)
    watched.now += 0.2
    assert eventually(lambda: told)
    assert told == [(3, "stalled", "step 4 goes on for 20 s; the steps before took 2.0 s")]
    watched.step(5, 2.0)
    assert len(told) == 1


def test_before_there_is_a_usual_time_no_step_is_slow(watched: Watched, told: Told) -> None:
    watched.step(1, 1.0)
    watched.step(2, 1.0)
    watched.step(3, 10_000.0)
    assert told == []


def test_failures_are_told_when_they_are_many_and_again_after_a_recovery(
    watched: Watched, told: Told
) -> None:
    for number in range(18):
        watched.alerts.fault(fault(number)) if number < 2 else watched.alerts.episode(episode())
    assert told == [], "too few tries"
    for number in range(4):
        watched.alerts.fault(fault(number))
    ((step, rule, message),) = told
    assert (step, rule) == (0, "failures")
    assert message.startswith("20 % of the last 20 tries"), "as soon as it is so"
    for _ in range(100):
        watched.alerts.episode(episode())
    for number in range(12):
        watched.alerts.fault(fault(number))
    assert [rule for _, rule, _ in told] == ["failures", "failures"]


def test_episodes_that_are_given_up_count_once(watched: Watched, told: Told) -> None:
    """A fault is told of every failed try; the episode that comes of the last is no other try."""
    for _ in range(30):
        watched.alerts.episode(episode())
    for number in range(3):
        watched.alerts.fault(fault(number))
        watched.alerts.episode(episode("device: gone"))
    assert told == []


def test_a_loss_that_is_no_number_is_told(watched: Watched, told: Told) -> None:
    watched.step(1, 1.0, loss=0.5, reward=float("nan"))
    watched.step(2, 1.0, **{"value/loss": float("inf")})
    assert told == [(2, "nan", "step 2: value/loss is inf")]


def test_a_gradient_that_is_no_number_is_told_though_the_loss_is_one(
    watched: Watched, told: Told
) -> None:
    watched.step(1, 1.0, loss=0.5, grad_norm=2.0)
    watched.step(2, 1.0, loss=0.5, grad_norm=float("inf"))
    assert told == [(2, "nan", "step 2: grad_norm is inf")]


def test_alerts_that_are_switched_off_come_not(told: Told) -> None:
    watched = Watched(told, alert_stalled=0.0, alert_failures=1.0)
    for number in (1, 2, 3):
        watched.step(number, 1.0)
    watched.alerts.step_begun(4, 100)
    watched.now += 1e6
    for number in range(50):
        watched.alerts.fault(fault(number))
    watched.alerts.ended("finished", 3)
    assert told == []
