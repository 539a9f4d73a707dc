"""What the files around the code promise: versions, dependencies, docstrings, README."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points, packages_distributions
from pathlib import Path
from typing import Any

import pytest

import ui_gym
from ui_gym.contract import registry
from ui_gym.contract.spec import TaskSpec
from ui_gym.extras import EXTRAS

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = tuple(sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml")))

SECTIONS = (
    "description", "action space", "observation space", "rewards", "starting state",
    "episode end", "arguments", "version history",
)  # fmt: skip
"""What Gymnasium's own envs say in their docstrings."""

COMMANDS = (
    "ui-gym", "ui-gym-train", "ui-gym-eval", "ui-gym-records", "ui-gym-tasks",
    "ui-gym-serve-policy", "ui-gym-monitor", "ui-gym-bench",
)  # fmt: skip

PARTS = {"protobuf": "tinker", "pydantic-core": "pydantic"}
"""Distributions that always come with another one, and may be imported where that one is named."""

TAKEN = {"uvloop"}
"""Distributions that another one (uvicorn) takes by itself where they are there."""

TASKS = [spec for spec in registry.specs() if spec.entry_point.startswith("ui_gym.")]


def project(folder: Path) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return table


# -- versions and dependencies --


def test_all_distributions_have_one_version() -> None:
    version = project(ROOT)["version"]
    assert ui_gym.__version__ == version
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text()
    for folder in PLUGINS:
        assert project(folder)["version"] == version, folder
        wanted = {f"ui-gym=={version}", f"ui-gym[agents]=={version}"}
        assert wanted & {*project(folder)["dependencies"]}, folder


def test_torch_is_asked_for_in_one_version() -> None:
    pins = {
        match
        for name in ("bootstrap", "tox.ini", "README.md")
        for match in re.findall(r"torch==[\w.]+", (ROOT / name).read_text())
    }
    assert len(pins) == 1


CODE = (
    "browser", "desktop", "osworld", "agents", "mcp", "multi", "postgres", "ray", "remote",
    "selenium",
)  # fmt: skip
"""The extras that code of the packages needs, and not only their tests."""

ADAPTED = ("computers", "inspect", "skyrl", "trl", "verifiers", "verl")
"""Those of packages that clash, and that `ui_gym_agents/integrations` alone imports: each is
installed in an environment of its own (tox.ini)."""


COOKBOOK = {"chz", "tinker_cookbook"}
"""Modules that `ui_gym_tinker/cookbook.py` alone imports, in an environment of its own as well."""


def test_every_foreign_import_is_declared_and_every_dependency_used() -> None:
    own = project(ROOT)
    extras = own["optional-dependencies"]
    of_plugins = [
        line
        for told in map(project, PLUGINS)
        for lines in (told["dependencies"], *told.get("optional-dependencies", {}).values())
        for line in lines
    ]
    declared = {
        name_of(line)
        for line in sum((extras[name] for name in CODE), own["dependencies"] + of_plugins)
        if not name_of(line).startswith("ui-gym")  # an extra that brings another, a plugin's host
    }
    providers = packages_distributions()
    sources = [path for top in ("ui_gym", "ui_gym_agents") for path in (ROOT / top).rglob("*.py")]
    sources += [path for folder in PLUGINS for path in folder.rglob("*.py")]
    used = set()
    for path in sources:
        adapts = path.parent.name == "integrations"
        theirs = {m for name in (*ADAPTED, "parquet") for m in EXTRAS[name]} if adapts else set()
        theirs = COOKBOOK if path.name == "cookbook.py" else theirs
        for module in foreign_imports(path) - theirs:
            given = {name_of(name) for name in providers.get(module, ())}
            given = {PARTS.get(name, name) for name in given}
            assert given & declared, f"{path} imports {module}, which pyproject.toml does not name"
            used |= given
    assert declared - TAKEN <= used, "declared, but never imported"


def name_of(requirement: str) -> str:
    """The normal form of a distribution's name."""
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")


def foreign_imports(path: Path) -> set[str]:
    """The top-level modules of others that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(str(node.module))
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("library"):
            # library("lxml.etree"): a module that may not be there, and is then asked for
            names |= {arg.value for arg in node.args if isinstance(arg, ast.Constant)}
    tops = {name.partition(".")[0] for name in names}
    return {top for top in tops - sys.stdlib_module_names if not top.startswith("ui_gym")}


def test_the_commands_are_installed() -> None:
    installed = {entry.name for entry in entry_points(group="console_scripts")}
    assert set(project(ROOT)["scripts"]) == set(COMMANDS)
    assert set(COMMANDS) <= installed


# -- docstrings --


@pytest.mark.parametrize("spec", TASKS, ids=lambda spec: spec.id)
def test_a_task_documents_itself_as_gymnasium_does(spec: TaskSpec) -> None:
    text = spec.load().__doc__ or ""
    found = re.findall(r"^\s*## (.+)$", text, re.MULTILINE)
    assert [title.lower() for title in found] == list(SECTIONS)


# -- README --


def test_the_table_of_tasks_is_up_to_date() -> None:
    run = subprocess.run(
        [sys.executable, ROOT / "docs" / "tasks_table.py", "--check"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout


def documents() -> list[Path]:
    return [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("plugins/*/README.md")]


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)", text):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        page = document.parent / path if path else document
        assert page.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
            assert anchor in [title.lower().replace(" ", "-") for title in titles], target


def test_the_commands_of_the_readme_exist() -> None:
    text = (ROOT / "README.md").read_text()
    told = set(re.findall(r"`ui-gym (\w+)", text)) | set(re.findall(r"^ui-gym (\w+)", text, re.M))
    assert told >= {"list", "show", "play", "check", "doctor"}
    shown = help_of("ui_gym.tools.cli")
    assert [name for name in told if not re.search(rf"\b{name}\b", shown)] == []


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("ui_gym_agents.training.cli", "ui-gym-train"),
        ("ui_gym_agents.evaluation.cli", "ui-gym-eval"),
    ],
)
def test_the_options_of_the_readmes_exist(module: str, command: str) -> None:
    pytest.importorskip("torch")
    told: set[tuple[str, str]] = set()
    for document in documents():
        for line in document.read_text().splitlines():
            for call in re.findall(rf"{command} ([^`#|]*)", line):
                plugin = re.search(r"--plugin (\w+)", call)
                for option in re.findall(r"--[\w.-]+", call):
                    told.add((plugin[1] if plugin and plugin[1] in ("grpo", "sft") else "", option))
    assert told
    pages = {plugin: help_of(module, plugin) for plugin in {plugin for plugin, _ in told}}
    # A key inside a dict, such as --tasks.arguments.compact, is told as the dict.
    missing = [
        option
        for plugin, option in told
        if option not in pages[plugin] and option.rpartition(".")[0] not in pages[plugin]
    ]
    assert missing == []


def help_of(module: str, plugin: str = "") -> str:
    chosen = ["--plugin", plugin] if plugin else []
    run = subprocess.run(
        [sys.executable, "-m", module, *chosen, "--help"],
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout


TRAINERS = [f for f in PLUGINS if "ui_gym.trainers" in project(f)["entry-points"]]


@pytest.mark.parametrize("folder", TRAINERS, ids=lambda path: path.name)
def test_a_plugins_readme_tells_every_setting(folder: Path) -> None:
    pytest.importorskip("torch")
    (name,) = project(folder)["entry-points"]["ui_gym.trainers"]
    (entry,) = entry_points(group="ui_gym.trainers", name=name)
    text = (folder / "README.md").read_text()
    assert [key for key in entry.load().Config.model_fields if f"`{key}`" not in text] == []
