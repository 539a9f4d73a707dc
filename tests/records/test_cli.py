"""`ui-gym-records`, on runs of the toy trainer and on a story's database."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import story
from PIL import Image

from ui_gym_agents.episode import Purpose
from ui_gym_agents.records import export, queries
from ui_gym_agents.records.database import open_database
from ui_gym_agents.records.recorder import RunRecorder
from ui_gym_agents.records.target import DatabaseTarget, of_file
from ui_gym_agents.store import EpisodeStore, ScreenshotStore

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run's directory with its database, episodes and one picture."""
    folder = tmp_path / "runs" / "first"
    picture = folder / "episodes" / "screenshots" / "ab" / ("ab" * 32 + ".webp")
    picture.parent.mkdir(parents=True)
    Image.new("RGB", (8, 6), "red").save(picture, "WEBP", lossless=True)
    target = of_file(folder / "records.sqlite")
    story.Run(folder, RunRecorder(target, folder, print)).whole()
    return folder


def test_ls_and_show(command: Command, run: Path) -> None:
    status, output, _ = command("ls", "--runs", run.parent)
    assert status == 0
    assert output.splitlines()[-1].split()[:6] == ["first", "grpo", "finished", "2/2", "6", "0.0"]
    _, output, _ = command("ls", "--runs", run.parent, "--json")
    assert json.loads(output)[0]["success"] == 1.0
    _, output, _ = command("show", run)
    assert "step_000002" in output
    assert "parse (6)" in output
    _, output, _ = command("show", "first", "--runs", run.parent, "--json")
    shown = json.loads(output)
    assert [step["number"] for step in shown["steps"]] == [1, 2]
    assert shown["config"]["plugin"] == "grpo"


def test_an_unknown_run_gets_the_nearest_name(command: Command, run: Path) -> None:
    status, _, errors = command("show", "frist", "--runs", run.parent)
    assert status == 2
    assert "'frist'" in errors
    assert "first" in errors
    status, _, errors = command("show", "first", "--runs", run.parent / "nowhere")
    assert (status, "--runs names another folder" in errors) == (2, True)


def test_jsonl_holds_the_episodes_as_they_were(command: Command, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert command("export", run, out)[0] == 0
    found = story.lines(out)
    assert len(found) == story.COUNTS["rollout"]
    assert found[0]["purpose"] == {"kind": "baseline", "step": 0, "mode": "greedy"}
    for line in found:
        del line["run"]
    store = EpisodeStore(tmp_path)
    (tmp_path / "episodes.jsonl").write_text("".join(json.dumps(x) + "\n" for x in found))
    expected = story.episode("2-0.1", "2-0")
    expected.purpose = Purpose("step", 2)
    assert expected in list(store)


def test_parquet_holds_pictures_as_datasets_reads_them(
    command: Command, run: Path, tmp_path: Path
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    out = tmp_path / "out.parquet"
    assert command("export", run, out)[0] == 0
    table = parquet.read_table(out)
    rows = table.to_pylist()
    assert len(rows) == story.COUNTS["turn"]
    assert Image.open(io.BytesIO(rows[0]["image"]["bytes"])).size == (8, 6)
    assert rows[1]["image"] is None
    assert rows[0]["output_ids"] == [3, 4]
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert features["image"] == {"_type": "Image"}
    assert set(features) == set(rows[0])


def test_datasets_reads_parquet_and_sees_the_pictures(
    command: Command, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets", reason="needs datasets, as `verl` and `skyrl` do")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    out = tmp_path / "out.parquet"
    assert command("export", run, out)[0] == 0
    read = datasets.Dataset.from_parquet(str(out), cache_dir=str(tmp_path / "cache"))
    assert read.features["image"] == datasets.Image()
    first, second = read[0], read[1]
    assert (first["image"].size, first["image"].getpixel((0, 0))) == ((8, 6), (255, 0, 0))
    assert second["image"] is None
    assert (first["action_text"], first["output_ids"]) == ('type("é")', [3, 4])
    again = tmp_path / "again.parquet"
    read.to_parquet(str(again))
    assert datasets.Dataset.from_parquet(str(again))[0]["image"].size == (8, 6)


def test_the_columns_of_parquet_are_what_a_turn_is_written_as(run: Path) -> None:
    with open_database(of_file(run / "records.sqlite")).connect() as connection:
        rows = list(export.turn_rows(connection, queries.find(connection, "first")))
    assert len(rows) == story.COUNTS["turn"]
    assert {frozenset(row) for row in rows} == {frozenset(export.COLUMNS)}
    assert (rows[0]["turn"], rows[0]["action_text"], rows[0]["output_ids"]) == (
        0, 'type("é")', (3, 4),
    )  # fmt: skip


def test_parquet_without_pyarrow_says_what_to_install(
    command: Command, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    status, _, errors = command("export", run, tmp_path / "out.parquet")
    assert (status, "pip install pyarrow" in errors) == (2, True)
    assert not (tmp_path / "out.parquet").exists()


def test_a_zip_is_read_in_whole(
    command: Command,
    run: Path,
    database: DatabaseTarget,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "out.zip"
    assert command("export", run, out)[0] == 0
    monkeypatch.setenv("UI_GYM_DATABASE_URL", database.url.render_as_string(hide_password=False))
    assert command("import", out, "--into", tmp_path / "theirs")[0] == 0
    assert story.counts(open_database(database)) == story.COUNTS
    again = tmp_path / "again.zip"
    assert command("export", "first", again)[0] == 0
    with zipfile.ZipFile(out) as before, zipfile.ZipFile(again) as after:
        assert sorted(before.namelist()) == sorted(after.namelist())
        for name in ("episodes/episodes.jsonl", f"episodes/screenshots/ab/{'ab' * 32}.webp"):
            assert before.read(name) == after.read(name)
    status, _, errors = command("import", out, "--into", tmp_path / "theirs")
    assert (status, "is not empty" in errors) == (2, True)


def test_a_zip_of_a_run_that_packs_its_pictures_has_a_file_of_each(
    command: Command, run: Path, tmp_path: Path
) -> None:
    pages = [np.full((6, 8, 3), value, np.uint8) for value in (0, 255)]
    store = ScreenshotStore(run / "episodes" / "screenshots")
    keys = [store.put(page) for page in pages]
    out = tmp_path / "out.zip"
    assert command("export", run, out)[0] == 0
    assert command("import", out, "--into", tmp_path / "theirs")[0] == 0
    (theirs,) = (tmp_path / "theirs").rglob("screenshots")
    assert all(theirs.joinpath(key[:2], f"{key}.webp").is_file() for key in keys)
    assert (ScreenshotStore(theirs).get(keys[1]) == 255).all()


def test_a_zip_that_would_do_more_is_refused(command: Command, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.zip"
    command("export", run, out)
    bad = tmp_path / "bad.zip"
    with zipfile.ZipFile(out) as source, zipfile.ZipFile(bad, "w") as target:
        target.writestr("manifest.json", source.read("manifest.json"))
        target.writestr("screenshots/../../escaped.webp", b"")
    status, _, errors = command("import", bad, "--into", tmp_path / "theirs")
    assert (status, "is no file of a run's records" in errors) == (2, True)
    (tmp_path / "text.zip").write_text("no archive")
    status, _, errors = command("import", tmp_path / "text.zip")
    assert (status, "is no archive" in errors) == (2, True)
    assert not list(tmp_path.rglob("escaped.webp"))


def test_a_folder_that_takes_nothing_is_no_damaged_archive(
    command: Command, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.zip"
    command("export", run, out)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    status, _, errors = command("import", out, "--into", tmp_path / "theirs")
    assert (status, "cannot be written" in errors, "damaged" in errors) == (2, True, False)


def test_flush_writes_what_waits(command: Command, run: Path) -> None:
    engine = open_database(of_file(run / "records.sqlite"))
    story.Run(run).tell.checkpoint(1, Path("step_000001"))
    assert command("flush", run)[0] == 0
    assert {row["checkpoint"] for row in story.rows(engine, "step")} == {
        "step_000001", "step_000002"
    }  # fmt: skip
    assert story.counts(engine) == story.COUNTS


def test_rebuild_makes_the_same_anew(command: Command, run: Path, tmp_path: Path) -> None:
    engine = open_database(of_file(run / "records.sqlite"))
    before = story.rows(engine, "rollout")
    status, output, _ = command("rebuild", run)
    assert (status, "6 episodes" in output) == (0, True)
    assert story.counts(engine) == story.COUNTS
    assert story.rows(engine, "rollout") == before
    named = command("rebuild", run.name, "--runs", run.parent)
    assert named == (0, output.replace(f"{run}:", f"{run.parent / run.name}:"), "")
    status, _, errors = command("rebuild", tmp_path)
    assert (status, "is no run's directory" in errors) == (2, True)


def test_upgrade_makes_an_empty_database(command: Command, postgres: DatabaseTarget) -> None:
    url = postgres.url.render_as_string(hide_password=False)
    status, output, _ = command("upgrade", "--database", url)
    assert status == 0
    assert "has revision" in output
    assert "s3cret" not in output


@pytest.mark.parametrize(
    "name",
    ["ls", "show", "compare", "du", "gc", "export", "import", "replay", "rebuild", "upgrade"],
)
def test_every_help_has_an_example(command: Command, name: str) -> None:
    status, output, _ = command(name, "--help")
    assert status == 0
    assert "Example" in output
    assert f"ui-gym-records {name}" in output


def test_wrong_usage_has_status_2(command: Command, run: Path) -> None:
    assert command("export", run)[0] == 2
    status, _, errors = command("export", run, "out.csv")
    assert (status, ".parquet" in errors) == (2, True)
