"""Learning from episodes that were recorded: what is taken, skipped and refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from sft_helpers import Runs, make_policy, record, weights
from three_processes import ThreeProcesses

from ui_gym.errors import UserError
from ui_gym_agents import overrides
from ui_gym_agents.collecting import Recording
from ui_gym_agents.overrides import Override
from ui_gym_agents.store import EpisodeStore, screenshot_hash
from ui_gym_sft import SFTConfig, SFTTrainer


def settings_of(folder: Path, tiny: Path, **changed: str) -> None:
    """A run's configuration beside its recording."""
    env = {"dialect": changed.get("dialect", "cells"), "observation": "screenshot"}
    policy = {"model": changed.get("model", str(tiny)), "history": None}
    (folder / "config.yaml").write_text(json.dumps({"env": env, "policy": policy}))


def test_successes_of_another_run_are_fitted_as_they_were_sampled(
    runs: Runs, recorded: Path
) -> None:
    trainer = runs.trainer(recorded, lr=1e-2, warmup=0)
    assert "8 episodes, 87.5 % of them successful; 7 are kept" in runs.notes[0]
    assert "left out: 1 unsuccessful" in runs.notes[0]
    rows = [runs.step(trainer, n) for n in (1, 2, 3, 4)]
    told = [(row["kept"], row["records"], row["source_success"]) for row in rows]
    assert told == [(7, 14, 0.875)] * 4
    assert rows[-1]["loss"] < 0.7 * rows[0]["loss"]
    learned = {t.tokens for e in EpisodeStore(recorded) if e.success for t in e.turns}
    assert {r for e in trainer.rounds.examples for r in e.records} == learned


def override(folder: Path, id: str, verdict: str, file: str = "episodes.jsonl") -> None:
    """Somebody's verdict on the episode of an id, as the monitor keeps it."""
    start, found = 0, ""
    for line in (folder / file).read_text().splitlines(keepends=True):
        if json.loads(line)["id"] == id:
            found = f"{file}:{start}:{start + len(line.encode())}"
        start += len(line.encode())
    assert found
    said: Any = {"verdict": verdict, "reason": "I saw it", "who": "me"}
    at = datetime.now(UTC).isoformat()
    overrides.append(folder, Override(at=at, episode=id, where=found, **said))


def test_episodes_count_as_people_judged_them_unless_that_is_ignored(
    runs: Runs, recorded: Path
) -> None:
    override(recorded, "5.0", "success")
    override(recorded, "2.0", "failure")
    override(recorded, "3.0", "failure")
    override(recorded, "3.0", "withdrawn")
    override(recorded, "1.0", "success")  # as its task says
    trainer = runs.trainer(recorded)
    kept = {e.id for e in trainer.source.collect().kept}
    assert kept == {f"{n}.0" for n in (0, 1, 3, 4, 5, 6, 7)}
    assert "2 of these episodes count as people judged them" in runs.notes[1]
    judged = trainer.source.fingerprint()
    plain = runs.trainer(recorded, overrides="ignore")
    assert {e.id for e in plain.source.collect().kept} == {f"{n}.0" for n in (0, 1, 2, 3, 4, 6, 7)}
    assert judged != plain.source.fingerprint(), "a resumed run must find the same verdicts"


def test_verdicts_in_a_runs_folder_are_on_its_files(
    runs: Runs, recorded: Path, tmp_path: Path
) -> None:
    run = tmp_path / "some-run"
    run.mkdir()
    recorded.rename(run / "episodes")
    override(run, "5.0", "success", "episodes/episodes.jsonl")
    assert len(runs.trainer(run).source.collect().kept) == 8


def test_overrides_are_for_recordings_alone() -> None:
    with pytest.raises(ValidationError, match=r"it is for source run:PATH or file:PATH"):
        SFTConfig.model_validate({"source": "oracle", "overrides": "ignore"})
    assert SFTConfig.model_validate({"source": "oracle", "overrides": "use"}).overrides == "use"


def test_no_env_is_started_for_it(runs: Runs, recorded: Path) -> None:
    trainer = runs.trainer(recorded)
    runs.step(trainer, 1)
    assert "envs" not in trainer.context.__dict__


def test_each_pass_takes_every_episode_once(runs: Runs, recorded: Path) -> None:
    trainer = runs.trainer(recorded, episodes=3)
    taken: list[str] = []
    for step in range(1, 8):
        runs.step(trainer, step)
        taken += [example.id for example in trainer.rounds.examples]
    ids = sorted(e.id for e in EpisodeStore(recorded) if e.success)
    passes = [taken[start : start + 7] for start in (0, 7, 14)]
    assert [sorted(p) for p in passes] == [ids] * 3
    assert passes[0] != passes[1]


def test_an_exported_file_is_read_whatever_else_its_lines_tell(runs: Runs, recorded: Path) -> None:
    lines = (recorded / "episodes.jsonl").read_text().splitlines()
    exported = recorded / "good.jsonl"
    exported.write_text("\n".join(json.dumps({"run": "r", **json.loads(x)}) for x in lines))
    trainer = runs.trainer(f"file:{exported}")
    assert runs.step(trainer, 1)["kept"] == 7


def test_a_runs_folder_stands_for_its_training_episodes(recorded: Path, tmp_path: Path) -> None:
    run = tmp_path / "some-run"
    run.mkdir()
    recorded.rename(run / "episodes")
    assert len(Recording.of_run(run).episodes) == 8
    (run / "evaluations").mkdir()
    (run / "episodes").rename(run / "evaluations" / "step_000004-greedy")
    with pytest.raises(UserError, match=r"It has evaluations/step_000004-greedy: name one"):
        Recording.of_run(run)


def test_another_model_or_dialect_is_refused_by_name(
    runs: Runs, recorded: Path, tiny: Path
) -> None:
    settings_of(recorded, tiny, model="tiny-eyes", dialect="json")
    with pytest.raises(UserError) as caught:
        runs.trainer(recorded)
    said = str(caught.value)
    assert "its env.dialect is 'json' instead of 'cells'" in said
    assert "its policy.model is 'tiny-eyes' instead of" in said
    assert "--trainer.reencode" in said


def test_an_export_tells_of_its_run_too(runs: Runs, recorded: Path, tiny: Path) -> None:
    settings_of(recorded, tiny, model="tiny-eyes")
    config = json.loads((recorded / "config.yaml").read_text())
    (recorded / "config.yaml").unlink()
    (recorded / "manifest.json").write_text(json.dumps({"run": "r", "config": config}))
    with pytest.raises(UserError, match=r"its policy\.model is 'tiny-eyes' instead"):
        runs.trainer(recorded)


def test_a_model_may_be_named_otherwise(runs: Runs, recorded: Path, tiny: Path) -> None:
    settings_of(recorded, tiny, model=str(tiny / ".." / tiny.name))
    assert runs.step(runs.trainer(recorded), 1)["kept"] == 7


def test_another_prompt_is_refused_though_nothing_else_tells_of_it(
    runs: Runs, tmp_path: Path, tiny: Path
) -> None:
    policy = make_policy(tiny)
    policy.prompt = type(policy.prompt)(system="Be quick.")
    record(EpisodeStore(tmp_path / "other"), policy, 0)
    with pytest.raises(UserError, match=r"the prompt of episode 0\.0, turn 2, is not as this"):
        runs.trainer(tmp_path / "other")
    trainer = runs.trainer(tmp_path / "other", reencode=True)
    runs.step(trainer, 1)
    (example,) = trainer.rounds.examples
    assert example.records == tuple(
        turn.tokens for turn in record(EpisodeStore(), make_policy(tiny), 0).turns
    )


def test_texts_of_another_dialect_are_refused_though_they_have_no_ids(
    runs: Runs, tmp_path: Path
) -> None:
    record(EpisodeStore(tmp_path / "other"), None, 0, texts=('{"action": "type", "text": "Carl"}',))
    with pytest.raises(UserError, match=r"turn 1, is not written in the dialect 'cells': '{\"act"):
        runs.trainer(tmp_path / "other")


def test_another_dialect_is_rewritten_on_purpose(runs: Runs, tmp_path: Path, tiny: Path) -> None:
    folder = tmp_path / "other"
    texts = ('{"action": "type", "text": "Carl"}', '{"action": "wait", "seconds": 1.37}')
    record(EpisodeStore(folder), None, 0, texts=texts)
    settings_of(folder, tiny, dialect="json")
    trainer = runs.trainer(folder, reencode=True)
    runs.step(trainer, 1)
    first = trainer.rounds.examples[0].records[0]
    end = first.output_ids.index(trainer.policy.stops[0])
    assert trainer.policy.tokenizer.decode(first.output_ids[:end]) == 'type("Carl")'


def test_what_cannot_be_read_is_not_encoded_either(runs: Runs, tmp_path: Path) -> None:
    record(EpisodeStore(tmp_path / "other"), None, 0, texts=("just type Carl",))
    with pytest.raises(UserError, match=r"cannot be encoded: episode 0\.0, turn 1, is not written"):
        runs.trainer(tmp_path / "other", reencode=True)


def test_texts_without_ids_are_encoded(runs: Runs, tmp_path: Path) -> None:
    record(EpisodeStore(tmp_path / "other"), None, 0)
    assert runs.step(runs.trainer(tmp_path / "other"), 1)["records"] == 2


def test_episodes_without_pictures_are_skipped_and_counted(
    runs: Runs, recorded: Path, tiny: Path
) -> None:
    record(EpisodeStore(recorded), make_policy(tiny), 20, keep=False)
    runs.trainer(recorded)
    assert "1 without pictures" in runs.notes[0]


def test_where_no_picture_was_kept_it_is_said_how_to_keep_them(
    runs: Runs, tmp_path: Path, tiny: Path
) -> None:
    record(EpisodeStore(tmp_path / "other"), make_policy(tiny), 0, keep=False)
    with pytest.raises(UserError, match=r"1 without pictures\. .*--run\.keep_pictures 1"):
        runs.trainer(tmp_path / "other")


def test_pictures_may_lie_elsewhere(runs: Runs, recorded: Path, tmp_path: Path) -> None:
    exported = tmp_path / "exports" / "r.jsonl"
    exported.parent.mkdir()
    (recorded / "episodes.jsonl").rename(exported)
    with pytest.raises(UserError, match=r"8 without pictures.*--trainer\.pictures"):
        runs.trainer(f"file:{exported}")
    trainer = runs.trainer(f"file:{exported}", pictures=recorded)
    assert runs.step(trainer, 1)["kept"] == 7


def test_what_is_measured_on_is_not_learned(runs: Runs, recorded: Path, tiny: Path) -> None:
    record(EpisodeStore(recorded), make_policy(tiny), 20, split="heldout")
    record(EpisodeStore(recorded), make_policy(tiny), 21, split="train")
    trainer = runs.trainer(recorded)
    assert "1 of the split 'heldout'" in runs.notes[0]
    assert runs.step(trainer, 1)["kept"] == 8


def test_any_reward_may_decide(runs: Runs, recorded: Path) -> None:
    settings = {"success_only": False, "reward": "efficiency", "reward_above": 0.9}
    with pytest.raises(UserError, match="left out: 8 reward"):
        runs.trainer(recorded, reward_parameters={"max_turns": 3.0}, **settings)
    trainer = runs.trainer(recorded, reward_parameters={"max_turns": 30.0}, **settings)
    assert runs.step(trainer, 1)["kept"] == 7


def test_what_a_resumed_run_played_twice_counts_once(recorded: Path) -> None:
    lines = (recorded / "episodes.jsonl").read_text().splitlines(keepends=True)
    (recorded / "episodes.jsonl").write_text("".join([*lines, lines[7], '{"task": "U']))
    recording = Recording.of_run(recorded)
    assert len(recording.episodes) == 8
    assert recording.skipped == {"repeated": 1}


def test_a_damaged_line_is_named(recorded: Path) -> None:
    with (recorded / "episodes.jsonl").open("a") as file:
        file.write('{"task": 1}\n')
    with pytest.raises(UserError, match=r"episodes\.jsonl, line 9: this is no recorded episode"):
        Recording.of_run(recorded)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no recorded episodes"):
        Recording.of_run(tmp_path)
    with pytest.raises(UserError, match="no such file"):
        Recording.of_file(tmp_path / "x.jsonl")


def test_where_nothing_passes_the_filters_it_is_said_why(runs: Runs, recorded: Path) -> None:
    with pytest.raises(UserError, match=r"no episode is left to learn from; left out: 7 long, 1 u"):
        runs.trainer(recorded, max_turns=1)


def test_a_recording_that_changed_is_no_data_to_resume_on(
    runs: Runs, recorded: Path, tmp_path: Path, tiny: Path
) -> None:
    trainer = runs.trainer(recorded)
    runs.step(trainer, 1)
    saved = tmp_path / "saved"
    saved.mkdir()
    trainer.save(saved)
    record(EpisodeStore(recorded), make_policy(tiny), 30)
    with pytest.raises(UserError, match="have changed since this run began"):
        runs.trainer(recorded, runs.context("again")).load(saved)


def test_the_run_ends_with_the_best_weights_when_what_is_held_out_gets_worse(
    runs: Runs, recorded: Path
) -> None:
    trainer = runs.trainer(recorded, heldout=0.3, early_stop_after=2, lr=0.5, warmup=0, epochs=30)
    held = trainer._measured
    assert held
    assert 0 < len(held) < 7
    row = runs.step(trainer, 1)
    assert row["epochs"] < 30
    assert row["heldout_loss"] > trainer.fitter.best.loss
    assert trainer.steps == 1
    best = trainer.fitter.best.loss
    again = runs.step(trainer, 2)
    assert again["heldout_loss_before"] == pytest.approx(best)
    assert "training ends with the weights of its lowest" in runs.notes[-1]


def forget(trainer: SFTTrainer) -> None:
    """Make the adapter one of zeros: it changes nothing, and has no gradient to learn by."""
    with torch.no_grad():
        for parameter in trainer.policy.parameters():
            parameter.zero_()


PATIENT = {"heldout": 0.3, "early_stop_after": 9, "lr": 1e-2, "warmup": 0}


def test_the_last_step_takes_the_best_weights_back_though_it_would_have_gone_on(
    runs: Runs, recorded: Path
) -> None:
    trainer = runs.trainer(recorded, runs.context(steps=2), **PATIENT)
    best = runs.step(trainer, 1)["heldout_loss"]
    good = weights(trainer)
    forget(trainer)
    assert runs.step(trainer, 2)["heldout_loss"] > best
    assert weights(trainer) == good
    assert f"training ends with the weights of its lowest, {best:.4g}" in runs.notes[-1]
    assert trainer.steps is None, "a resumed run may be given more steps"


def test_a_last_step_without_anything_to_learn_takes_the_best_weights_back_too(
    runs: Runs, recorded: Path
) -> None:
    trainer = runs.trainer(recorded, runs.context(steps=3), **PATIENT)
    runs.step(trainer, 1)
    good = weights(trainer)
    forget(trainer)
    runs.step(trainer, 2)
    assert weights(trainer) != good, "there is another step"
    version = trainer.policy.version
    trainer.source.records = lambda episode: []  # type: ignore[method-assign]
    assert "loss" not in runs.step(trainer, 3)
    assert weights(trainer) == good
    assert trainer.policy.version > version, "whoever samples must see that weights changed"


def test_the_episodes_of_a_step_are_those_that_it_took(runs: Runs, recorded: Path) -> None:
    """The host counts them against `run.episode_limit`."""
    row = runs.step(runs.trainer(recorded, episodes=3), 1)
    assert (row["episodes"], row["kept"], row["recorded_episodes"]) == (3, 3, 8)
    assert (row["dropped_unsuccessful"], row["source_success"]) == (1, 0.875)


def test_a_process_gets_the_pictures_of_its_episodes_alone(recorded: Path, runs: Runs) -> None:
    context = runs.context()
    context.processes = ThreeProcesses()
    trainer = runs.trainer(recorded, context, epochs=2, batch_size=6, heldout=0.3)
    runs.step(trainer, 1)
    data = trainer._collect()
    kept = [*data.fitted, *data.measured]
    assert any(e.heldout for e in kept)
    handed = context.processes.handed
    for index, pictures in enumerate(handed):
        own = [e for e in kept if e.owner == index]
        wanted = {key for e in own for record in e.records for key in record.images}
        assert {screenshot_hash(picture) for picture in pictures} == wanted
        assert wanted
    seen = {key for e in kept for record in e.records for key in record.images}
    assert sum(map(len, handed)) == len(seen)  # each goes to one of them
