"""Checkpoints: whole or absent, and never used when damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ui_gym_agents.training import checkpoint
from ui_gym_agents.training.checkpoint import CheckpointError


def write(directory: Path, text: str = "weights") -> None:
    (directory / "weights.bin").write_text(text)
    (directory / "inner").mkdir()
    (directory / "inner" / "more.txt").write_text("more")


def save(directory: Path, *steps: int, keep: int = 9) -> Path:
    path = directory
    for step in steps:
        path = checkpoint.save(directory, step, write, {"of": step}, keep)
    return path


def test_what_is_saved_is_verified_and_loaded(tmp_path: Path) -> None:
    path = save(tmp_path, 12)
    assert path.name == "step_000012"
    loaded = checkpoint.load(path)
    assert loaded.step == 12
    assert loaded.state["next_step"] == 13
    assert loaded.state["of"] == 12
    assert loaded.state["versions"]["python"]
    manifest = json.loads((path / "manifest.json").read_text())
    assert set(manifest) == {"weights.bin", "inner/more.txt", "state.json"}
    assert manifest["weights.bin"]["size"] == 7


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    save(tmp_path, 2, 4, 6, 8, keep=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["step_000006", "step_000008"]
    assert checkpoint.latest(tmp_path) == tmp_path / "step_000008"
    assert checkpoint.latest(tmp_path / "none") is None


def test_saving_a_step_again_replaces_it(tmp_path: Path) -> None:
    save(tmp_path, 2)
    checkpoint.save(tmp_path, 2, lambda d: write(d, "new weights"), {}, 3)
    assert (tmp_path / "step_000002" / "weights.bin").read_text() == "new weights"
    assert checkpoint.load(tmp_path / "step_000002").step == 2


@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt])
def test_an_attempt_that_fails_leaves_nothing(tmp_path: Path, kind: type[BaseException]) -> None:
    save(tmp_path, 2)

    def fail(directory: Path) -> None:
        write(directory)
        raise kind

    with pytest.raises(kind):
        checkpoint.save(tmp_path, 4, fail, {}, 3)
    assert [p.name for p in tmp_path.iterdir()] == ["step_000002"]


def test_a_half_written_folder_of_a_killed_process_is_not_seen(tmp_path: Path) -> None:
    save(tmp_path, 2)
    write_to = tmp_path / "step_000004.tmp"
    write_to.mkdir()
    write(write_to)
    found = checkpoint.load_newest(tmp_path, fall_back=False)
    assert found is not None
    assert found.step == 2
    assert not write_to.exists()


def test_the_host_keeps_its_own_names(tmp_path: Path) -> None:
    def write_state(directory: Path) -> None:
        (directory / "state.json").write_text("mine")

    with pytest.raises(CheckpointError, match=r"save wrote state.json, a name that the host keeps"):
        checkpoint.save(tmp_path, 1, write_state, {}, 3)


def spoil_content(path: Path) -> str:
    (path / "weights.bin").write_text("WEIGHTS")
    return "the content of weights.bin has changed"


def spoil_size(path: Path) -> str:
    (path / "weights.bin").write_text("")
    return "weights.bin has 0 bytes instead of 7"


def spoil_by_removal(path: Path) -> str:
    (path / "inner" / "more.txt").unlink()
    return "inner/more.txt is missing"


def spoil_manifest(path: Path) -> str:
    (path / "manifest.json").write_text('{"weights')
    return "manifest.json cannot be read"


def spoil_manifests_words(path: Path) -> str:
    text = (path / "manifest.json").read_text()
    (path / "manifest.json").write_text(text.replace('"size"', '"sizd"', 1))  # a bit of it
    return "manifest.json does not say what "


def spoil_manifests_facts(path: Path) -> str:
    (path / "manifest.json").write_text(json.dumps({"weights.bin": 7, "state.json": None}))
    return "manifest.json does not say what weights.bin was"


def spoil_manifests_names(path: Path) -> str:
    told = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps({"x" * 300: told["weights.bin"]} | told))
    return f"{'x' * 300} is missing"


def spoil_manifests_depth(path: Path) -> str:
    (path / "manifest.json").write_text("[" * 100_000)
    return "manifest.json cannot be read"


def spoil_manifest_away(path: Path) -> str:
    (path / "manifest.json").unlink()
    return "manifest.json is missing"


@pytest.mark.parametrize(
    "spoil",
    [spoil_content, spoil_size, spoil_by_removal, spoil_manifest, spoil_manifests_words,
     spoil_manifests_facts, spoil_manifests_names, spoil_manifests_depth, spoil_manifest_away],
)  # fmt: skip
def test_damage_is_named_and_the_one_before_can_be_taken(tmp_path: Path, spoil) -> None:  # type: ignore[no-untyped-def]
    save(tmp_path, 2, 4)
    told = spoil(tmp_path / "step_000004")
    with pytest.raises(CheckpointError) as caught:
        checkpoint.load_newest(tmp_path, fall_back=False)
    assert f"{tmp_path / 'step_000004'} is damaged: {told}" in str(caught.value)
    assert "to resume from the checkpoint before it, add --fall-back" in str(caught.value)
    warnings: list[str] = []
    found = checkpoint.load_newest(tmp_path, fall_back=True, warn=warnings.append)
    assert found is not None
    assert found.step == 2
    assert told in warnings[0]
    assert (tmp_path / "step_000004.damaged").is_dir()
    assert save(tmp_path, 4).name == "step_000004"


def test_all_damaged_is_an_error_and_none_is_none(tmp_path: Path) -> None:
    assert checkpoint.load_newest(tmp_path, fall_back=True) is None
    spoil_size(save(tmp_path, 2))
    with pytest.raises(CheckpointError, match=r"all checkpoints in .* are damaged"):
        checkpoint.load_newest(tmp_path, fall_back=True)
