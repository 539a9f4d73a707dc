"""Tasks without a device: draws, splits, mistakes, and what the registry knows of them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path

import gymnasium
import numpy as np
import paint
import pytest

import ui_gym
from ui_gym.contract import registry
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.task import HELDOUT_SHARE, Task, Verdict, params_json, split_of
from ui_gym.errors import TaskError, UserError


@pytest.fixture
def task() -> paint.PaintText:
    return paint.PaintText()


def test_a_seed_always_gives_the_same_params(task: paint.PaintText) -> None:
    drawn = [task.draw(seed, "train") for seed in range(20)]
    assert drawn == [task.draw(seed, "train") for seed in range(20)]
    assert len(set(drawn)) > 15


def test_no_params_are_in_both_splits(task: paint.PaintText) -> None:
    train = {params_json(task.draw(seed, "train")) for seed in range(200)}
    heldout = {params_json(task.draw(seed, "heldout")) for seed in range(200)}
    assert not train & heldout
    assert {split_of(task.draw(seed, "heldout")) for seed in range(20)} == {"heldout"}


def test_the_heldout_share_is_as_documented(task: paint.PaintText) -> None:
    splits = [split_of(task.draw(seed)) for seed in range(1000)]
    assert abs(splits.count("heldout") / 1000 - HELDOUT_SHARE) < 0.06


def test_a_task_that_varies_too_little_for_a_split_says_so(task: paint.PaintText) -> None:
    task.sample = lambda rng: paint.Scene((), "red", "")  # type: ignore[method-assign]
    missing = "heldout" if split_of(task.draw(0)) == "train" else "train"
    with pytest.raises(TaskError, match="vary too little"):
        task.draw(0, missing)  # type: ignore[arg-type]


def test_params_are_hashed_by_their_values() -> None:
    @dataclass(frozen=True)
    class Params:
        number: int | np.int64
        names: tuple[str, ...] = ("a",)

    assert (
        params_json(Params(3)) == params_json(Params(np.int64(3))) == '{"names":["a"],"number":3}'
    )
    with pytest.raises(TypeError, match="params hold a object"):
        params_json({"x": object()})


def test_mistakes_happen_at_their_rates_and_always_alike(task: paint.PaintText) -> None:
    params = task.draw(1)
    assert task.misunderstand(params, {"other_color": 0.0}, 1) == params
    assert task.misunderstand(params, {"other_color": 1.0}, 1).target != params.target
    taken = [task.misunderstand(params, {"other_color": 0.3}, seed) for seed in range(400)]
    assert taken == [task.misunderstand(params, {"other_color": 0.3}, seed) for seed in range(400)]
    assert 0.2 < sum(one != params for one in taken) / 400 < 0.4
    with pytest.raises(UserError, match="Did you mean 'other_color'"):
        task.misunderstand(params, {"other_colour": 1.0}, 1)


def test_a_score_lies_between_0_and_1() -> None:
    assert Verdict(1.0).success
    assert not Verdict(0.99).success
    with pytest.raises(TaskError, match=r"\[0, 1\], not 1.5"):
        Verdict(1.5)


def test_a_registered_task_is_found_by_id_and_name() -> None:
    spec = registry.spec("PaintText")
    assert spec is registry.spec("UI/PaintText-v0") is registry.spec("PaintText-v0")
    assert spec.load() is paint.PaintText
    assert (spec.suite, spec.category, spec.max_steps) == ("paint", "input", 6)
    assert spec.summary.startswith("Click the box, write")
    assert spec in registry.specs()
    with pytest.raises(UserError, match="Did you mean 'UI/PaintText-v0'"):
        registry.spec("UI/PaintTest-v0")


def test_a_registered_task_is_a_gymnasium_id_that_survives_json() -> None:
    spec = gymnasium.spec("UI/PaintClick-v0")
    again = gymnasium.envs.registration.EnvSpec.from_json(spec.to_json())
    assert again.make(max_steps=2).unwrapped.task.spec.id == "UI/PaintClick-v0"
    assert spec.max_episode_steps is None


@pytest.mark.parametrize("module", ["no_such_package.tasks", "leaving_package"])
def test_a_task_of_another_distribution_that_is_broken_says_so_when_it_is_made(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "leaving_package.py").write_text("raise SystemExit(3)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    group = registry.ENTRY_POINT_GROUP
    entries = [EntryPoint("Elsewhere-v3", f"{module}:Elsewhere", group)]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    monkeypatch.setattr(registry, "_SPECS", dict(registry._SPECS))
    monkeypatch.setattr(registry, "_ELSEWHERE", {})
    registry.register_entry_points()
    try:
        assert registry.spec("Elsewhere").version == 3
        assert "cannot be imported" in registry.spec("Elsewhere").summary
        with pytest.raises(TaskError, match=rf"UI/Elsewhere-v3 \({module}.* cannot be imported"):
            gymnasium.make("UI/Elsewhere-v3")
    finally:
        del gymnasium.registry["UI/Elsewhere-v3"]


def test_a_task_without_register_is_refused() -> None:
    class Loose(Task[int, None]):
        pass

    from ui_gym.playing.env import UIEnv

    with pytest.raises(UserError, match="Loose is not registered; decorate it with @register"):
        UIEnv(Loose())


def test_importing_ui_gym_imports_no_task_and_nothing_that_gymnasium_does_not() -> None:
    code = (
        "import sys, gymnasium; before = set(sys.modules)\nimport ui_gym, json\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    new = json.loads(out.stdout)
    ours = {name for name in new if name.startswith("ui_gym")}
    assert ours == {
        "ui_gym", "ui_gym.contract", "ui_gym.contract.registry", "ui_gym.contract.spec",
        "ui_gym.errors",
    }  # fmt: skip
    assert {name.partition(".")[0] for name in new} - ours <= sys.stdlib_module_names | {"ui_gym"}


def test_every_public_name_is_there_and_is_listed() -> None:
    names = ui_gym.__all__
    assert {name for name in names if getattr(ui_gym, name) is None} == set()
    assert set(names) <= set(dir(ui_gym))
    assert ui_gym.Task is Task
    with pytest.raises(AttributeError, match="'ui_gym' has no attribute 'Tusk'"):
        ui_gym.Tusk  # noqa: B018


def test_a_task_of_another_distribution_is_what_its_register_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bells.py").write_text(
        "from ui_gym import Task, register\n"
        "@register('Bell', suite='paint', category='input', difficulty='hard', max_steps=9)\n"
        "class Bell(Task):\n    'Ring it.'\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    group = registry.ENTRY_POINT_GROUP
    entries = [EntryPoint("Bell", "bells:Bell", group), EntryPoint("Gong", "bells:Bell", group)]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    monkeypatch.setattr(registry, "_SPECS", dict(registry._SPECS))
    monkeypatch.setattr(registry, "_ELSEWHERE", {})
    registry.register_entry_points()
    try:
        assert "bells" not in sys.modules
        assert "UI/Bell-v0" in gymnasium.registry
        assert "UI/Bell-v0" not in {spec.id for spec in registry.specs(elsewhere=False)}
        assert "bells" not in sys.modules
        told = {spec.id: spec for spec in registry.specs()}
        for name in ("Bell", "Gong"):
            spec = told[f"UI/{name}-v0"]
            assert (spec.suite, spec.category, spec.difficulty) == ("paint", "input", "hard")
            assert (spec.max_steps, spec.summary) == (9, "Ring it.")
    finally:
        sys.modules.pop("bells", None)
        del gymnasium.registry["UI/Bell-v0"], gymnasium.registry["UI/Gong-v0"]


def test_a_task_of_a_collection_is_there_for_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_SPECS", dict(registry._SPECS))
    taken = TaskSpec("Taken", "paint", "m:Taken", tags=("fifty",), collection="fifty")
    registry.declare(taken)
    try:
        assert registry.spec("Taken") is taken
        assert taken in registry.specs(collections=True)
        assert taken not in registry.specs()
        registry.declare(TaskSpec("Taken", "other", "n:Taken"))
        assert registry.spec("Taken") is taken
    finally:
        del gymnasium.registry["UI/Taken-v0"]


def test_a_task_that_could_be_had_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_MISSING", {})
    absent = TaskSpec("Absent", "paint", "m:Absent")
    registry.declare_missing(absent, "pip install absent")
    try:
        for name in ("Absent", "Absent-v0", "UI/Absent-v0"):
            with pytest.raises(UserError, match="UI/Absent-v0 is not installed: pip install abse"):
                registry.spec(name)
        with pytest.raises(UserError, match="pip install absent"):
            gymnasium.make("UI/Absent-v0")
        assert "Absent" not in [spec.name for spec in registry.specs(collections=True)]
    finally:
        del gymnasium.registry["UI/Absent-v0"]
