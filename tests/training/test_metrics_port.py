"""What Prometheus is told of a run."""

from __future__ import annotations

import socket
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest

from ui_gym.errors import UserError
from ui_gym_agents.collecting.fault import EpisodeFault
from ui_gym_agents.episode import Episode, Purpose
from ui_gym_agents.training.listeners import RunInfo
from ui_gym_agents.training.metrics_port import MetricsPort, metrics_ports
from ui_gym_agents.training.settings import RunConfig, RunSettings

pytest.importorskip("prometheus_client")

Train = Callable[..., tuple[int, str, str]]


@pytest.fixture
def served() -> Iterator[MetricsPort]:
    with metrics_ports(RunSettings(metrics_port=0)) as (found,):
        yield found


def page(address: str) -> dict[str, float]:
    """The values of the page by their names with labels."""
    with urllib.request.urlopen(address, timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain")
        text = answer.read().decode()
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def test_the_page_tells_how_a_run_goes(served: MetricsPort, tmp_path: Path) -> None:
    served.begun(RunInfo(tmp_path, RunConfig(plugin="toy"), resumed=3))
    served.step_begun(4, 9)
    for failure, success in ((None, True), (None, False), ("device: gone", False)):
        served.episode(
            Episode(task="x", seed=1, goal="", turns=[], failure=failure, success=success)
        )
    served.fault(EpisodeFault("e", "x", 1, 0, 1, "device: gone", True))
    served.alert(3, "failures", "too many")
    served.step_finished(4, {"loss": 0.5, "old": 1.0}, 12.5)
    served.step_finished(5, {"loss": float("nan")}, 25.0)
    report = SimpleNamespace(success=0.5, n=10, interval=(0.25, 0.75))
    served.evaluation_finished(Purpose("evaluation", 5, "greedy"), report, 1.0)
    found = page(served.address)
    assert found[f'ui_gym_run_info{{plugin="toy",run="{tmp_path.name}"}}'] == 1
    assert (found["ui_gym_step"], found["ui_gym_steps"]) == (5, 9)
    assert found["ui_gym_elapsed_seconds"] == 25.0
    assert found["ui_gym_last_step_time_seconds"] > 1.7e9
    assert found['ui_gym_metric{name="loss"}'] != found['ui_gym_metric{name="loss"}'], "NaN"
    assert 'ui_gym_metric{name="old"}' not in found
    for outcome in ("success", "failure", "fault"):
        assert found[f'ui_gym_episodes_total{{outcome="{outcome}"}}'] == 1
    assert found["ui_gym_faults_total"] == 1
    assert found['ui_gym_alerts_total{rule="failures"}'] == 1
    rates = [found[f'ui_gym_evaluation_{n}{{mode="greedy"}}'] for n in ("low", "success", "high")]
    assert rates == [0.25, 0.5, 0.75]
    assert found["ui_gym_disk_free_bytes"] > 0


def test_who_asks_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui_gym_agents.training.metrics_port.REQUEST_SECONDS", 0.3)
    with metrics_ports(RunSettings(metrics_port=0)) as (served,):
        where = urlsplit(served.address)
        with socket.create_connection((where.hostname, where.port), timeout=20) as asking:
            asking.sendall(b"GET /metr")
            assert asking.recv(1) == b"", "the connection is closed"
        assert page(served.address)["ui_gym_step"] == 0


def test_a_port_that_is_taken_is_told_before_anything_is_built(train: Train, work: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        asked = ("--plugin", "toy", "--run.directory", "run", "--run.metrics_port", port)
        status, _, errors = train(*asked)
    assert (status, f"--run.metrics_port {port}" in errors) == (2, True)
    assert not (work / "run").exists()


def test_a_run_serves_it_until_it_ends(train: Train, work: Path) -> None:
    asked = ("--run.steps", "1", "--evaluation.episodes", "0", "--run.metrics_port", "0")
    status, output, _ = train("--plugin", "toy", "--run.directory", "run", *asked)
    assert status == 0
    (address,) = (x.split()[-1] for x in output.splitlines() if "for Prometheus" in x)
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(address, timeout=10)


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with metrics_ports(RunSettings()) as none:
        assert none == []
    with (
        pytest.raises(UserError, match=r"pip install .ui-gym\[prometheus\]"),
        metrics_ports(RunSettings(metrics_port=0)),
    ):
        pytest.fail("there is no page to serve")
