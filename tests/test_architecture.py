"""The house's arrows: who may import whom (docs/architecture.md says why).

Imports are read from the source, those inside functions and those for type checkers alone too.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import graphlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

SUITES = ("android", "browser", "desktop")

LAYERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "ui_gym": (
        ("errors", "extras"),
        ("child_process", "xvfb"),
        ("contract",),
        ("dialects",),
        ("playing",),
        ("remote", "wrappers"),
        SUITES,
        ("catalog", "multiagent", "testing"),
        ("tools",),
    ),
    "ui_gym_agents": (
        (
            "command", "episode", "files", "overrides", "policy.hub", "policy.parallel",
            "marked", "pictures", "policy.weights", "presets", "protocols", "seeds",
        ),
        ("agents.agent", "engines.http", "engines.protocol", "rewards"),
        ("pack",),
        ("store",),
        (
            "collecting.collector", "collecting.fault", "collecting.filters",
            "collecting.open_episode", "collecting.questions", "collecting.sampling",
            "collecting.stage", "engines.openai", "engines.pictures", "policy.prompts", "tasks",
        ),
        ("agents", "chat", "engines", "judge", "policy"),
        ("serving", "training.outcome"),
        ("evaluation.evaluate", "evaluation.report"),
        (
            "training.checkpoint", "training.config", "training.control", "training.event_log",
            "training.facts",
            "training.judge_settings", "training.listeners",
            "training.plugin", "training.run_directory", "training.run_lines",
            "training.settings", "training.watching", "training.yaml_text",
        ),
        ("collecting", "training.context", "training.parts", "training.run_reward"),
        ("evaluation", "monitor", "records", "serving.cli", "tasks.cli"),
        ("training",),
        ("groups",),
        ("bench", "integrations"),
    ),
}  # fmt: skip
"""The rooms and loose modules of a package, the lowest first: each may import what lies below it,
and its neighbours. A module of a room that is named for itself stands on that floor, and not on its
room's. What a type checker alone sees counts as well."""

MOST_LOOSE = 8
"""Modules of `ui_gym` that lie in no room, at most."""

PLUGINS = (
    "ui_gym_grpo", "ui_gym_phone", "ui_gym_sb3", "ui_gym_sft", "ui_gym_tinker", "ui_gym_tiny",
)  # fmt: skip

SUITE_OF = {"ui_gym_phone": "android"}
"""The suite that a device of a distribution of its own plays in."""

LEARNING = (
    "accelerate", "peft", "safetensors", "sb3_contrib", "stable_baselines3", "tokenizers", "torch",
    "transformers",
)  # fmt: skip
"""What the environments never touch."""

ONLY_IN_SUITES = ("cv2", "orjson", "selenium")

EXCEPTIONS = {
    ("ui_gym_tiny.parts", "ui_gym.browser.content.words"),
    ("ui_gym_tiny.pretrain", "ui_gym.browser.content.words"),
    ("ui_gym_tiny.board", "ui_gym.browser.looks"),
    ("ui_gym_tiny.reading", "ui_gym.android.content.texts"),
    ("ui_gym_tiny.reading", "ui_gym.android.task"),
    ("ui_gym_tiny.reading", "ui_gym.browser.looks"),
    ("ui_gym_tiny.reading", "ui_gym.desktop.compact_task"),
    ("ui_gym_tiny.reading", "ui_gym.browser.content.words"),
    ("ui_gym_tiny.reading", "ui_gym.browser.task"),
    ("ui_gym_tiny.reading", "ui_gym.desktop.task"),
    ("ui_gym_tiny.pretrain", "ui_gym.android.tasks.quick_settings"),
    ("ui_gym_tiny.pretrain", "ui_gym.desktop.compact"),
    ("ui_gym_tiny.pretrain", "ui_gym.desktop.tasks.pcmanfm_delete"),
}
"""The recipe of the built-in models makes each name of the built-in screens one token."""


def sources(root: Path) -> dict[str, Path]:
    """Every module of the packages under `root`, by its dotted name."""
    tops = [root / "ui_gym", root / "ui_gym_agents"]
    tops += [root / "plugins" / name.replace("_", "-") / "src" / name for name in PLUGINS]
    found = {}
    for top in tops:
        for path in sorted(top.rglob("*.py")):
            parts = (top.name, *path.relative_to(top).with_suffix("").parts)
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imports(path: Path, modules: dict[str, Path], *, types: bool = True) -> Iterator[str]:
    """The modules that a file imports; what only a type checker imports too, if `types`."""
    for module, name in imported(path.read_text(), types):
        # `from package import x` is an import of package.x, where that is a module.
        inner = f"{module}.{name}"
        yield inner if name and inner in modules else module


@functools.cache
def imported(source: str, types: bool) -> tuple[tuple[str, str], ...]:
    """What a text imports: modules, and the name that is taken from each or an empty one."""
    found = []
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        for_types = isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        if isinstance(node, ast.If) and for_types and not types:
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"a relative import: {ast.unparse(node)}; write names in full"
            found += [(str(node.module), alias.name) for alias in node.names]
        waiting += ast.iter_child_nodes(node)
    return tuple(found)


def violations(root: Path) -> list[str]:
    """Every import that goes against an arrow, as ``importer -> imported: rule``."""
    modules = sources(root)
    return [
        f"{importer} -> {imported}: {rule}"
        for importer, path in modules.items()
        # The names that `ui_gym` gives when they are asked for are known to type checkers alone.
        for imported in sorted(set(imports(path, modules, types=importer != "ui_gym")))
        if (rule := broken_rule(importer, imported))
    ]


def circle(root: Path) -> set[str]:
    """Modules that import each other, at run time or for types; none where all is well."""
    modules = sources(root)
    arrows = {
        importer: {imported for imported in imports(path, modules) if imported in modules}
        for importer, path in modules.items()
    }
    try:
        graphlib.TopologicalSorter(arrows).prepare()
    except graphlib.CycleError as error:
        return set(error.args[1])
    return set()


def named_twice(root: Path) -> dict[str, list[str]]:
    """The public classes of a name that two modules have, with these modules.

    The wrappers of vector envs are called as those of envs, as Gymnasium's are.
    """
    homes: dict[str, list[str]] = {}
    for module, path in sources(root).items():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module)
    for name, modules in homes.items():
        if "ui_gym.wrappers.vector" in modules and any(
            other.startswith("ui_gym.wrappers.") for other in modules if other != modules[-1]
        ):
            homes[name] = [module for module in modules if module != "ui_gym.wrappers.vector"]
    return {name: modules for name, modules in homes.items() if len(modules) > 1}


def broken_rule(importer: str, imported: str) -> str | None:
    """The rule that an import breaks, if any."""
    ours, theirs = importer.split("."), imported.split(".")
    if ours[0] in PLUGINS:
        if theirs[0] in PLUGINS and theirs[0] != ours[0]:
            return "a plugin knows no other plugin"
    elif theirs[0] in PLUGINS:
        return "plugins are found by their entry points, never imported"
    if ours[0] != "ui_gym":
        known_suite = theirs[0] == "ui_gym" and theirs[1:2] and theirs[1] in SUITES
        of_its_device = theirs[1:2] == [SUITE_OF.get(ours[0])]
        allowed = not known_suite or of_its_device or (importer, imported) in EXCEPTIONS
        return above(ours, theirs) if allowed else "agents and learners know no suite"

    if theirs[0] == "ui_gym_agents":
        return "environments know nothing of agents"
    if theirs[0] in LEARNING:
        return "environments need no learning library"
    suite = ours[1] if ours[1:2] and ours[1] in SUITES else None
    if theirs[0] in ONLY_IN_SUITES:
        return None if suite else "only a suite may need it"
    if theirs[0] != "ui_gym" or len(theirs) == 1:
        return None
    if len(ours) == 1:  # ui_gym/__init__.py
        allowed = theirs[1] in ("contract", "errors")
        return None if allowed else "importing ui_gym imports no more than the registry"
    if suite and theirs[1] in SUITES and theirs[1] != suite:
        return "suites do not import each other"
    return above(ours, theirs)


def above(ours: list[str], theirs: list[str]) -> str | None:
    """What is wrong where a module of a layered package imports from a higher layer of it."""
    if ours[0] not in LAYERS or theirs[0] != ours[0] or 1 in (len(ours), len(theirs)):
        return None
    if layer(ours) < layer(theirs):
        rooms = slice(1, 2 if theirs[1] != ours[1] else None)
        return f"{'.'.join(theirs[rooms])} lies above {'.'.join(ours[rooms])}"
    return None


def layer(module: list[str]) -> int:
    """The number of a module's layer. Each new room must be given one in `LAYERS`."""
    package, *inside = module
    for length in range(len(inside), 0, -1):
        name = ".".join(inside[:length])
        for number, names in enumerate(LAYERS[package]):
            if name in names:
                return number
    raise AssertionError(f"{package}.{inside[0]} has no place in LAYERS of {__file__}")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages' sources in another place, where they may be changed."""
    folder = tmp_path_factory.mktemp("copy")
    for path in sources(ROOT).values():
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return folder


def test_every_import_follows_the_arrows() -> None:
    assert violations(ROOT) == []


@contextlib.contextmanager
def appended(source: Path, text: str) -> Iterator[None]:
    """A module with something at its end, for a while."""
    before = source.read_text()
    source.write_text(f"{before}\n\n{text}")
    yield
    source.write_text(before)


CONTENT = "import ui_gym.browser.content.words"
COLLECTOR = "ui_gym_agents/collecting/collector.py"


@pytest.mark.parametrize(
    ("file", "line", "rule"),
    [
        ("ui_gym/contract/task.py", "from ui_gym.playing.env import UIEnv",
         "playing lies above contract"),
        ("ui_gym/contract/device.py", "from ui_gym.playing import vector",
         "playing lies above contract"),
        ("ui_gym/playing/env.py", "import ui_gym.browser.task", "browser lies above playing"),
        ("ui_gym/playing/env.py", "import ui_gym_agents.agents.agent", "know nothing of agents"),
        ("ui_gym/playing/vector.py", "import torch", "no learning library"),
        ("ui_gym/browser/task.py", "from torch import nn", "no learning library"),
        ("ui_gym/tools/film.py", "import cv2", "only a suite"),
        ("ui_gym/__init__.py", "import ui_gym.browser.chromium", "no more than the registry"),
        (COLLECTOR, "import ui_gym_grpo", "never imported"),
        (COLLECTOR, CONTENT, "know no suite"),
        ("plugins/ui-gym-sft/src/ui_gym_sft/trainer.py", "from ui_gym_grpo import update",
         "no other plugin"),
        ("plugins/ui-gym-grpo/src/ui_gym_grpo/trainer.py", CONTENT, "know no suite"),
    ],
)  # fmt: skip
def test_an_import_against_an_arrow_is_found(copy: Path, file: str, line: str, rule: str) -> None:
    with appended(copy / file, f"def late() -> None:\n    {line}\n"):
        (found,) = violations(copy)
    assert rule in found


def test_suites_do_not_import_each_other() -> None:
    rule = broken_rule("ui_gym.android.task", "ui_gym.browser.content.words")
    assert rule == "suites do not import each other"


@pytest.mark.parametrize(
    ("part", "foreign"),
    [
        ("state", ("adbd", "apps", "device", "handset", "pool", "serving", "shell", "ui")),
        ("shell", ("adbd", "apps", "device", "handset", "pool", "serving", "ui")),
        ("apps", ("adbd", "device", "handset", "pool", "serving", "shell")),
        ("ui", ("adbd", "device", "handset", "pool", "serving", "shell")),
    ],
)
def test_parts_of_the_phone_keep_to_themselves(part: str, foreign: tuple[str, ...]) -> None:
    """Its state knows no screen and no shell, these know each other not, and no part knows ADB."""
    modules = sources(ROOT)
    inside = f"ui_gym_phone.{part}"
    wrong = [
        f"{module} -> {imported}"
        for module, path in modules.items()
        if module == inside or module.startswith(f"{inside}.")
        for imported in imports(path, modules)
        if imported.startswith("ui_gym_phone.") and imported.split(".")[1] in foreign
    ]
    assert wrong == []


def test_a_module_without_a_layer_is_noticed() -> None:
    with pytest.raises(AssertionError, match=r"ui_gym\.newcomer has no place"):
        broken_rule("ui_gym.newcomer", "ui_gym.errors")


def test_what_only_a_type_checker_sees_is_seen(tmp_path: Path) -> None:
    source = tmp_path / "module.py"
    source.write_text("if TYPE_CHECKING:\n    import a\nelse:\n    import b\nimport c.d\n")
    assert sorted(imports(source, {})) == ["a", "b", "c.d"]
    assert sorted(imports(source, {}, types=False)) == ["b", "c.d"]


def test_no_modules_import_each_other() -> None:
    assert circle(ROOT) == set()


def test_a_circle_of_types_is_found(copy: Path) -> None:
    line = "if TYPE_CHECKING:\n    from ui_gym.contract.task import Task\n"
    with appended(copy / "ui_gym/contract/spec.py", line):
        assert circle(copy) >= {"ui_gym.contract.spec", "ui_gym.contract.task"}


def test_the_name_of_a_class_stands_once() -> None:
    assert named_twice(ROOT) == {}


def test_a_class_of_a_name_that_is_taken_is_found(copy: Path) -> None:
    with appended(copy / "ui_gym/tools/film.py", "class Verdict:\n    pass\n"):
        assert named_twice(copy)["Verdict"] == ["ui_gym.contract.task", "ui_gym.tools.film"]


def test_few_modules_lie_in_no_room() -> None:
    assert len(list((ROOT / "ui_gym").glob("*.py"))) <= MOST_LOOSE


HEAVY = {
    *LEARNING,
    *ONLY_IN_SUITES,
    "matplotlib",
    "ui_gym_agents",
    "ui_gym.browser.chromium.device",
}


@pytest.mark.parametrize(
    ("statement", "kept_out"),
    [
        ("import ui_gym", HEAVY),
        ("from ui_gym.tools import cli; from ui_gym.playing import env, vector", HEAVY),
        ("from ui_gym_agents.training.cli import main; main(['--list-plugins'])",
         {*LEARNING, *PLUGINS}),
        ("import ui_gym_agents as agents; agents.Collector, agents.EpisodeRequest; "
         "agents.OracleAgent, agents.evaluate", {"torch"}),
        ("import ui_gym_agents.evaluation.cli, ui_gym_agents.evaluation.play",
         {"torch", "httpx"}),
    ],
    ids=["all", "envs and the command", "looking for trainers", "public names of agents",
         "evaluating without a server"],
)  # fmt: skip
def test_what_is_imported_pulls_in_nothing_heavy(statement: str, kept_out: set[str]) -> None:
    assert not kept_out & set(python(f"import sys\n{statement}\nprint(*sys.modules)").split())


def test_the_public_names_of_the_agents_are_there() -> None:
    python(
        "import ui_gym_agents as agents\n"
        "assert all(getattr(agents, name).__name__ == name for name in agents.__all__)"
    )


def python(code: str) -> str:
    """What an interpreter of its own prints."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True,
        timeout=100,
    ).stdout  # fmt: skip


def test_a_helper_of_the_tests_has_one_name() -> None:
    """Under two names it is two modules: what one registers or patches, the other does not see."""
    files = list((ROOT / "tests").rglob("*.py"))
    names: dict[str, set[str]] = {path.stem: set() for path in files}
    for path in files:
        for name, _ in imported(path.read_text("utf-8"), types=True):
            stem = name.rpartition(".")[2]
            if stem in names and name.partition(".")[0] in ("tests", stem):
                names[stem].add(name)
    assert not {stem: found for stem, found in names.items() if len(found) > 1 and stem in found}
