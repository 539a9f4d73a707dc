"""Getters that ask a program: VLC's web interface, the keyboard of VS Code; and dates by name."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from serving import QuietHandler, serving

from ui_gym.contract.action import Press, Type
from ui_gym.desktop.osworld.getters.dates import named_day, written
from ui_gym.desktop.osworld.registry import GETTERS, EvaluationContext
from ui_gym.errors import UserError


@pytest.fixture
def vlc() -> Iterator[int]:
    """The port of a web interface as VLC's."""

    class Handler(QuietHandler):
        def answer(self) -> None:
            wanted = "Basic " + base64.b64encode(b":password").decode()
            allowed = self.headers["Authorization"] == wanted
            self.say(f"<root>{self.path}</root>".encode(), 200 if allowed else 401)

    with serving(Handler) as server:
        yield server.server_port


def test_vlc_says_what_it_plays(context: EvaluationContext, vlc: int) -> None:
    context.device.ports[8080] = ("127.0.0.1", vlc)
    found = GETTERS["vlc_playing_info"](context, {"dest": "status.xml"})
    assert Path(found).read_text() == "<root>/requests/status.xml</root>"


def test_without_vlc_nothing_is_played(context: EvaluationContext) -> None:
    assert GETTERS["vlc_playing_info"](context, {"dest": "status.xml"}) is None


def test_vs_code_is_asked_by_its_command_palette(context: EvaluationContext) -> None:
    context.device.write("out.txt", b"project")
    config = {"vscode_extension_command": "OpenProject", "path": "out.txt", "dest": "out.txt"}
    GETTERS["vscode_config"](context, config)
    assert context.device.performed == [Press("ctrl+shift+p"), Type("OpenProject"), Press("Enter")]
    assert context.device.settled == 3


def test_a_trajectory_is_replayed(context: EvaluationContext) -> None:
    steps = [
        {"type": "hotkey", "param": ["ctrl", "s"]},
        {"type": "typewrite", "param": "name"},
        {"type": "press", "param": "enter"},
    ]
    GETTERS["replay"](context, {"trajectory": steps})
    assert context.device.performed == [Press("ctrl+s"), Type("name"), Press("enter")]
    with pytest.raises(UserError, match="no step 'drag'"):
        GETTERS["replay"](context, {"trajectory": [{"type": "drag", "param": ""}]})


def test_the_config_of_a_task_is_left_as_it_is(context: EvaluationContext) -> None:
    config = {
        "rules": {"relativeTime": {"from": "tomorrow"}, "expected": {"time": "{Year}"}},
    }
    found = GETTERS["rule_relativeTime"](context, config)
    assert found["expected"]["time"].isdigit()
    assert config["rules"]["expected"]["time"] == "{Year}"


@pytest.mark.parametrize(("suffix", "name"), [(False, "a.txt"), (True, "a_2.txt")])
def test_a_copy_may_carry_the_time(context: EvaluationContext, suffix: bool, name: str) -> None:
    context.device.write("a.txt", b"")
    config = {"path": "a.txt", "dest": "a.txt", "time_suffix": suffix, "time_format": "2"}
    assert Path(GETTERS["vm_file"](context, config)).name == name


@pytest.mark.parametrize("name", ["../out", "/etc/out", "", "."])
def test_no_copy_leaves_the_folder_of_the_episode(context: EvaluationContext, name: str) -> None:
    context.device.write("a.txt", b"")
    with pytest.raises(UserError, match="leads out of its folder"):
        GETTERS["vm_file"](context, {"path": "a.txt", "dest": name})


def test_a_gold_file_never_takes_the_place_of_a_result(context: EvaluationContext) -> None:
    context.device.write("a.txt", b"result")
    result = GETTERS["vm_file"](context, {"path": "a.txt", "dest": "a.txt"})
    gold = GETTERS["cloud_file"](context, {"path": "https://x.test/gold.txt", "dest": "a.txt"})
    assert (Path(result).read_text(), Path(gold).read_text()) == ("result", "gold.txt")


def test_an_address_that_cannot_be_had_is_a_mistake_of_the_user(context: EvaluationContext) -> None:
    with pytest.raises(UserError, match="is not here"):
        GETTERS["cloud_file"](context, {"path": "https://x.test/none.txt", "dest": "a.txt"})


FRIDAY, SUNDAY = date(2025, 1, 31), date(2025, 8, 31)


@pytest.mark.parametrize(
    ("name", "today", "day"),
    [
        ("tomorrow", FRIDAY, date(2025, 2, 1)),
        ("this month", FRIDAY, FRIDAY),
        ("5th next month", FRIDAY, date(2025, 2, 5)),
        ("11th next month", date(2025, 12, 3), date(2026, 1, 11)),
        ("this Saturday", FRIDAY, date(2025, 2, 1)),
        ("this Saturday", SUNDAY, date(2025, 8, 30)),
        ("this Sunday", SUNDAY, SUNDAY),
        ("next Monday", FRIDAY, date(2025, 2, 3)),
        ("next Monday split", date(2025, 2, 3), date(2025, 2, 10)),
        ("next Friday", FRIDAY, date(2025, 2, 7)),
        ("next Friday", SUNDAY, date(2025, 9, 5)),
        ("next Saturday", SUNDAY, date(2025, 9, 6)),
        ("next Sunday", SUNDAY, date(2025, 9, 7)),
        ("next Sunday", FRIDAY, date(2025, 2, 2)),
        ("next week Friday", FRIDAY, date(2025, 2, 7)),
        ("next week Sunday", SUNDAY, date(2025, 9, 7)),
        ("first monday four months later", SUNDAY, date(2025, 12, 1)),
        ("first monday eight months later", FRIDAY, date(2025, 9, 1)),
        ("first monday eight months later", date(2025, 5, 1), date(2026, 1, 5)),
    ],
)
def test_days_have_names(name: str, today: date, day: date) -> None:
    assert named_day(name, today) == day


@pytest.mark.parametrize(
    ("start", "end", "day"),
    [
        ("next Monday", "next Friday", date(2025, 2, 7)),
        ("next Friday", "next Sunday", date(2025, 2, 9)),
        ("next Saturday", "next Sunday", date(2025, 2, 2)),
    ],
)
def test_a_span_ends_after_it_begins(
    start: str, end: str, day: date, context: EvaluationContext
) -> None:
    context.memory["today"] = FRIDAY
    expected = {"from": "{Year}-{Month0D}-{Day0D}", "to": "{Year}-{Month0D}-{Day0D}"}
    rules = {"relativeTime": {"from": start, "to": end}, "expected": expected}
    found = GETTERS["rule_relativeTime"](context, {"rules": rules})
    assert found["expected"] == {
        "from": named_day(start, FRIDAY).isoformat(),
        "to": day.isoformat(),
    }


def test_an_unknown_day_is_a_mistake_of_the_task() -> None:
    with pytest.raises(UserError, match="no day is called 'next Fryday'"):
        named_day("next Fryday", FRIDAY)


def test_dates_are_written_in_every_way() -> None:
    fields = "{DoW} {Month} {month} {MonthFull} {MonthD} {Month0D} {DayD} {Day0D} {Year} {x}"
    assert written(fields, date(2025, 3, 5)) == "Wed Mar march March 3 03 5 05 2025 {x}"
