"""OpenEnv's own client on our server, and our env on a server of theirs: ``tox -e openenv``.

`openenv` wants versions of others that nothing else here does, so it has an interpreter of its own:
this one, or that which UI_GYM_OPENENV_PYTHON names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from ui_gym.errors import DeviceError, UserError
from ui_gym.remote.openenv import OpenEnvEnv

PEER = Path(__file__).with_name("openenv_peer.py")


@pytest.fixture(scope="module")
def python() -> str:
    """The interpreter that has `openenv`."""
    named = os.environ.get("UI_GYM_OPENENV_PYTHON")
    if named is None and find_spec("openenv") is None:
        pytest.skip("needs openenv==0.10.0: tox -e openenv, or name one in UI_GYM_OPENENV_PYTHON")
    return named or sys.executable


def started(*program: str) -> Iterator[str]:
    """The first line of a program, which is ended afterwards."""
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


@pytest.fixture(scope="module")
def ours() -> Iterator[str]:
    """The address of ``ui-gym serve``."""
    for line in started(sys.executable, "-m", "ui_gym.tools.cli", "serve", "--port", "0"):
        yield line.split(": ")[0]


@pytest.fixture(scope="module")
def theirs(python: str) -> Iterator[str]:
    """The address of a game that `create_app` serves."""
    for port in started(python, str(PEER), "serve"):
        yield f"http://127.0.0.1:{port}"


def test_its_client_plays_our_tasks(python: str, ours: str) -> None:
    program = [python, str(PEER), "play", ours, "UI/DataEntry-v0", "2"]
    done = subprocess.run(program, capture_output=True, text=True, timeout=250, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["goal"]
    assert (told["rewards"][-1], told["metadata"]["success"]) == (1.0, True)
    assert told["state"]["step_count"] == len(told["rewards"]) == told["metadata"]["step"]
    over, field = told["refused"]
    assert "the episode is over: send a reset to begin another (code: EXECUTION_ERROR)" in over
    assert "a step has the field action" in field
    print(f"{told['per_second']:.1f} steps/s, pictures of {told['picture']} characters")


@pytest.fixture
def env(theirs: str) -> Iterator[OpenEnvEnv]:
    made = OpenEnvEnv(theirs)
    yield made
    made.close()


def test_our_env_plays_its_servers(env: OpenEnvEnv) -> None:
    seen, info = env.reset(seed=2)
    assert (seen["goal"], seen["at"], seen["hint"], seen["legal"], info) == (
        "Walk to 5.", 0, "", "[1, 2]", {},
    )  # fmt: skip
    assert seen["picture"].shape == (1, 20, 3)
    assert not env.step({"by": 3, "note": "on"})[2]
    seen, reward, terminated, truncated, _ = env.step({"by": np.int64(2), "note": "there"})
    assert (seen["hint"], reward, terminated, truncated) == ("there", 1.0, True, False)
    assert seen["picture"][0, 5].tolist() == [255, 0, 7]
    assert env.reset(seed=2, options={"far": 4})[0]["goal"] == "Walk to 9."


def test_what_its_servers_refuse_is_said(env: OpenEnvEnv, theirs: str) -> None:
    env.reset(seed=2)
    with pytest.raises(UserError, match=r"Invalid message \(VALIDATION_ERROR\)"):
        env.step({"by": 0.5, "note": ""})
    assert not env.step({"by": 1, "note": ""})[2]  # the episode goes on
    with pytest.raises(DeviceError, match=r"nobody walks that far \(EXECUTION_ERROR\)"):
        env.step({"by": 10, "note": ""})
    second = OpenEnvEnv(theirs)
    with pytest.raises(DeviceError, match="CAPACITY_REACHED"):
        OpenEnvEnv(theirs)
    second.close()
    assert env.reset(seed=2)[0]["at"] == 0


@pytest.mark.filterwarnings("ignore:.*Box action space:UserWarning")
def test_gymnasiums_checker_holds(theirs: str) -> None:
    class Small(OpenEnvEnv):
        """Its integers have no bounds in the schema, and no step may be longer than nine."""

        def step(self, action: Any) -> Any:
            return super().step({"by": int(action["by"]) % 9, "note": action["note"]})

    env = Small(theirs)
    check_env(env, skip_render_check=True)
    env.close()
