"""What servers and networks do to a run, and what it makes of it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from faults import SDK_TOO_NEW, Drop, FaultProxy, HalfAnswer, Status, TryAgain
from tinker_runs import Make, run, same

from ui_gym.errors import UIGymError, UserError
from ui_gym_tinker.server import TinkerServer
from ui_gym_tinker.service import ServiceError

KEY = "tml-of-a-killed-server"


@pytest.fixture
def proxy(connected: TinkerServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultProxy]:
    """A proxy before the server, which the environment names."""
    with FaultProxy(connected.url) as between:
        monkeypatch.setenv("TINKER_BASE_URL", between.url)
        yield between


def test_answers_that_never_come_are_cut_and_played_again(proxy: FaultProxy, make: Make) -> None:
    trainer = make(policy={"engine_timeout": 1.0}, refill=1)
    proxy.inject("/retrieve_future", TryAgain())
    with pytest.raises(ServiceError, match=r"none of the 8 episodes .* no answer in 1 s"):
        run(trainer, 1, 1)
    assert trainer.agent.version == 0, "nothing was learned from"
    assert proxy.count("/asample") == 3 * 8, "each episode was played three times"
    proxy.clear()
    (row,) = run(trainer, 1, 1)
    assert row["failed_episodes"] == 0


def test_answers_that_come_late_are_waited_for(proxy: FaultProxy, make: Make) -> None:
    trainer = make()
    proxy.inject("/retrieve_future", TryAgain(delay=0.2), times=8)
    (row,) = run(trainer, 1, 1)
    assert row["failed_episodes"] == 0


def test_too_many_requests_are_sent_again(proxy: FaultProxy, make: Make) -> None:
    trainer = make()
    proxy.inject("/asample", Status(429, retry_after=0.1), times=3)
    proxy.inject("/optim_step", Status(429, retry_after=0.1), times=2)
    (row,) = run(trainer, 1, 1)
    assert row["failed_episodes"] == 0


@pytest.mark.parametrize("path", ["/asample", "/forward_backward", "/optim_step"])
@pytest.mark.parametrize("fault", [Drop(after=True), HalfAnswer()])
def test_what_was_done_is_not_done_twice(
    proxy: FaultProxy, make: Make, path: str, fault: Drop | HalfAnswer
) -> None:
    undisturbed = run(make(refill=4), 1, 1)
    trainer = make(refill=4)
    proxy.inject(path, fault, times=1)
    disturbed = run(trainer, 1, 1)
    assert same(disturbed, undisturbed), (disturbed, undisturbed)


def test_results_that_end_in_the_middle_are_asked_for_again(proxy: FaultProxy, make: Make) -> None:
    trainer = make()
    proxy.inject("/retrieve_future", HalfAnswer(), times=3)
    (row,) = run(trainer, 1, 1)
    assert row["failed_episodes"] == 0


def test_an_sdk_that_is_too_new_is_said_so(proxy: FaultProxy, make: Make) -> None:
    proxy.inject("/client/config", SDK_TOO_NEW)
    with pytest.raises(UserError, match=r"tinker 9\.9\.9 is newer than the 0\.38"):
        make()


def test_a_session_that_expired_says_so(
    make: Make, clicker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TinkerServer(models={"clicker": clicker}, session_timeout=1.0) as server:
        monkeypatch.setenv("TINKER_API_KEY", server.key)
        with FaultProxy(server.url) as between:
            monkeypatch.setenv("TINKER_BASE_URL", between.url)
            trainer = make(policy={"engine_timeout": 5.0}, timeout=20.0)
            between.inject("/session_heartbeat", Status(503))
            # Nothing shows that it has expired but the next request, which would revive it.
            threading.Event().wait(3.0)
            with pytest.raises(UIGymError, match="expired"):
                run(trainer, 1, 1)
            trainer.close()  # while its server is there


@contextmanager
def serving(
    clicker: Path, folder: Path, port: int = 0
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server as a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ui_gym_tinker.server.cli", "--model", f"clicker={clicker}",
         "--port", str(port), "--checkpoints", str(folder)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = next(line for line in process.stdout if "http://" in line)
        yield "http://" + line.partition("http://")[2].split()[0].strip(";"), process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)


@pytest.mark.nightly
def test_a_killed_server_ends_the_run_which_goes_on_with_the_next(
    make: Make, clicker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TINKER_API_KEY", KEY)
    folder, saved = tmp_path / "checkpoints", tmp_path / "saved"
    saved.mkdir()
    with serving(clicker, folder) as (url, process):
        monkeypatch.setenv("TINKER_BASE_URL", url)
        whole = run(make(), 1, 2)
        trainer = make(policy={"engine_timeout": 3.0}, timeout=5.0)
        run(trainer, 1, 1)
        trainer.save(saved)
        state = trainer.context.state_dict()
        process.kill()
        process.wait(10)
        with pytest.raises(ServiceError, match=r"none of the \d+ episodes of step 2"):
            run(trainer, 2, 2)
    port = int(url.rpartition(":")[2])
    with serving(clicker, folder, port) as (url, _):
        again = make()
        again.load(saved)
        again.context.load_state_dict(state)
        assert same(run(again, 2, 2), whole[1:])
