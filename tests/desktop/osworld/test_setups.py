"""Setup steps on a desktop: what each does there, and what is said when it cannot be."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from fake import FakeDesktop
from serving import QuietHandler, serving

from ui_gym.contract.action import Click, Press, Type
from ui_gym.contract.device import Frame
from ui_gym.desktop.osworld import pauses
from ui_gym.desktop.osworld.cache import FileCache, TaskFiles
from ui_gym.desktop.osworld.registry import EvaluationContext
from ui_gym.desktop.osworld.setups import commands, run_steps
from ui_gym.desktop.osworld.taskfile import SetupStep
from ui_gym.errors import DeviceError, DeviceStartError, DeviceTimeout, UserError


@pytest.fixture
def context(desktop: FakeDesktop, tmp_path: Path) -> EvaluationContext:
    for name in ("episode", "task"):
        (tmp_path / name).mkdir()
    files = TaskFiles(tmp_path / "task", FileCache(tmp_path / "cache"))
    return EvaluationContext(desktop, files, tmp_path / "episode", desktop.size, "t", "secret")


def do(context: EvaluationContext, kind: str, **parameters: Any) -> None:
    run_steps(context, [SetupStep(kind, parameters, "config.0")])


def text(context: EvaluationContext, path: str) -> str | None:
    data = context.device.read(path)
    return None if data is None else data.decode()


# -- commands --


@pytest.mark.parametrize("kind", ["execute", "command"])
def test_a_command_is_run_at_home(context: EvaluationContext, kind: str) -> None:
    do(context, kind, command=["sh", "-c", "pwd > where"])
    assert text(context, "where") == f"{context.device.home}\n"


def test_a_line_of_shell_and_a_text_without_one(context: EvaluationContext) -> None:
    do(context, "execute", command="echo a b > both && echo c >> both", shell=True)
    assert text(context, "both") == "a b\nc\n"
    do(context, "execute", command="touch 'one file' two")
    assert text(context, "one file") == text(context, "two") == ""
    do(context, "execute", command="echo yes > said", shell="true")
    assert text(context, "said") == "yes\n"


def test_placeholders_are_filled_in(context: EvaluationContext) -> None:
    line = "echo {CLIENT_PASSWORD} {SCREEN_WIDTH} {SCREEN_HEIGHT} {SCREEN_WIDTH_HALF} > a"
    do(context, "execute", command=f"{line}; echo {{SCREEN_HEIGHT_HALF}} >> a", shell=True)
    assert text(context, "a") == "secret 192 108 96\n54\n"
    do(context, "execute", command=["touch", "{SCREEN_WIDTH}"])
    assert text(context, "192") == ""


def test_the_password_is_in_no_note(context: EvaluationContext) -> None:
    do(context, "execute", command=["sh", "-c", "exit 3", "{CLIENT_PASSWORD}"])
    (noted,) = context.notes
    assert "exit code 3" in noted
    assert "{CLIENT_PASSWORD}" in noted
    assert "secret" not in noted


def test_osworlds_home_is_the_machines(context: EvaluationContext) -> None:
    do(context, "execute", command=["touch", "/home/user/a", "/home/user2-x"])
    assert text(context, "a") == ""
    do(context, "execute", command="echo /home/user/b http://a/home/user > b", shell=True)
    assert text(context, "b") == f"{context.device.home}/b http://a/home/user\n"


def test_a_program_of_pyautogui_is_done_as_actions_and_not_run(
    context: EvaluationContext, desktop: FakeDesktop
) -> None:
    code = (
        "import pyautogui; import time; pyautogui.click({SCREEN_WIDTH_HALF}, {SCREEN_HEIGHT_HALF});"
        " pyautogui.write('hello'); pyautogui.hotkey('ctrl', 's')"
    )
    do(context, "execute", command=["python", "-c", code])
    done = [action for action in desktop.performed if isinstance(action, Click | Type | Press)]
    assert done == [Click(96, 54), Type("hello"), Press("ctrl+s")]
    assert desktop.commands == []


def test_a_script_that_is_no_plain_pyautogui_is_refused(context: EvaluationContext) -> None:
    code = "import pyautogui; __import__('os').system('touch canary')"
    with pytest.raises(UserError, match=r"task t, config.0 \(execute\)"):
        do(context, "execute", command=["python", "-c", code])
    assert text(context, "canary") is None


def test_what_a_command_writes_is_kept_for_the_judge(context: EvaluationContext) -> None:
    do(context, "execute", command="echo out; echo err >&2", shell=True, stdout="o", stderr="e")
    assert (context.folder / "o").read_text() == "out\n"
    assert (context.folder / "e").read_text() == "err\n"
    with pytest.raises(UserError, match="name it without a path"):
        do(context, "execute", command=["true"], stdout="../escaped")


@pytest.mark.parametrize(
    "until",
    [{"returncode": 0}, {"stdout": "third"}, {"stderr": "enough"}],
    ids=lambda u: next(iter(u)),
)
def test_a_command_is_repeated_until_it_gives_what_is_wanted(
    context: EvaluationContext, until: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "INTERVAL", 0.0)
    line = "echo x >> n; [ $(wc -l < n) -ge 3 ] && echo third && echo enough >&2"
    do(context, "execute", command=line, shell=True, until=until)
    assert text(context, "n") == "x\n" * 3


def test_a_repetition_in_vain_has_an_end(
    context: EvaluationContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "INTERVAL", 0.0)
    monkeypatch.setattr(commands, "SECONDS", 0.3)
    with pytest.raises(DeviceTimeout, match="did not come to"):
        do(context, "execute", command=["false"], until={"returncode": 0})


def test_a_command_that_hangs_is_noted_and_after_five_tries_given_up(
    context: EvaluationContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "INTERVAL", 0.0)
    monkeypatch.setattr(commands, "SECONDS", 0.05)
    monkeypatch.setattr(commands.time, "monotonic", lambda: 0.0)
    do(context, "execute", command=["sleep", "60"], until={"returncode": 0})
    assert len(context.notes) == 5


def test_a_command_that_fails_is_noted_and_the_next_is_done(context: EvaluationContext) -> None:
    steps = [
        SetupStep("execute", {"command": "echo no >&2; exit 3", "shell": True}, "config.0"),
        SetupStep("execute", {"command": ["nothing-of-that-name"]}, "config.1"),
        SetupStep("execute", {"command": ["touch", "done"]}, "config.2"),
    ]
    run_steps(context, steps)
    assert text(context, "done") == ""
    first, second = context.notes
    assert "exit code 3. no" in first
    assert "exit code 127" in second


def test_what_stands_in_for_chrome_is_ended_as_chrome_is(
    context: EvaluationContext, desktop: FakeDesktop
) -> None:
    """``pkill chrome`` would not find a process called chromium."""
    do(context, "launch", command=["pkill", "chrome"])
    chrome = Path(desktop.home, "bin", "google-chrome")
    chrome.parent.mkdir()
    chrome.touch(0o755)
    do(context, "launch", command=["pkill", "chrome"])
    do(context, "launch", command=["pkill", "vlc"])
    assert desktop.launched == [["pkill", "chrom"], ["pkill", "chrome"], ["pkill", "vlc"]]


def test_verification_waits_for_a_window_and_a_command(
    context: EvaluationContext, desktop: FakeDesktop
) -> None:
    threading.Timer(0.1, desktop.show, ["A Ready Window"]).start()
    wanted = {"window_exists": "ready", "command_success": "test -e done"}
    do(
        context, "execute_with_verification",
        command=["touch", "done"], verification=wanted, check_interval=0.02,
    )  # fmt: skip
    assert desktop.open_windows
    with pytest.raises(DeviceTimeout, match="did not come to"):
        do(
            context, "execute_with_verification",
            command=["true"], verification={"window_exists": "never"}, max_wait_time=0.05,
            check_interval=0.02,
        )  # fmt: skip


def test_programs_are_launched(context: EvaluationContext, desktop: FakeDesktop) -> None:
    do(context, "launch", command=["sh", "~/a"])
    do(context, "launch", command="sh -c true")
    do(context, "launch", command="A=1 sh -c true", shell=True)
    home = context.device.home
    assert desktop.launched == [["sh", f"{home}/a"], ["sh", "-c", "true"], "A=1 sh -c true"]


def test_a_stand_in_is_launched_where_there_is_no_chrome(
    context: EvaluationContext, desktop: FakeDesktop
) -> None:
    chromium = Path(desktop.home, "bin", "chromium")
    chromium.parent.mkdir()
    chromium.touch(0o755)
    do(context, "launch", command=["google-chrome", "--remote-debugging-port=1337"])
    assert desktop.launched == [["chromium", "--remote-debugging-port=1337"]]


def test_a_forwarder_of_ports_is_no_need(context: EvaluationContext, desktop: FakeDesktop) -> None:
    command = ["socat", "tcp-listen:9222,fork", "tcp:localhost:1337"]
    (Path(desktop.home) / "bin").mkdir()
    desktop.path = f"{desktop.home}/bin"  # where there is none
    do(context, "launch", command=command)
    assert desktop.launched == []
    assert context.notes == ["socat is not there, and was not started"]
    Path(desktop.home, "bin", "socat").touch(0o755)
    do(context, "launch", command=command)
    assert desktop.launched == [command]


def test_a_program_that_is_not_there_is_named_with_its_package(context: EvaluationContext) -> None:
    with pytest.raises(DeviceStartError, match=r"no program 'frobnicate'.*install frobnicate"):
        do(context, "launch", command=["frobnicate"])


# -- windows and pauses --


def test_windows_are_opened_activated_and_closed(
    context: EvaluationContext, desktop: FakeDesktop
) -> None:
    do(context, "open", path="/home/user/Desktop/a.txt")
    do(context, "open", path="~/b.txt")
    assert desktop.opened == [f"{desktop.home}/Desktop/a.txt", f"{desktop.home}/b.txt"]
    do(context, "activate_window", window_name="a.TXT")
    assert [window.title for window in desktop.open_windows if window.active] == ["a.txt"]
    do(context, "close_window", window_name="App", strict=True, by_class=True)
    assert [window.title for window in desktop.open_windows] == ["a.txt"]


def test_a_window_that_is_not_there_is_noted(context: EvaluationContext) -> None:
    do(context, "activate_window", window_name="Nobody")
    do(context, "close_window", window_name="Nobody", strict=True)
    assert ["to activate" in context.notes[0], "to close" in context.notes[1]] == [True, True]


def test_a_pause_ends_once_the_started_program_shows_a_window(
    context: EvaluationContext, desktop: FakeDesktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pauses, "WHOLE", 0.01)
    monkeypatch.setattr(pauses, "STILL", 0.01)
    monkeypatch.setattr(desktop, "launch", lambda command: None)  # it takes its time
    threading.Timer(0.2, desktop.show, ["Slow"]).start()
    do(context, "launch", command=["sh"])
    do(context, "sleep", seconds=600)
    assert [window.title for window in desktop.open_windows] == ["Slow"]


def test_a_pause_without_any_window_lasts_as_long_as_it_says(
    context: EvaluationContext, desktop: FakeDesktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pauses, "WHOLE", 0.01)
    monkeypatch.setattr(desktop, "launch", lambda command: None)
    do(context, "launch", command=["sh"])
    started = time.monotonic()
    do(context, "sleep", seconds=0.2)
    assert time.monotonic() - started >= 0.2


def test_an_episode_begins_when_all_windows_are_drawn_and_the_picture_is_still(
    context: EvaluationContext, desktop: FakeDesktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pauses, "STILL", 0.01)
    width, height = desktop.size
    blank, half, whole = (np.zeros((height, width, 3), np.uint8) for _ in range(3))
    half[:20] = 200
    whole[20:] = 100
    caret = whole.copy()
    caret[30:36, 40] = 0
    shown = iter([blank, blank, half, whole, caret])
    monkeypatch.setattr(desktop, "capture", lambda: Frame(next(shown)))
    desktop.show("Fresh")
    pauses.rest(context)
    assert next(shown, None) is None


def test_the_pauses_before_the_judgement_are_kept_whole(context: EvaluationContext) -> None:
    pauses.keep_whole(context)
    started = time.monotonic()
    do(context, "sleep", seconds=1.2)
    assert time.monotonic() - started >= 1.2


def test_short_pauses_are_kept_whole(context: EvaluationContext) -> None:
    started = time.monotonic()
    do(context, "sleep", seconds=0.3)
    assert time.monotonic() - started >= 0.3


def test_the_wallpaper_is_a_setting(context: EvaluationContext, desktop: FakeDesktop) -> None:
    program = Path(desktop.home, "bin", "gsettings")
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$@" > $HOME/asked\n')
    program.chmod(0o755)
    do(context, "change_wallpaper", path="~/a.png")
    wanted = f"set org.gnome.desktop.background picture-uri file://{desktop.home}/a.png\n"
    assert text(context, "asked") == wanted


# -- files --


def test_files_come_from_beside_the_task_file_and_from_the_cache(
    context: EvaluationContext, tmp_path: Path
) -> None:
    (tmp_path / "task" / "seed.txt").write_text("beside")
    part = tmp_path / "part"
    part.write_text("cached")
    FileCache(tmp_path / "cache").add("https://a.example/b", part)
    files = [
        {"url": "file:seed.txt", "path": "/home/user/Desktop/new/seed.txt"},
        {"url": "https://a.example/b", "path": "~/b.txt"},
    ]
    do(context, "download", files=files)
    assert text(context, "Desktop/new/seed.txt") == "beside"
    assert text(context, "b.txt") == "cached"
    do(context, "upload_file", files=[{"local_path": "seed.txt", "path": "/home/user/c"}])
    assert text(context, "c") == "beside"


def test_a_file_that_was_not_fetched_is_named_with_the_remedy(context: EvaluationContext) -> None:
    with pytest.raises(UserError, match=r"https://a.example/x is not .*ui-gym osworld fetch"):
        do(context, "download", files=[{"url": "https://a.example/x", "path": "x"}])


# -- the browser --


class Browser(QuietHandler):
    """The part of DevTools that lists, opens and closes tabs."""

    def answer(self) -> None:
        tabs: list[dict[str, str]] = self.server.tabs  # type: ignore[attr-defined]
        route, _, rest = self.path.removeprefix("/json/").replace("?", "/", 1).partition("/")
        told: Any = tabs
        if route == "version":
            told = {"Browser": "Fake/1"}
        elif route == "new":
            told = tab(unquote(rest), f"t{len(tabs) + 100}")
            tabs.append(told)
        elif route == "close":
            tabs[:] = [one for one in tabs if one["id"] != rest]
            told = "Target is closing"
        self.say(json.dumps(told).encode())


def tab(url: str, name: str) -> dict[str, str]:
    return {"id": name, "type": "page", "title": url, "url": url}


@pytest.fixture
def browser(desktop: FakeDesktop) -> Iterator[list[dict[str, str]]]:
    with serving(Browser) as server:
        server.tabs = [tab("about:blank", "t1")]  # type: ignore[attr-defined]
        desktop.ports[9222] = ("127.0.0.1", server.server_port)
        yield server.tabs  # type: ignore[attr-defined]


def test_tabs_are_opened_in_place_of_the_first_and_closed(
    context: EvaluationContext, browser: list[dict[str, str]]
) -> None:
    do(context, "chrome_open_tabs", urls_to_open=["https://a.example/x?y=1&z", "https://b.example"])
    assert [one["url"] for one in browser] == ["https://a.example/x?y=1&z", "https://b.example"]
    do(context, "chrome_close_tabs", urls_to_close=["https://b.example/", "https://c.example"])
    assert [one["url"] for one in browser] == ["https://a.example/x?y=1&z"]
    assert context.notes == ["no tab shows https://c.example"]


def test_without_a_browser_the_remedy_is_said(
    context: EvaluationContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui_gym.desktop.osworld.setups.windows.TIMEOUT", 0.0)
    with pytest.raises(DeviceTimeout, match="--remote-debugging-port"):
        do(context, "chrome_open_tabs", urls_to_open=["https://a.example"])


def test_visits_are_added_to_the_history_that_is_there(
    context: EvaluationContext, tmp_path: Path
) -> None:
    path = tmp_path / "History"
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE urls (id INTEGER PRIMARY KEY, url, title, visit_count, typed_count, "
            "last_visit_time, hidden)"
        )
        database.execute(
            "CREATE TABLE visits (id INTEGER PRIMARY KEY, url, visit_time, from_visit, transition, "
            "segment_id, visit_duration)"
        )
    database.close()
    context.device.write(".config/chromium/Default/History", path.read_bytes())
    visit = {"url": "https://a.example", "title": "A", "visit_time_from_now_in_seconds": 3600}
    do(context, "update_browse_history", history=[visit])
    path.write_bytes(context.device.read(".config/chromium/Default/History") or b"")
    database = sqlite3.connect(path)
    ((url, title, seconds),) = database.execute(
        "SELECT u.url, u.title, v.visit_time / 1e6 - 11644473600 FROM urls u JOIN visits v "
        "ON v.url = u.id"
    )
    database.close()
    assert (url, title) == ("https://a.example", "A")
    assert abs(time.time() - 3600 - seconds) < 600


# -- what is wrong --


def test_unknown_steps_and_parameters_are_refused_with_their_place(
    context: EvaluationContext,
) -> None:
    with pytest.raises(UserError, match=r"there is no setup 'lunch'. Did you mean 'launch'"):
        do(context, "lunch", command=["sh"])
    with pytest.raises(UserError, match=r"task t, config.0 \(sleep\): .*'minutes'"):
        do(context, "sleep", seconds=1, minutes=1)


def test_a_machine_that_is_lost_is_told_with_the_step(
    context: EvaluationContext, desktop: FakeDesktop
) -> None:
    desktop.lost = True
    with pytest.raises(DeviceError, match=r"task t, config.0 \(launch\): this desktop is gone"):
        do(context, "launch", command=["sh"])
