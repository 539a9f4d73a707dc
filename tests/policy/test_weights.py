"""How a model's name becomes a folder: what is installed, what is not, what was misspelled."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import ui_gym_tiny
from tests import distributions
from ui_gym import extras
from ui_gym.errors import UserError
from ui_gym_agents.policy import weights
from ui_gym_agents.policy.weights import installed_models, resolve


def install(monkeypatch: pytest.MonkeyPatch, **models: str) -> None:
    """Make these the installed models: a name, and where its folder stands."""
    found = tuple(EntryPoint(n, v, weights.ENTRY_POINT_GROUP) for n, v in models.items())
    monkeypatch.setattr(extras, "entry_points", lambda group: found)


def test_every_model_that_we_know_of_is_installed_and_whole() -> None:
    assert installed_models().keys() == weights.KNOWN.keys()
    for name in weights.KNOWN:
        folder = resolve(name)
        assert folder == ui_gym_tiny.FOLDER / name
        files = {path.name for path in folder.iterdir()}
        assert {"config.json", "model.safetensors", "tokenizer.json", "README.md"} <= files


def test_a_folder_resolves_to_itself(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert resolve(str(tmp_path)) == tmp_path


def test_a_model_of_somebody_else_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_weights.py").write_text(f"BIG = {str(tmp_path)!r}\n")
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.syspath_prepend(str(tmp_path))
    install(monkeypatch, big="their_weights:BIG")
    assert resolve("big") == tmp_path


def test_what_brings_a_missing_model_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    with pytest.raises(UserError, match=r"'tiny-clerk' comes with .*: pip install ui-gym-tiny$"):
        resolve("tiny-clerk")


def test_an_unknown_name_is_told_the_nearest() -> None:
    with pytest.raises(UserError, match=r"no model 'tiny-eye'.*Did you mean 'tiny-eyes'"):
        resolve("tiny-eye")


def test_a_folder_without_a_model_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no model folder: it holds no config\.json"):
        resolve(tmp_path)


def test_a_model_that_cannot_be_had_names_who_should_bring_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch, lost="no_such_module:HERE", empty="ui_gym_tiny:FOLDER", odd="math:pi")
    with pytest.raises(UserError, match=r"'lost' \(no_such_module:HERE\) cannot be imported"):
        resolve("lost")
    with pytest.raises(UserError, match=r"'empty' \(ui_gym_tiny:FOLDER\) is not in .*checkpoints"):
        resolve("empty")
    with pytest.raises(UserError, match=r"'odd' \(math:pi\) is 3\.14\d+, and no folder"):
        resolve("odd")


def test_a_model_whose_module_leaves_is_told_with_how_to_mend_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = "[ui_gym.models]\ngone = leaving_model:FOLDER\nempty = leaving_paths:HERE\n"
    distributions.install(
        tmp_path, "their-models", "1.2", declared,
        leaving_model="raise SystemExit('no licence')", leaving_paths=f"HERE = {str(tmp_path)!r}",
    )  # fmt: skip
    monkeypatch.syspath_prepend(str(tmp_path))
    mend = "To reinstall it with all it needs: pip install --force-reinstall their-models"
    with pytest.raises(UserError) as caught:
        resolve("gone")
    said = "the model 'gone' (their-models 1.2) cannot be imported: SystemExit: no licence"
    assert str(caught.value) == f"{said}. {mend}"
    with pytest.raises(UserError) as caught:
        resolve("empty")
    assert str(caught.value) == f"the model 'empty' (their-models 1.2) is not in {tmp_path}. {mend}"
