from __future__ import annotations

import json
import re
import subprocess
import sys
import types
from collections.abc import Sequence
from pathlib import Path

import pytest
import typer.main
from PIL import Image
from typer.testing import CliRunner, Result

from ui_gym.contract import registry
from ui_gym.contract.spec import TaskSpec
from ui_gym.errors import DeviceStartError, TaskError, UserError
from ui_gym.tools import doctor
from ui_gym.tools.cli import app, main

TASK = "UI/DataEntry-v0"
COMPACT = ("--set", "compact=True")


def run(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, list(args), input=stdin, catch_exceptions=False)


def fails(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str]:
    """The exit code of `main`, and what it says on stderr."""
    with pytest.raises(SystemExit) as left:
        main(args)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert isinstance(left.value.code, int)
    return left.value.code, captured.err


# -- list, show --


def test_list_shows_every_task_by_id() -> None:
    result = run("list")
    assert result.exit_code == 0
    assert all(spec.id in result.output for spec in registry.specs())


def test_list_narrows_down_and_speaks_json() -> None:
    spec = registry.spec(TASK)
    found = json.loads(
        run("list", "--suite", spec.suite, "--category", spec.category, "--json").output
    )
    assert TASK in [task["id"] for task in found]
    assert {(task["suite"], task["category"]) for task in found} == {(spec.suite, spec.category)}


@pytest.fixture
def collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tasks of somebody else's benchmark."""
    specs = dict(registry._SPECS)
    for name in ("One", "Two"):
        spec = TaskSpec(f"Fifty-{name}", "browser", "m:T", tags=("fifty",), collection="fifty")
        specs[spec.id] = spec
    monkeypatch.setattr(registry, "_SPECS", specs)


def test_list_folds_a_collection_until_it_is_asked_for(collection: None) -> None:
    folded = " ".join(run("list").output.split())
    assert "UI/Fifty-* browser 2 tasks: ui-gym list --tag fifty" in folded
    assert "UI/Fifty-One-v0" not in folded
    assert TASK in folded
    tagged = run("list", "--tag", "fifty").output
    assert "UI/Fifty-One-v0" in tagged
    assert TASK not in tagged
    everything = run("list", "--all").output
    assert {"UI/Fifty-One-v0", "UI/Fifty-Two-v0", TASK} <= set(everything.split())


def test_list_for_programs_has_what_is_shown(collection: None) -> None:
    def ids(*args: str) -> list[str]:
        return [task["id"] for task in json.loads(run("list", *args, "--json").output)]

    assert ids() == [spec.id for spec in registry.specs()]
    assert ids("--tag", "fifty") == ["UI/Fifty-One-v0", "UI/Fifty-Two-v0"]
    assert ids("--all") == [spec.id for spec in registry.specs(collections=True)]


def test_list_names_the_nearest_tag(collection: None, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = fails(capsys, "list", "--tag", "fivty")
    assert code == 2
    assert said.startswith("error: there is no tag 'fivty'. Did you mean 'fifty'")


def test_list_names_the_nearest_suite(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = fails(capsys, "list", "--suite", "browsr")
    assert (code, said) == (2, "error: there is no suite 'browsr'. Did you mean 'browser'?\n")


def test_show_prints_the_docstring_arguments_and_an_example_goal() -> None:
    result = run("show", "DataEntry", "--seed", "3", *COMPACT)
    assert result.exit_code == 0
    described = json.loads(run("show", "DataEntry", "--seed", "3", *COMPACT, "--json").output)
    assert described["goal"] in " ".join(result.output.split())
    assert "Description" in result.output
    assert ["compact", "False"] in described["arguments"]
    assert described["viewport"] == [320, 256]
    assert "320x256" in described["action_space"]


def test_show_starts_no_browser_and_imports_no_opencv() -> None:
    code = (
        "import sys; from ui_gym.tools.cli import app; "
        "app(['show', 'DataEntry'], standalone_mode=False);"
        "sys.exit('cv2' in sys.modules or 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def test_show_writes_the_first_screenshot(tmp_path: Path) -> None:
    path = tmp_path / "new" / "first.png"
    result = run("show", "DataEntry", *COMPACT, "--screenshot", str(path))
    assert str(path) in result.output
    with Image.open(path) as picture:
        assert picture.size == (320, 256)
        assert len(picture.getcolors(1 << 20) or ()) > 10


def test_show_refuses_a_screenshot_that_is_no_picture(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, said = fails(capsys, "show", "DataEntry", "--screenshot", str(tmp_path / "first.txt"))
    assert code == 2
    assert "first.txt: a picture's name ends in .png" in said


# -- play --


def test_the_oracle_plays_and_is_filmed(tmp_path: Path) -> None:
    result = run("play", "DataEntry", *COMPACT, "--seed", "5", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert "success: score 1.00" in result.output
    name = "UI-DataEntry-v0-oracle-5"
    with Image.open(tmp_path / f"{name}.png") as strip:
        assert strip.width > 600
    with Image.open(tmp_path / f"{name}.webp") as film:
        assert film.n_frames == 6  # type: ignore[attr-defined]
    assert f"{name}.png" in result.output
    assert f"{name}.webp" in result.output


def test_play_speaks_json_with_canonical_actions_in_any_dialect(tmp_path: Path) -> None:
    result = run(
        "play", "DataEntry", *COMPACT, "--dialect", "cells", "--split", "heldout", "--json",
        "--out", str(tmp_path),
    )  # fmt: skip
    played = json.loads(result.stdout)
    assert played["success"] is True
    assert played["ending"] == "terminated"
    assert "<x" in played["steps"][0]["text"]
    assert played["steps"][0]["action"].startswith("click(")
    assert Path(played["strip"]).is_file()


def test_an_oracle_with_mistakes_does_not_succeed(tmp_path: Path) -> None:
    result = run(
        "play", "DataEntry", *COMPACT, "--mistake", "row=1", "--json", "--out", str(tmp_path)
    )
    played = json.loads(result.stdout)
    assert played["success"] is False
    assert "oracle-row" in played["strip"]
    assert result.exit_code == 0


def test_a_random_agent_plays_the_same_episode_again(tmp_path: Path) -> None:
    first, again = (
        json.loads(
            run(
                "play", "DataEntry", *COMPACT, "--set", "max_steps=4", "--agent", "random",
                "--json", "--out", str(tmp_path),
            ).stdout
        )
        for _ in range(2)
    )  # fmt: skip
    assert [s["text"] for s in first["steps"]] == [s["text"] for s in again["steps"]]
    assert first["ending"] == "truncated"


def test_a_person_plays_from_the_terminal(tmp_path: Path) -> None:
    result = run(
        "play", "DataEntry", *COMPACT, "--agent", "me", "--out", str(tmp_path),
        stdin="clik(1, 2)\nclick(10, 20)\n\n",
    )  # fmt: skip
    assert result.exit_code == 0
    assert "Did you mean 'click'" in " ".join(result.output.split())
    assert "no success: score 0.00, left" in result.output
    assert (tmp_path / "screen.png").is_file()


def test_a_click_on_an_element_is_filmed_where_it_was(tmp_path: Path) -> None:
    result = run(
        "play", "DataEntry", *COMPACT, "--agent", "me", "--json", "--out", str(tmp_path),
        stdin="click(element=1)\n\n",
    )  # fmt: skip
    (step,) = json.loads(result.stdout)["steps"]
    assert step["feedback"] == ""
    assert re.fullmatch(r"click\(\d+, \d+\)", step["action"])


def test_the_end_of_input_leaves_the_game(tmp_path: Path) -> None:
    result = run("play", "DataEntry", *COMPACT, "--agent", "me", "--out", str(tmp_path), stdin="")
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["DataEntri"], "there is no task 'DataEntri'. Did you mean 'UI/DataEntry-v0'"),
        (["DataEntry", "--agent", "oracel"], "there is no agent 'oracel'. Did you mean 'oracle'"),
        (["DataEntry", "--dialect", "cell"], "there is no dialect 'cell'. Did you mean 'cells'"),
        (["DataEntry", "--split", "test"], "there is no split 'test'"),
        (["DataEntry", "--set", "compact"], "--set takes KEY=VALUE"),
        (["DataEntry", "--set", "compct=True"], "Did you mean 'compact'"),
        (["DataEntry", "--mistake", "row=often"], "--mistake takes NAME=RATE"),
        (["DataEntry", "--mistake", "rwo=1"], "Did you mean 'row'"),
        (["DataEntry", "--agent", "random", "--mistake", "row=1"], "is for --agent oracle"),
    ],
)
def test_a_mistake_in_the_call_is_one_line_and_exit_code_2(
    args: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, said = fails(capsys, "play", *args, "--out", str(tmp_path))
    assert code == 2
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert message in said


# -- check --


def fake_testing(monkeypatch: pytest.MonkeyPatch, unsound: Sequence[str] = ()) -> None:
    """`ui_gym.testing` with a checker that finds fault with the tasks `unsound`."""

    def check_ui_env(task: str, *, raise_on_failure: bool) -> types.SimpleNamespace:
        assert not raise_on_failure
        sound = task not in unsound
        return types.SimpleNamespace(
            checks=[
                types.SimpleNamespace(name="same seed", ok=True, detail=""),
                types.SimpleNamespace(name="oracle", ok=sound, detail="" if sound else "score 0"),
            ]
        )

    module = types.ModuleType("ui_gym.testing")
    module.check_ui_env = check_ui_env  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ui_gym.testing", module)


def test_check_all_looks_at_every_task(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_testing(monkeypatch)
    result = run("check", "--all", "--json")
    assert result.exit_code == 0
    assert list(json.loads(result.stdout)) == [spec.id for spec in registry.specs()]


def test_check_takes_a_collection_by_its_tag(
    monkeypatch: pytest.MonkeyPatch, collection: None
) -> None:
    fake_testing(monkeypatch)
    assert TASK in json.loads(run("check", "--all", "--json").stdout)
    assert "UI/Fifty-One-v0" not in json.loads(run("check", "--all", "--json").stdout)
    tagged = json.loads(run("check", "--tag", "fifty", "--json").stdout)
    assert list(tagged) == ["UI/Fifty-One-v0", "UI/Fifty-Two-v0"]


def test_check_fails_when_one_task_is_unsound(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_testing(monkeypatch, unsound=[TASK])
    result = run("check", "DataEntry")
    assert result.exit_code == 1
    assert "FAIL oracle" in " ".join(result.output.split())
    assert "score 0" in result.output
    assert "0 of 1 tasks are sound" in result.output


def test_check_wants_to_know_what(capsys: pytest.CaptureFixture[str]) -> None:
    assert fails(capsys, "check") == (
        2,
        "error: name the tasks to check, or give --all; `ui-gym list` shows them\n",
    )


# -- doctor --


def test_doctor_says_what_is_lacking_and_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def examine() -> list[doctor.Finding]:
        return [
            doctor.Finding("Python", "ok", "3.11"),
            doctor.Finding(
                "browser in use", "fail", "no browser found", "apt-get install chromium"
            ),
        ]

    monkeypatch.setattr(doctor, "examine", examine)
    result = run("doctor")
    assert result.exit_code == 1
    assert "apt-get install chromium" in " ".join(result.output.split())
    assert json.loads(run("doctor", "--json").output)[1]["status"] == "fail"


def test_doctor_warns_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "examine", lambda: [doctor.Finding("cores", "warn", "1")])
    assert run("doctor").exit_code == 0


def test_doctor_names_the_package_where_there_is_no_browser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("UI_GYM_BROWSER", "no-such-browser")
    found = {finding.name: finding for finding in doctor.examine()}
    for name in ("browser in use", "a first screenshot"):
        assert found[name].status == "fail"
        assert found[name].remedy.startswith("apt-get install chromium")


def test_doctor_finds_this_machine_fit() -> None:
    """The tests run with a browser, so nothing that is needed can be lacking."""
    findings = json.loads(run("doctor", "--json").output)
    lacking = [f"{f['name']}: {f['found']}" for f in findings if f["status"] == "fail"]
    assert not lacking
    assert "a first screenshot" in [f["name"] for f in findings]


# -- the whole command --


@pytest.mark.parametrize("name", [c.name or c.callback.__name__ for c in app.registered_commands])  # type: ignore[union-attr]
def test_every_help_has_an_example(name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"Example: ui-gym {name}" in result.output


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (UserError("that was wrong"), 2),
        (TaskError("that was wrong"), 1),
        (DeviceStartError("that was wrong"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_errors_become_exit_codes(
    raised: BaseException,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def broken(**_: bool) -> None:
        raise raised

    monkeypatch.setattr(registry, "specs", broken)
    expected = "" if isinstance(raised, KeyboardInterrupt) else "error: that was wrong\n"
    assert fails(capsys, "list") == (code, expected)


def test_a_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: bool) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(registry, "specs", broken)
    with pytest.raises(ZeroDivisionError):
        main(["list"])


def test_the_console_script_is_this_main() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "ui_gym.tools.cli", "list", "--json"], capture_output=True, text=True
    )
    assert result.returncode == 0
    assert TASK in result.stdout
    assert typer.main.get_command(app).name == "ui-gym"
