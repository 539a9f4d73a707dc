"""The house's arrows: who may import whom (docs/architecture.md says why).

Imports are read from the source, those inside functions too. What only a type checker sees
(``if TYPE_CHECKING:``) is free.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

LAYERS = (
    ("errors", "extras"),
    ("child_process",),
    ("xvfb",),
    ("contract.action", "contract.docstring", "contract.draws"),
    ("contract.device", "contract.spec", "dialects"),
    ("contract.task", "playing.devices", "playing.pool", "playing.spaces"),
    ("contract.registry",),
    ("contract.arguments", "playing.loan", "playing.oracle"),
    ("contract.suite",),
    ("playing.env",),
    ("playing.slot",),
    ("playing.worker_client",),
    ("playing.worker_main",),
    ("playing.vector",),
    ("wrappers",),
    ("android", "browser", "desktop"),
    ("catalog", "testing", "tools.film", "tools.terminal"),
    ("tools.doctor", "tools.play", "tools.show"),
    ("tools.cli",),
)
"""The modules of `ui_gym`, the lowest first: each may import those below it, and its neighbours."""

SUITES = ("android", "browser", "desktop")

PLUGINS = ("ui_gym_grpo", "ui_gym_phone", "ui_gym_sft", "ui_gym_tiny")

SUITE_OF = {"ui_gym_phone": "android"}
"""The suite that a device of a distribution of its own plays in."""

LEARNING = (
    "accelerate", "peft", "safetensors", "stable_baselines3", "tokenizers", "torch", "transformers",
)  # fmt: skip
"""What the environments never touch."""

ONLY_IN_SUITES = ("cv2", "orjson", "selenium")

EXCEPTIONS = {
    ("ui_gym_tiny.pretrain", "ui_gym.browser.content.words"),
    ("ui_gym_tiny.pretrain", "ui_gym.android.tasks.quick_settings"),
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


def imports(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """The modules that a file imports at run time."""
    waiting: list[ast.AST] = [ast.parse(path.read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import; this project writes names in full"
            for alias in node.names:
                # `from package import x` is an import of package.x, where that is a module.
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules else str(node.module)
        waiting += ast.iter_child_nodes(node)


def violations(root: Path) -> list[str]:
    """Every import that goes against an arrow, as ``importer -> imported: rule``."""
    modules = sources(root)
    return [
        f"{importer} -> {imported}: {rule}"
        for importer, path in modules.items()
        for imported in sorted(set(imports(path, modules)))
        if (rule := broken_rule(importer, imported))
    ]


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
        return None if allowed else "agents and learners know no suite"

    if theirs[0] == "ui_gym_agents":
        return "environments know nothing of agents"
    if theirs[0] in LEARNING:
        return "environments need no learning library"
    suite = ours[1] if ours[1:2] and ours[1] in SUITES else None
    if theirs[0] in ONLY_IN_SUITES:
        return None if suite else "only a suite may need it"
    if theirs[0] != "ui_gym" or len(theirs) == 1:
        return None
    if len(ours) == 1:  # ui_gym/__init__.py, where the suites' tasks are registered
        registers = theirs[1] not in SUITES or theirs[2:3] in (["suite"], ["tasks"])
        return None if registers else "importing ui_gym imports no more of a suite than its tasks"
    if suite and theirs[1] in SUITES and theirs[1] != suite:
        return "suites do not import each other"
    own, other = place(ours), place(theirs)
    if own and other and layer(own) < layer(other):
        return f"{other} lies above {own}"
    return None


def place(parts: list[str]) -> str:
    """What a module is called in `LAYERS`: its room, with its own name where a room has floors."""
    named = {name for names in LAYERS for name in names}
    return parts[1] if parts[1] in named else ".".join(parts[1:3])


def layer(name: str) -> int:
    """The number of a module's layer. Each new module must be given one in `LAYERS`."""
    for number, names in enumerate(LAYERS):
        if name in names:
            return number
    raise AssertionError(f"ui_gym.{name} has no place in LAYERS of {__file__}")


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


@pytest.mark.parametrize(
    ("file", "line", "rule"),
    [
        (
            "ui_gym/contract/task.py",
            "from ui_gym.playing.env import UIEnv",
            "playing.env lies above contract.task",
        ),
        (
            "ui_gym/contract/device.py",
            "from ui_gym.playing import vector",
            "playing.vector lies above contract.device",
        ),
        ("ui_gym/playing/env.py", "import ui_gym.browser.task", "browser lies above playing.env"),
        ("ui_gym/playing/env.py", "import ui_gym_agents.agents.agent", "know nothing of agents"),
        ("ui_gym/playing/vector.py", "import torch", "no learning library"),
        ("ui_gym/browser/task.py", "from torch import nn", "no learning library"),
        ("ui_gym/tools/film.py", "import cv2", "only a suite"),
        ("ui_gym/__init__.py", "import ui_gym.browser.chromium", "no more of a suite"),
        ("ui_gym_agents/collecting/collector.py", "import ui_gym_grpo", "never imported"),
        (
            "ui_gym_agents/collecting/collector.py",
            "import ui_gym.browser.content.words",
            "know no suite",
        ),
        (
            "plugins/ui-gym-sft/src/ui_gym_sft/trainer.py",
            "from ui_gym_grpo import update",
            "no other plugin",
        ),
        (
            "plugins/ui-gym-grpo/src/ui_gym_grpo/trainer.py",
            "import ui_gym.browser.content.words",
            "know no suite",
        ),
    ],
)
def test_an_import_against_an_arrow_is_found(copy: Path, file: str, line: str, rule: str) -> None:
    source = copy / file
    before = source.read_text()
    source.write_text(f"{before}\ndef late() -> None:\n    {line}\n")
    try:
        (found,) = violations(copy)
    finally:
        source.write_text(before)
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


def test_what_only_a_type_checker_sees_is_free(tmp_path: Path) -> None:
    source = tmp_path / "module.py"
    source.write_text("if TYPE_CHECKING:\n    import a\nelse:\n    import b\nimport c.d\n")
    assert sorted(imports(source, {})) == ["b", "c.d"]


@pytest.mark.parametrize(
    "statement",
    ["import ui_gym", "from ui_gym.tools import cli; from ui_gym.playing import env, vector"],
)
def test_importing_the_environments_pulls_in_nothing_heavy(statement: str) -> None:
    heavy = {*LEARNING, *ONLY_IN_SUITES, "matplotlib", "ui_gym_agents"}
    heavy.add("ui_gym.browser.chromium.device")
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert heavy & set(run.stdout.split()) == set()


def test_looking_for_trainers_imports_none() -> None:
    code = (
        "import sys; from ui_gym_agents.training.cli import main\n"
        "main(['--list-plugins'])\nprint(*sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert {*LEARNING, *PLUGINS} & set(run.stdout.split()) == set()
