"""Each extra alone: what the documents promise for it works, or a sentence says what to install."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from ui_gym.extras import EXTRAS, remedy

ROOT = Path(__file__).resolve().parents[2]
ONLY = Path(__file__).with_name("only.py")

PLAY = """
import sys
from ui_gym_agents.evaluation.cli import main
sys.argv[1:] = ["--episodes", "1", "--envs", "1", "--agent", "oracle", "--json", *{arguments!r}]
sys.exit(main())
"""

MAKE = """
import gymnasium, ui_gym
from ui_gym.errors import UIGymError
for name in ("UI/ClickButton-v0", "UI/DesktopCalculate-v0", "UI/AndroidWifi-v0"):
    try:
        gymnasium.make(name).reset(seed=0)
    except UIGymError as error:
        print(error)
"""


def run(code: str, *roots: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Python with nothing but `roots` and what they ask for."""
    return subprocess.run(
        [sys.executable, ONLY, *roots, "--", code],
        cwd=cwd, capture_output=True, text=True, timeout=200,
    )  # fmt: skip


def command(module: str, *arguments: str) -> str:
    """Code that runs a command."""
    return (
        f"import sys; sys.argv[1:] = {list(arguments)!r}\n"
        f"from {module} import main; sys.exit(main())"
    )


def play(*arguments: str) -> str:
    """Code that plays an episode, and prints the report as JSON."""
    return PLAY.format(arguments=list(arguments))


def test_without_any_extra_tasks_are_listed_and_a_sentence_says_what_is_missing(
    tmp_path: Path,
) -> None:
    made = run(MAKE, "ui-gym", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    for remedy_ in ("'ui-gym[browser]'", "'ui-gym[desktop]'", "ui-gym-phone"):
        assert f"pip install {remedy_}" in made.stdout
    listed = run(command("ui_gym.tools.cli", "list"), "ui-gym", cwd=tmp_path)
    assert listed.returncode == 0
    assert "UI/DataEntry-v0\tbrowser\t" in listed.stdout


@pytest.mark.parametrize(
    ("module", "arguments", "said"),
    [
        ("ui_gym_agents.evaluation.cli", ["--agent", "random"], "ui-gym[browser]"),
        ("ui_gym_agents.evaluation.cli", [], "ui-gym[agents]"),
        ("ui_gym_agents.evaluation.cli", ["--agent", "openai:m@http://localhost"],
         "ui-gym[agents]"),
        ("ui_gym_agents.evaluation.cli", ["--agent", "random", "--out", "report"],
         "ui-gym[agents]"),
        ("ui_gym_agents.records.cli", ["ls"], "ui-gym[agents]"),
    ],
)  # fmt: skip
def test_a_command_that_lacks_something_says_what_to_install_in_one_line(
    module: str, arguments: list[str], said: str, tmp_path: Path
) -> None:
    roots = ["ui-gym[browser]"] if said == "ui-gym[agents]" else ["ui-gym"]
    ended = run(command(module, *arguments), *roots, cwd=tmp_path)
    assert ended.returncode in (1, 2)
    (line,) = ended.stderr.splitlines()
    assert line.startswith("error: ")
    assert f"pip install '{said}'" in line


def test_the_extra_osworld_plays_task_files(tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'tests/evaluation/osworld')!r})\n"
        "from pathlib import Path; import world\n"
        "meta = world.write_tasks(Path.cwd(), editor={'a': world.HELLO, 'b': {}})\n"
        "asked = world.options(Path.cwd(), meta, agent='random', model='random', max_steps=2)\n"
        "scores, _ = world.run(asked)\n"
        "assert scores.total.n == 2, scores\n"
    )
    ended = run(code, "ui-gym[browser,osworld]", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("roots", "code"),
    [
        (["ui-gym[browser]"], play("--task", "ClickButton")),
        (["ui-gym[miniwob]"], play("--task", "UI/MiniWoB-ClickTest-v0", "--agent", "random")),
        (["ui-gym[desktop]"], play("--task", "DesktopCalculate")),
        (["ui-gym[osworld]"], play("--task", "DesktopCalculate")),
        (["ui-gym", "ui-gym-phone"], play("--task", "AndroidWifi")),
        (
            ["ui-gym[browser,agents]", "ui-gym-tiny"],
            play("--set", "compact=true", "--agent", "policy", "--out", "report"),
        ),
        (
            ["ui-gym[browser]", "ui-gym-tiny", "ui-gym-grpo"],
            command(
                "ui_gym_agents.training.cli",
                "--plugin", "grpo", "--run.steps", "1", "--trainer.groups", "2",
                "--trainer.group_size", "2", "--env.num_envs", "4", "--evaluation.episodes", "2",
            ),
        ),
        (
            ["ui-gym[browser]", "ui-gym-sb3"],
            "from ui_gym_sb3 import make_sb3\n"
            "envs = make_sb3('UI/ClickButton-v0', 1, size=(40, 32), columns=5, rows=8)\n"
            "envs.reset(); envs.close()",
        ),
        (
            ["ui-gym[agents,postgres]"],
            "from sqlalchemy import create_engine; create_engine('postgresql+psycopg://host/db')",
        ),
        (
            ["ui-gym[agents,tensorboard]"],
            "from ui_gym_agents.training.loggers import make_loggers\n"
            "(logger,) = make_loggers(('tensorboard',))",
        ),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_what_is_promised_for_an_extra_works_with_it_alone(
    roots: list[str], code: str, tmp_path: Path
) -> None:
    ended = run(code, *roots, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr[-2000:]


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("chromedriver") is None, reason="there is no chromedriver")
def test_the_extra_selenium_plays(tmp_path: Path) -> None:
    code = (
        "import gymnasium, ui_gym\n"
        "env = gymnasium.make('UI/ClickButton-v0', device='selenium')\n"
        "env.reset(seed=0); env.close()"
    )
    ended = run(code, "ui-gym[selenium]", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr[-2000:]


def test_every_module_of_an_extra_leads_to_it() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    modules: dict[str, set[str]] = {}
    for module, names in packages_distributions().items():
        for name in names:
            modules.setdefault(name.lower().replace("_", "-"), set()).add(module)
    for extra, lines in extras.items():
        for line in lines:
            name = re.split(r"[^\w.-]", line)[0].lower().replace("_", "-")
            if extra in ("all", "docs", "test", "lint") or name not in modules or name == "ui-gym":
                continue
            known = [e for e, found in EXTRAS.items() if modules[name] & set(found)]
            assert known, (
                f"{extra}: {name} brings {modules[name]}, which ui_gym.extras does not know"
            )
    assert EXTRAS.keys() <= extras.keys()


def test_a_module_of_somebody_else_has_no_remedy() -> None:
    assert remedy(ModuleNotFoundError(name="their_module")) is None
    assert remedy(ModuleNotFoundError(name="cv2.data")) is not None
