"""Which tasks of MiniWoB++ are known, with the distribution and without it."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import gymnasium
import pytest

from ui_gym.browser.miniwob import catalogue
from ui_gym.catalog import TaskSource
from ui_gym.contract import registry
from ui_gym.errors import UserError

ENTRIES = catalogue.ENTRIES

needs_miniwob = pytest.mark.skipif(
    catalogue.html_folder() is None, reason=f"needs {catalogue.REMEDY}"
)

WITHOUT = """
import importlib.util, json, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *args: None if name == "miniwob" else find(name, *args)
import gymnasium, ui_gym
from ui_gym import registry
said = []
for make in (
    lambda: gymnasium.make("UI/MiniWoB-ClickButton-v0"),
    lambda: gymnasium.make_vec("UI/MiniWoB-ClickButton-v0", num_envs=2),
    lambda: registry.spec("MiniWoB-ClickButton"),
):
    try:
        make()
    except Exception as error:
        said.append([type(error).__name__, str(error)])
known = [spec.id for spec in registry.specs(collections=True) if "MiniWoB" in spec.id]
print(json.dumps([known, said]))
"""


def test_without_the_distribution_an_id_says_how_to_get_it() -> None:
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    known, said = json.loads(run.stdout)
    assert known == []
    remedy = "UI/MiniWoB-ClickButton-v0 is not installed: pip install 'ui-gym[miniwob]'"
    assert said == [["UserError", remedy]] * 3


def test_the_pages_are_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "html_folder", lambda: None)
    with pytest.raises(UserError, match=r"miniwob, .* is missing: pip install 'ui-gym\[miniwob\]'"):
        catalogue.need_html_folder()


def test_every_entry_is_whole() -> None:
    assert len(ENTRIES) == 128
    assert len({entry.subdomain for entry in ENTRIES.values()}) == 128
    for entry in ENTRIES.values():
        assert entry.difficulty in ("easy", "medium", "hard")
        assert entry.category.isalpha()
        assert entry.summary.endswith(".")
        assert entry.spec.tags[0] == entry.spec.collection == "miniwob"
        assert entry.spec.max_steps * entry.step_time >= entry.seconds
    assert ENTRIES["FlightAlaskaAuto"].subdomain == "flight.Alaska-auto"
    assert ENTRIES["FlightAlaskaAuto"].spec.tags == ("miniwob", "flight")


def test_importing_the_tasks_imports_neither_miniwob_nor_selenium() -> None:
    code = "import sys, ui_gym; sys.exit(bool({'miniwob', 'selenium'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@needs_miniwob
def test_the_tasks_are_those_that_miniwob_registers() -> None:
    folder = catalogue.need_html_folder()
    source = (folder.parent / "registration.py").read_text()
    theirs = dict(re.findall(r'id="miniwob/(\S+)-v1",\s*entry_point="[\w.]+:(\w+)Env"', source))
    assert theirs == {entry.subdomain: name for name, entry in ENTRIES.items()}


@needs_miniwob
@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_the_time_limit_is_the_pages(entry: catalogue.Entry) -> None:
    source = (catalogue.need_html_folder() / entry.path).read_text()
    limits = re.findall(r"core\.EPISODE_MAX_TIME = (\d+)", source) or ["10000"]
    assert limits == [str(entry.seconds * 1000)]


@needs_miniwob
def test_the_ids_are_there_beside_those_of_this_project() -> None:
    ids = {entry.spec.id for entry in ENTRIES.values()}
    assert ids <= set(gymnasium.registry)
    assert ids <= {spec.id for spec in registry.specs(collections=True)}
    assert not ids & {spec.id for spec in registry.specs()}
    assert registry.spec("MiniWoB-ClickButton").id == "UI/MiniWoB-ClickButton-v0"
    assert {spec.id for spec in TaskSource(tags=("miniwob",)).select()} == ids
    assert not ids & {spec.id for spec in TaskSource(suite="browser").select()}
    named = TaskSource(ids=("MiniWoB-ClickTab2Hard",)).select()
    assert [spec.name for spec in named] == ["MiniWoB-ClickTab2Hard"]
