"""The set-up script, on a machine whose commands are stubs that write down how they were called."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

TOOLS = ("cat", "cksum", "cut", "date", "dirname", "env", "mktemp", "mv", "rm", "sh", "tail")
"""What every machine has."""

PYTHON = r"""
echo "python $*" >>"$CALLS"
case "$*" in
  --version) echo "Python ${VERSION:-3.11.2}" ;;
  *"-m venv "*)
    mkdir -p "$3/bin"
    [ -e "$CALLS.venv" ] || { echo "ensurepip is not available"; exit 1; }
    printf '#!/bin/sh\n. "%s/venv-python"\n' "$STUBS" >"$3/bin/python"
    printf '#!/bin/sh\necho "train $*" >>"$CALLS"; exit 7\n' >"$3/bin/ui-gym-train"
    chmod +x "$3/bin/python" "$3/bin/ui-gym-train" ;;
  *version_info*) [ "${VERSION:-3.11.2}" != 3.9.1 ] ;;
esac
"""

VENV_PYTHON = r"""
here=${0%/bin/python}
case "$*" in
  *"import pip"*) [ ! -e "$here/broken" ] ;;
  *find_spec*) [ -e "$here/torch" ] && [ -e "$here/ui-gym" ] ;;
  *"pip"*install*" -e "*)
    echo "pip ui-gym" >>"$CALLS"
    [ ! -e "$CALLS.offline" ] && : >"$here/ui-gym" ;;
  *"pip"*install*torch==*) echo "pip torch" >>"$CALLS"; : >"$here/torch" ;;
  *"-m pytest"*) echo "pytest $*" >>"$CALLS"; exit 5 ;;
esac
"""

APT = r"""
echo "apt-get $*" >>"$CALLS"
case "$*" in
  *install*)
    [ -z "${NO_NETWORK:-}" ] || { echo "Could not resolve"; exit 100; }
    for name in "$@"; do case $name in
      chromium*) ln -s "$STUBS/true" "$STUBS/$name" ;;
      python3-venv) : >"$CALLS.venv" ;;
    esac; done ;;
esac
"""


class Machine:
    """A clone of the repository, and a PATH that holds nothing but stubs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clone = folder / "clone"
        self.stubs = folder / "stubs"
        self.calls = folder / "calls"
        self.stubs.mkdir()
        for name in TOOLS:
            (self.stubs / name).symlink_to(str(shutil.which(name)))
        for name in ("chmod", "ln", "mkdir"):  # of the stubs themselves
            (self.stubs / name).symlink_to(str(shutil.which(name)))
        self.stub("true", "exit 0")
        self.stub("id", "echo ${USER_ID:-0}")
        self.stub("apt-get", APT)
        self.stub("python3", PYTHON)
        (self.stubs / "venv-python").write_text(VENV_PYTHON)
        self.has_venv()
        for path in ("bootstrap", "pyproject.toml", *self.plugins()):
            (self.clone / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.clone / path)

    @staticmethod
    def plugins() -> list[str]:
        return [str(p.relative_to(ROOT)) for p in ROOT.glob("plugins/*/pyproject.toml")]

    def stub(self, name: str, script: str) -> None:
        path = self.stubs / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def has_venv(self, there: bool = True) -> None:
        """Whether the package python3-venv is installed."""
        marker = Path(f"{self.calls}.venv")
        marker.touch() if there else marker.unlink()

    def has_browser(self) -> None:
        for name in ("chromium-headless-shell", "chromium"):
            (self.stubs / name).symlink_to(self.stubs / "true")

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        self.calls.write_text("")
        return subprocess.run(
            [self.clone / "bootstrap", *arguments],
            env={
                "PATH": str(self.stubs),
                "CALLS": str(self.calls),
                "STUBS": str(self.stubs),
                "TMPDIR": str(self.folder),
                **environment,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def did(self, *starts: str) -> list[str]:
        """The calls that begin with one of `starts`, in order."""
        return [call for call in self.calls.read_text().splitlines() if call.startswith(starts)]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_bare_machine_gets_all_that_is_missing_and_torch_first(machine: Machine) -> None:
    machine.has_venv(False)
    run = machine.run("train", "--run.steps", "3")
    assert machine.did("apt-get", "pip", "train") == [
        "apt-get -q update",
        "apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 install "
        "chromium-headless-shell",
        "apt-get -q update",
        "apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 install python3-venv",
        "pip torch",
        "pip ui-gym",
        "train --plugin grpo --run.steps 3",
    ]
    assert run.returncode == 7, "the job's exit status"
    assert "installing torch==2.13.0" in run.stderr
    assert "installed in" in run.stderr


def test_a_second_run_installs_nothing_and_hands_its_arguments_on(machine: Machine) -> None:
    machine.run("setup")
    for given, handed in (
        ([], "--plugin grpo"),
        (["--plugin=sft"], "--plugin=sft"),
        (["--resume", "runs/a"], "--resume runs/a"),
    ):
        run = machine.run("train", *given)
        assert machine.did("apt-get", "pip", "python", "train") == [f"train {handed}"]
        assert run.stderr == ""


def test_the_tests_get_all_browsers_and_their_arguments(machine: Machine) -> None:
    run = machine.run("test", "-k", "two words")
    installs = [call.partition(" install ")[2] for call in machine.did("apt-get")]
    assert "chromium-headless-shell chromium xvfb chromium-driver" in installs
    packages = set(" ".join(installs).split())
    assert {"mksh", "toybox", "openbox", "bubblewrap", "gnumeric"} <= packages
    (tests,) = machine.did("pytest")
    assert tests.startswith("pytest -m pytest -n auto ")
    assert " -m not nightly " in tests
    assert tests.endswith(" -k two words")
    assert run.returncode == 5
    machine.run("test", "--nightly", "-x")
    (tests,) = machine.did("pytest")
    assert " -m nightly or not nightly " in tests
    assert tests.endswith(" -x")


def test_a_failed_installation_says_so_and_is_begun_anew(machine: Machine) -> None:
    machine.has_browser()
    offline = Path(f"{machine.calls}.offline")
    offline.touch()
    run = machine.run("train")
    assert run.returncode == 1
    assert "pip failed, see above. Is there a network" in run.stderr
    assert machine.did("train") == []
    offline.unlink()
    run = machine.run("train")
    assert ".venv was left unfinished: making a new one" in run.stderr
    assert machine.did("pip", "train") == ["pip torch", "pip ui-gym", "train --plugin grpo"]


def test_a_changed_requirement_updates_in_place(machine: Machine) -> None:
    machine.run("setup")
    with (machine.clone / machine.plugins()[0]).open("a") as file:
        file.write("# something new\n")
    run = machine.run("setup")
    assert "updating .venv" in run.stderr
    assert machine.did("pip") == ["pip torch", "pip ui-gym"]
    assert not any("-m venv" in call for call in machine.did("python"))
    (machine.clone / ".venv" / "bootstrap-stamp").unlink()  # as one that was made by hand
    assert "updating .venv" in machine.run("setup").stderr


@pytest.mark.parametrize(
    ("damage", "told"),
    [("broken", ".venv does not work"), ("torch", ".venv lacks something")],
)
def test_a_broken_environment_is_made_anew(machine: Machine, damage: str, told: str) -> None:
    machine.run("setup")
    file = machine.clone / ".venv" / damage
    if file.exists():
        file.unlink()
    else:
        file.touch()
        (machine.clone / ".venv" / "bootstrap-stamp").unlink()
    run = machine.run("setup")
    assert f"{told}: making a new one" in run.stderr
    assert run.returncode == 0
    assert machine.run("setup").stderr == ""


def test_a_moved_clone_gets_a_new_environment(machine: Machine) -> None:
    machine.run("setup")
    old, machine.clone = machine.clone, machine.folder / "moved here"
    old.rename(machine.clone)
    run = machine.run("setup")
    assert f".venv was made in {old}: making a new one" in run.stderr
    assert machine.did("pip") == ["pip torch", "pip ui-gym"]


def test_sudo_is_used_by_others_than_root_only(machine: Machine) -> None:
    machine.stub("sudo", 'echo "sudo $1" >>"$CALLS"; exec "$@"')
    machine.run("setup", USER_ID="1000")
    assert machine.did("sudo") == ["sudo apt-get", "sudo env"]
    (machine.stubs / "chromium-headless-shell").unlink()
    machine.run("setup", USER_ID="0")
    assert machine.did("sudo") == []


def test_another_chromium_is_good_enough_where_none_can_be_installed(machine: Machine) -> None:
    machine.stub("google-chrome", "exit 0")
    (machine.stubs / "apt-get").unlink()
    run = machine.run("train")
    assert run.returncode == 7
    assert "there is no apt-get here); going on with google-chrome" in run.stderr


def test_a_chosen_browser_needs_none(machine: Machine) -> None:
    machine.run("train", UI_GYM_BROWSER="/opt/chrome")
    assert machine.did("apt-get") == []


def test_a_newer_python_is_found_beside_an_old_one(machine: Machine) -> None:
    machine.has_browser()
    machine.stub("python3.12", f"VERSION=3.12.1\n{PYTHON}")
    run = machine.run("setup", VERSION="3.9.1")
    assert "making .venv with Python 3.12.1" in run.stderr
    assert run.returncode == 0


@pytest.mark.parametrize(
    ("environment", "has_browser", "told"),
    [
        ({"USER_ID": "1000"}, False, ["as root: apt-get install chromium-headless-shell"]),
        ({"NO_NETWORK": "1"}, False,
         ["Could not resolve", "apt-get failed, see above; is there a network?"]),
        ({"VERSION": "3.9.1"}, True,
         ["needs Python 3.11 or newer, and python3 is Python 3.9.1"]),
        ({"PYTHON": "/no/such/python"}, True, ["/no/such/python is no interpreter"]),
    ],
    ids=["no root", "no network", "old Python", "no such Python"],
)  # fmt: skip
def test_what_is_missing_is_told(
    machine: Machine, environment: dict[str, str], has_browser: bool, told: list[str]
) -> None:
    if has_browser:
        machine.has_browser()
    run = machine.run("setup", **environment)
    assert run.returncode == 1
    assert [text for text in told if text not in run.stderr] == []


def test_wrong_commands_and_help_touch_nothing(machine: Machine) -> None:
    assert machine.run().returncode == 2
    assert machine.run("trian").returncode == 2
    shown = machine.run("--help")
    assert shown.returncode == 0
    assert "usage: ./bootstrap COMMAND" in shown.stdout
    assert machine.did("") == []
    assert not (machine.clone / ".venv").exists()


def test_no_scratch_file_is_left(machine: Machine) -> None:
    before = set(machine.folder.iterdir())
    machine.run("setup")
    machine.run("train")
    assert set(machine.folder.iterdir()) - before <= {machine.calls}
