"""Who waits for whom at a served desktop, and how its start is ended."""

from __future__ import annotations

import signal
import threading

import pytest
from desktops import FakeDesktop

from ui_gym.desktop.http.cli import serve as serve_command
from ui_gym.errors import ActionError
from ui_gym.playing.pool import FreshPool


def test_a_command_runs_beside_a_long_action(serve):
    acting, go_on = threading.Event(), threading.Event()

    class Slow(FakeDesktop):
        def perform(self, action):
            acting.set()
            assert go_on.wait(30)
            super().perform(action)

    server = serve(Slow, allow_execute=True)
    thread = threading.Thread(target=server.desktop.act, args=("pyautogui.click(1, 2)",))
    thread.start()
    try:
        assert acting.wait(30)
        assert server.desktop.run(["echo", "x"]).text == "x"
        assert thread.is_alive()
    finally:
        go_on.set()
        thread.join()


def test_a_script_that_waits_for_minutes_is_refused(serve, desktop):
    server = serve()
    with pytest.raises(ActionError, match="waits for 150 s in all"):
        server.desktop.act("import time\n" + "time.sleep(30)\n" * 5)
    assert desktop.done == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_the_start_ends_it(monkeypatch, number):
    made: list[FakeDesktop] = []

    class Starting(FakeDesktop):
        def renew(self, session):
            made.append(self)
            signal.raise_signal(number)

    monkeypatch.setattr("ui_gym.desktop.pool.DesktopPool", lambda _: FreshPool(Starting))
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt):
        serve_command(port=0)
    assert [desktop.closed for desktop in made] == [True]
    assert signal.getsignal(number) is before
