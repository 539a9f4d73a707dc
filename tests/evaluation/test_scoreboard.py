"""The scoreboard of served models: its protocol, tokens and prices, rows, and the board."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import paint  # noqa: F401 - registers its tasks
import pytest

from tests.evaluation.conftest import Chat
from tests.evaluation.test_eval_play import evaluate, settings
from ui_gym.contract import registry
from ui_gym.contract.suite import MEMBER_TAG, families
from ui_gym.errors import UserError
from ui_gym_agents.agents import CARELESS
from ui_gym_agents.agents.usage import CHAT, CONTENT, MESSAGES
from ui_gym_agents.episode import Episode, TokenUsage, Turn
from ui_gym_agents.evaluation import cli as eval_cli
from ui_gym_agents.evaluation.evaluate import TokenPrices
from ui_gym_agents.evaluation.protocol import ScoreboardProtocol, load_protocol
from ui_gym_agents.evaluation.scoreboard import (
    BEGIN,
    END,
    ScoreboardRow,
    board,
    check_row,
    put_board,
    read_row,
)
from ui_gym_agents.store import EpisodeStore, from_json, to_json

ROOT = Path(__file__).resolve().parents[2]

SMALL = """
version = "small"
split = "heldout"
instances = 2
attempts = 1
seed = 0
observation = "screenshot"
[tasks]
paint = ["UI/PaintClick-v0", "UI/PaintText-v0"]
"""

Ask = Callable[..., int]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    def run(*arguments: object) -> int:
        monkeypatch.setattr("sys.argv", ["ui-gym-eval", *map(str, arguments)])
        return eval_cli.main()

    return run


# -- the protocol --


def test_every_task_of_v1_is_there_still() -> None:
    protocol = load_protocol("v1")
    for suite, tasks in protocol.tasks.items():
        specs = [registry.spec(task) for task in tasks]
        assert [spec.id for spec in specs] == list(tasks)
        assert {spec.suite for spec in specs} == {suite}
        assert len(set(tasks)) == len(tasks)
    assert {suite: len(tasks) for suite, tasks in protocol.tasks.items()} == {
        "browser": 30, "android": 50, "desktop": 37
    }  # fmt: skip


def test_v1_is_what_it_was() -> None:
    """Whoever changes it makes another protocol: no row of v1 would be compared any more."""
    assert load_protocol("v1").name == "v1-2fc3d0b0"


def test_a_task_that_is_gone_is_named(small: Path) -> None:
    small.write_text(SMALL.replace("PaintText", "PaintTable"))
    with pytest.raises(UserError, match="plays UI/PaintTable-v0, which this ui-gym has not"):
        list(load_protocol(str(small)).entries())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (SMALL.replace("instances = 2", "instances = 0"), "instances"),
        (SMALL.replace("heldout", "test"), "split"),
        (SMALL + 'extra = ["x"]\nother = 3', "tasks.other"),
        ("looks = 3" + SMALL, "looks"),
        ("[", "cannot be read"),
    ],
)
def test_a_damaged_protocol_is_told(small: Path, text: str, told: str) -> None:
    small.write_text(text)
    with pytest.raises(UserError, match=told):
        load_protocol(str(small))


@pytest.mark.parametrize(
    "given",
    [
        ("--episodes", "2"), ("--attempts", "1"), ("--split", "heldout"), ("--seed", "0"),
        ("--set", "level=hard"), ("--task", "Login"), ("--category", "mail"), ("--tag", "x"),
        ("--difficulty", "easy"), ("--file", "tasks.txt"), ("--observation", "both"),
        ("--run", "runs/x"),
    ],
)  # fmt: skip
def test_what_the_protocol_says_is_not_given_beside_it(
    ask: Ask, capsys: pytest.CaptureFixture[str], given: tuple[str, str]
) -> None:
    assert ask("--protocol", "v1", "--agent", "random", *given) == 2
    assert f"{given[0]} is fixed by the protocol v1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--protocol", "v2"), "there is no protocol 'v2'"),
        (("--protocol", "none.toml"), "cannot be read"),
        (("--protocol", "v1", "--suite", "androit"), "Did you mean 'android'"),
        (("--price-in", "1"), "go together"),
        (("--price-in", "inf", "--price-out", "1"), "not inf"),
        (("--price-in", "1", "--price-out", "2"), "random is none"),
        (("--suite", "all", "--category", "paper"), "no task has the category"),
    ],
)
def test_wrong_usage_is_told(
    ask: Ask, capsys: pytest.CaptureFixture[str], given: tuple[str, ...], told: str
) -> None:
    assert ask("--agent", "random", "--print", *given) == 2
    assert told in capsys.readouterr().err


def test_a_plan_is_printed_and_nothing_is_played(
    ask: Ask, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert ask("--protocol", "v1", "--agent", "random", "--out", out, "--print", "--json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["tasks"], plan["episodes"], plan["protocol"]) == (117, 234, "v1-2fc3d0b0")
    assert plan["most turns"] == sum(play["most turns"] for play in plan["plays"])
    assert {play["episodes"] for play in plan["plays"]} == {2}
    assert not out.exists()
    assert ask("--protocol", "v1", "--suite", "browser", "--agent", "random", "--print") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "browser\tUI/Autocomplete-v0\t2\t28"
    assert "episodes\t60" in lines


def test_suite_all_is_every_family_of_three_suites(
    ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask("--suite", "all", "--agent", "random", "--episodes", "1", "--print", "--json") == 0
    plays = json.loads(capsys.readouterr().out)["plays"]
    suites = ("browser", "android", "desktop")
    wanted = {spec.id for suite in suites for spec in families(suite, extra=True)}
    assert {play["task"] for play in plays} == wanted
    assert not any(MEMBER_TAG in registry.spec(task).tags for task in wanted)
    assert ask("--suite", "all", "--category", "settings", "--agent", "random", "--print") == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split("\t")[0] for line in lines if "UI/" in line} == {"browser", "android"}


# -- tokens and what they cost --


def told(usage: Any) -> Callable[[int], dict[str, Any]]:
    return lambda number: {"usage": usage}


def test_tokens_are_counted_and_priced(chat: Chat, tmp_path: Path) -> None:
    url, asked = chat(
        "click(3, 3)",
        told=lambda number: {"usage": {"prompt_tokens": 1000, "completion_tokens": number}},
    )
    plan = settings(
        "PaintClick", "PaintText", agent=f"openai:m@{url}", envs=1, out=tmp_path,
        prices=TokenPrices(2.0, 10.0),
    )  # fmt: skip
    found = evaluate(plan)
    n = len(asked)
    assert n == sum(episode.steps for episode in found.episodes) > 6
    assert found.report.total.usage == TokenUsage(1000 * n, n * (n + 1) // 2)
    assert found.report.cost == pytest.approx((2000 * n + 10 * n * (n + 1) / 2) / 1e6)
    parts = [part.usage for part in found.report.by_task.values() if part.usage is not None]
    assert parts[0] + parts[1] == found.report.total.usage
    kept = json.loads((tmp_path / "report.json").read_text())
    assert kept["usage"] == {"prompt": 1000 * n, "completion": n * (n + 1) // 2}
    assert kept["cost"] == found.report.cost
    for name in ("report.md", "report.html"):
        text = (tmp_path / name).read_text()
        assert f"{n},000 in, {n * (n + 1) // 2} out" in text
        assert f"${found.report.cost:.2f}" in text
    assert evaluate(plan).report.total == found.report.total  # as read again from the folder


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        [],
        "many",
        {"prompt_tokens": 3},
        *(
            {"prompt_tokens": count, "completion_tokens": 1}
            for count in (None, -1, "2", True, 1.5, 10**400)
        ),
    ],
)
def test_a_server_that_tells_no_tokens_leaves_them_unknown(
    chat: Chat, tmp_path: Path, usage: Any
) -> None:
    url, _ = chat("click(3, 3)", told=told(usage))
    plan = settings(
        "PaintClick", agent=f"openai:m@{url}", out=tmp_path, episodes=1, max_steps=2,
        prices=TokenPrices(1.0, 1.0),
    )  # fmt: skip
    report = evaluate(plan).report
    assert (report.n, report.total.usage, report.cost) == (1, None, None)
    assert "| tokens | unknown |" in (tmp_path / "report.md").read_text()


def test_one_answer_that_nobody_counted_leaves_the_sum_unknown(chat: Chat) -> None:
    one = {"usage": {"prompt_tokens": 5, "completion_tokens": 1}}
    url, _ = chat("click(3, 3)", told=lambda number: one if number != 2 else {})
    report = evaluate(settings("PaintClick", agent=f"openai:m@{url}", envs=1)).report
    assert report.total.usage is None


def test_tokens_of_agents_that_no_server_plays_are_no_matter(tmp_path: Path) -> None:
    report = evaluate(settings("PaintClick", out=tmp_path)).report
    assert report.total.usage is None
    assert "tokens" not in (tmp_path / "report.md").read_text()


def test_parts_that_vendors_count_apart_are_summed() -> None:
    read = {"input_tokens": 1, "cache_read_input_tokens": 20, "cache_creation_input_tokens": None}
    assert MESSAGES.read({"usage": read | {"output_tokens": 3}}) == TokenUsage(21, 3)
    google = {"promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 30}
    assert CONTENT.read({"usageMetadata": google}) == TokenUsage(7, 32)
    assert CHAT.read("down for maintenance") is None


def test_episodes_of_older_versions_are_read(tmp_path: Path) -> None:
    turn = Turn("", "click(1, 1)", usage=TokenUsage(5, 2))
    episode = Episode("UI/PaintClick-v0", 1, "goal", [turn])
    store = EpisodeStore(tmp_path)
    store.add([episode])
    assert list(store) == [episode]
    written = to_json(episode)
    del written["turns"][0]["usage"]
    assert from_json(written).turns[0].usage is None


# -- who plays --


def test_the_careless_oracle_makes_mistakes_at_its_rate() -> None:
    found = evaluate(settings("PaintClick", agent="careless", episodes=60, envs=4)).report
    low, high = found.interval
    assert low < 1 - CARELESS < high
    assert 0.2 < found.success < 0.8


def test_the_careless_oracle_makes_the_mistakes_of_each_of_several_tasks() -> None:
    plan = settings("PaintClick", "PaintText", agent="careless", episodes=40, envs=4)
    for part in evaluate(plan).report.by_task.values():
        assert 0.2 < part.success < 0.8


# -- rows --


def row(path: Path) -> ScoreboardRow:
    return read_row(path / "scoreboard.json")


def test_a_row_is_written_and_says_how_it_came_about(
    ask: Ask, chat: Chat, small: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    url, asked = chat("click(3, 3)", told=told({"prompt_tokens": 100, "completion_tokens": 10}))
    out = tmp_path / "out"
    agent = ("--agent", f"openai:maker/model-7b@{url}", "--envs", "2")
    given = ("--protocol", small, "--suite", "paint", "--out", out, *agent)
    assert ask(*given, "--price-in", "1", "--price-out", "5", "--sample") == 0
    printed = capsys.readouterr().out
    assert f"row: {out / 'scoreboard.json'}" in printed
    turns = len(asked)
    assert f"{100 * turns:,} in, {10 * turns:,} out" in printed
    assert "127.0.0.1" not in (out / "scoreboard.json").read_text()
    assert {question["temperature"] for question in asked} == {1.0}
    found = row(out)
    assert (found.agent, found.model, found.dialect) == ("openai", "maker/model-7b", "canonical")
    assert (found.answers, found.date[:2], found.version[:1]) == ("sampled", "20", "0")
    assert (found.total.n, found.suites["paint"].n) == (4, 4)
    assert [part.n for part in found.tasks.values()] == [2, 2]
    assert found.total.usage == TokenUsage(100 * turns, 10 * turns)
    assert found.cost == pytest.approx((100 * turns + 50 * turns) / 1e6)
    assert found.seconds > 0
    assert len(found.revision or "") in (0, 40, 46)
    check_row(found, load_protocol(str(small)), "row")
    episodes = (out / "episodes.jsonl").read_text()
    assert ask(*given, "--sample") == 0  # nothing is played again, and the row has no prices now
    assert (out / "episodes.jsonl").read_text() == episodes
    assert (row(out).prices, row(out).cost, row(out).total) == (None, None, found.total)
    with pytest.raises(UserError, match="holds another evaluation"):
        evaluate(settings("PaintClick", out=out))


def test_an_evaluation_without_a_protocol_writes_no_row(ask: Ask, tmp_path: Path) -> None:
    asked = ("--task", "PaintClick", "--agent", "oracle", "--episodes", "1", "--envs", "1")
    assert ask(*asked, "--out", tmp_path) == 0
    assert (tmp_path / "report.json").exists()
    assert not (tmp_path / "scoreboard.json").exists()


# -- the board --

HAND = load_protocol("v1").model_copy(
    update={
        "version": "hand",
        "instances": 2,
        "tasks": {"north": ("UI/A-v0", "UI/B-v0"), "south": ("UI/C-v0",)},
    }
)


def part(success: float, n: int = 2, **given: Any) -> dict[str, Any]:
    return {
        "success": success, "n": n, "interval": [0.0, 1.0], "score": success,
        "valid_actions": 0.9, "turns": 3.0, "failures": 0, "usage": None,
    } | given  # fmt: skip


def written(
    north: tuple[float, float] = (1.0, 0.5), south: float | None = 0.0, **given: Any
) -> dict[str, Any]:
    """A row by hand, of what two tasks and one came to."""
    tasks = {"UI/A-v0": part(north[0]), "UI/B-v0": part(north[1])}
    suites = {"north": part(sum(north) / 2, 4)}
    if south is not None:
        tasks["UI/C-v0"] = part(south)
        suites["south"] = part(south, 2)
    total = sum(p["success"] for p in tasks.values()) / len(tasks)
    usage = given.pop("usage", None)
    return {
        "schema": 1, "protocol": {"version": "hand", "hash": HAND.digest}, "agent": "openai",
        "model": "some", "dialect": "canonical", "answers": "greedy",
        "date": "2026-11-24T10:00:00+00:00", "version": "0.1.0", "revision": "a" * 40 + "-dirty",
        "machine": "a box", "total": part(total, 2 * len(tasks), usage=usage), "suites": suites,
        "tasks": tasks, "seconds": 5.0, "prices": None, "cost": None,
    } | given  # fmt: skip


def shown(tmp_path: Path, **rows: dict[str, Any]) -> list[list[str]]:
    """The cells of the board of rows, as they come from their files."""
    for name, values in rows.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(values))
    text = board({name: read_row(tmp_path / f"{name}.json") for name in rows}, HAND)
    table = [line for line in text.splitlines() if line.startswith("|")]
    return [line.strip("| ").split(" | ") for line in (table[0], *table[2:])]


def test_the_best_stands_first_and_a_row_with_a_hole_last(tmp_path: Path) -> None:
    head, *rows = shown(
        tmp_path,
        part=written((1.0, 1.0), south=None, model="half"),
        bad=written((0.0, 0.0), model="bad"),
        good=written((1.0, 1.0), 1.0, model="good", usage={"prompt": 12345, "completion": 6},
                     prices={"prompt": 1, "completion": 1}, cost=0.126),
        oracle=written((1.0, 0.5), 0.5, agent="oracle", model="", answers=""),
    )  # fmt: skip
    assert head[:4] == ["agent", "all (6)", "north (4)", "south (2)"]
    assert [cells[0] for cells in rows] == [
        "openai: good", "oracle", "openai: bad", "openai: half"
    ]  # fmt: skip
    best, ceiling, worst, hole = rows
    assert best[1] == "100.0 (0 to 100)"
    assert best[7:9] == ["12,345 in, 6 out", "$0.13"]
    assert ceiling[7:9] == ["", ""]
    assert worst[7:9] == ["unknown", "unknown"]
    assert worst[9:] == ["canonical, greedy", "0.1.0 aaaaaaaa+", "2026-11-24", "bad.json"]
    assert hole[1] == hole[3] == ""
    assert hole[2] == "100.0 (0 to 100)"


def test_what_a_stranger_wrote_is_no_markup(tmp_path: Path) -> None:
    _, cells = shown(tmp_path, evil=written(model="<script> | [x](http://y)\n| **z**"))
    assert len(cells) == 13
    assert cells[0] == r"openai: \<script\> \| \[x\](http://y) \| \*\*z\*\*"


def with_task(**given: Any) -> dict[str, Any]:
    values = written()
    values["tasks"]["UI/B-v0"] |= given
    return values


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (written(protocol={"version": "hand", "hash": "0" * 64}), "is of another protocol"),
        (written() | {"schema": 2}, "no row of schema 1 but of 2"),
        (written() | {"tasks": {"UI/A-v0": part(1.0), "UI/C-v0": part(0.0)}}, "lacks 1 tasks"),
        (written() | {"tasks": written()["tasks"] | {"UI/D-v0": part(1.0)}}, "other suites"),
        (written() | {"suites": {"north": part(0.75, 4)}}, "other suites or tasks"),
        (written() | {"tasks": {}, "suites": {}}, "other suites or tasks"),
        (with_task(n=1), "1 of 2 episodes of UI/B-v0"),
        (with_task(failures=1), "plays those anew that failed"),
        (with_task(success=1.0), "total is not what its tasks come to"),
        (with_task(success=1.5), "tasks.UI/B-v0.success"),
        (with_task(success=float("nan")), "tasks.UI/B-v0.success"),
        (written() | {"key": "sk-1"}, "key: Extra inputs"),
        (written() | {"cost": -1}, "cost"),
        (["no", "row"], "no row of schema 1"),
    ],
)  # fmt: skip
def test_a_row_that_does_not_fit_is_refused(tmp_path: Path, values: Any, told: str) -> None:
    with pytest.raises(UserError, match=told):
        shown(tmp_path, row=values)


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "row.json").write_text("{")
    with pytest.raises(UserError, match="cannot be read"):
        read_row(tmp_path / "row.json")


def test_the_board_goes_between_its_markers() -> None:
    page = f"above\n{BEGIN}\nold\n{END}\nbelow\n"
    first = put_board(page, "| new |\n")
    assert put_board(first, "| new |\n") == first
    assert "old" not in first
    assert first.startswith("above\n")
    assert first.endswith("below\n")
    with pytest.raises(UserError, match="each once"):
        put_board("above", "new")


def test_the_page_is_up_to_date_and_holds_the_rows_that_need_no_model() -> None:
    script = ROOT / "docs" / "scoreboard.py"
    run = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    names = {path.stem for path in (ROOT / "docs" / "scoreboard").glob("*.json")}
    assert {"oracle", "careless", "random"} <= names
    oracle = read_row(ROOT / "docs" / "scoreboard" / "oracle.json")
    assert oracle.total.n == 234


def test_a_row_that_is_put_in_makes_the_page_out_of_date(tmp_path: Path) -> None:
    """The script itself, on a copy of the documents."""
    spec = importlib.util.spec_from_file_location("scoreboard_script", ROOT / "docs/scoreboard.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    (tmp_path / "scoreboard").mkdir()
    (tmp_path / "scoreboard.md").write_text(f"{BEGIN}\n{END}\n")
    oracle = (ROOT / "docs" / "scoreboard" / "oracle.json").read_text()
    (tmp_path / "scoreboard" / "mine.json").write_text(oracle.replace('"oracle"', '"mine"'))
    assert "| mine |" in script.updated(tmp_path)
    values = json.loads(oracle)
    del values["tasks"]["UI/Login-v0"]
    (tmp_path / "scoreboard" / "mine.json").write_text(json.dumps(values))
    with pytest.raises(UserError, match="lacks 1 tasks"):
        script.updated(tmp_path)


def test_the_protocol_is_read_as_it_is_written() -> None:
    path = ROOT / "ui_gym_agents" / "evaluation" / "protocol_v1.toml"
    protocol = ScoreboardProtocol.model_validate(tomllib.loads(path.read_text()))
    assert protocol == load_protocol("v1")
    assert protocol.episodes == protocol.instances * protocol.attempts
