"""Several processes train one run: as one process would, and they end together."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import psutil
import pytest
import torch
from safetensors.torch import load_file
from serving import free_port
from sft_helpers import build_model, picture
from train_helpers import metrics, rows
from waiting import eventually

from tests.distributions import install
from ui_gym_agents.agents.agent import View
from ui_gym_agents.policy import load_policy
from ui_gym_agents.store import EpisodeStore, ScreenshotStore

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(600)]

HERE = Path(__file__).parent
WAIT = 240
"""Seconds: longer than any of these runs takes."""

DRIVER = '''
"""`ui-gym-train`: keeps what a process ends with, and does to it what FAULTS says."""

import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

import paint  # registers its tasks

from ui_gym_agents import rewards
from ui_gym_agents.policy import VLMPolicy, load_policy, parallel
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.training import cli
from ui_gym_agents.training.context import TrainerContext

accumulate, close, add = VLMPolicy.accumulate, TrainerContext.close, EpisodeStore.add
contexts = {}
rank = os.environ.get("RANK", "0")
if "LONGEST_WAIT" in os.environ:
    parallel.LONGEST_WAIT = timedelta(seconds=int(os.environ["LONGEST_WAIT"]))
faults = [f.split()[1:] for f in os.environ.get("FAULTS", "").split(",") if f.startswith(rank)]


def letters(episode, parameters):
    """Differs from episode to episode, however bad the policy is."""
    return sum(ord(letter) for turn in episode.turns for letter in turn.action_text) % 5 / 4


mine = rewards.Reward("letters", "", {"format": 0.0}, letters)
rewards.REWARDS = {**rewards.REWARDS, "letters": mine}


def kept(context):
    if context.has_policy:
        context.policy.save(context.run.path / "weights" / str(context.processes.index))
    close(context)


def added(store, episodes):
    """Says which process had which episode."""
    episodes = list(episodes)
    if faults and faults[0][1] == "playing":
        if any(episode.purpose.step == int(faults[0][0]) for episode in episodes):
            os.kill(os.getpid(), signal.SIGKILL)
    with open(f"played-{rank}.txt", "a") as file:
        file.writelines(f"{episode.id}\\n" for episode in episodes)
    add(store, episodes)


def faulty(policy, *arguments, **more):
    context = contexts[id(policy)]
    if faults and int(faults[0][0]) == context.step:
        _, fault = faults.pop(0)
        if fault == "raise":
            raise ZeroDivisionError("one too many")
        if fault == "within":
            policy.base.lm_head.register_forward_pre_hook(failing)
            return accumulate(policy, *arguments, **more)
        os.kill(os.getpid(), getattr(signal, fault))
    return accumulate(policy, *arguments, **more)


def failing(*_):
    raise ZeroDivisionError("one too many")


def remembering(context):
    policy = made(context)
    contexts[id(policy)] = context
    return policy


made = TrainerContext.policy.func
TrainerContext.policy.func = remembering
TrainerContext.close = kept
EpisodeStore.add = added
VLMPolicy.accumulate = faulty

if __name__ == "__main__":
    sys.exit(cli.main())
'''

SHARED = (
    "--env.num_envs", "4", "--run.steps", "2", "--run.save_every", "1", "--run.eval_every", "0",
    "--evaluation.episodes", "4", "--evaluation.both", "false", "--policy.lora_rank", "4",
    "--policy.device", "cpu", "--policy.threads", "1", "--policy.max_new_tokens", "8",
    "--policy.batch_tokens", "100", "--env.max_steps", "2",
)  # fmt: skip
GRPO = (
    "--plugin", "grpo", "--trainer.groups", "2", "--trainer.group_size", "4",
    "--trainer.reward", "letters", "--trainer.final_lr", "1", *SHARED,
)  # fmt: skip
PPO = (
    *GRPO, "--trainer.algorithm", "ppo", "--trainer.critic.bootstrap", "true",
    "--trainer.critic.warmup", "0", "--trainer.kl", "0.1",
)  # fmt: skip
SFT = ("--plugin", "sft", "--trainer.episodes", "6", "--trainer.batch_size", "6", *SHARED)

TORCHRUN = ("-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", "PORT")


class Runs:
    """Starts runs in a folder, and ends what is left of them."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.folder = folder
        self.driver = folder / "driver.py"
        self.driver.write_text(DRIVER)
        self.model = ("--tasks.ids", '["PaintClick"]', "--policy.model", str(model))
        self.started: list[subprocess.Popen[str]] = []

    def start(self, *command: str, **environment: str) -> subprocess.Popen[str]:
        paths = os.pathsep.join(map(str, (HERE, HERE.parent)))
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1",
                 **environment},
        )  # fmt: skip
        self.started.append(process)
        return process

    def end(self, *command: str, **environment: str) -> tuple[int, str]:
        """Exit status and output of a command."""
        process = self.start(*command, **environment)
        output, _ = process.communicate(timeout=WAIT)
        return process.returncode, output

    def train(self, *arguments: str, launch: Sequence[str] = ()) -> str:
        """The output of a training that went well."""
        launcher = [str(free_port()) if word == "PORT" else word for word in launch]
        status, output = self.end(*launcher, str(self.driver), *arguments)
        assert status == 0, output
        return output

    def pair(self, *arguments: str, faults: str = "") -> list[tuple[int, str]]:
        """Exit status and output of each of two processes; see `start_pair`."""
        return self.end_pair(self.start_pair(*arguments, faults=faults))

    def start_pair(
        self, *arguments: str, faults: str = "", **environment: str
    ) -> list[subprocess.Popen[str]]:
        """Two processes, started as a launcher does.

        `faults` are what happens before a gradient step, as ``PROCESS STEP FAULT,...``.
        """
        port = str(free_port())
        return [
            self.start(
                str(self.driver), *arguments,
                FAULTS=faults, WORLD_SIZE="2", RANK=str(rank), LOCAL_RANK=str(rank),
                LOCAL_WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port,
                ACCELERATE_USE_CPU="true", **environment,
            )
            for rank in range(2)
        ]  # fmt: skip

    def end_pair(self, both: Sequence[subprocess.Popen[str]]) -> list[tuple[int, str]]:
        """Exit status and output of each."""
        outputs = [process.communicate(timeout=WAIT)[0] for process in both]
        return [(p.returncode, output) for p, output in zip(both, outputs, strict=True)]

    def close(self) -> None:
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy that clicks anywhere, and has learned no more than how that is written."""
    folder = tmp_path_factory.mktemp("model")
    policy = load_policy(build_model(folder / "raw"), threads=1)
    store = ScreenshotStore()
    rng = np.random.default_rng(0)
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    for step in range(60):
        store.put(picture(step))
        view = View(0, "Click", [picture(step)])
        cells = rng.integers(0, (12, 8), (8, 2))
        records = [policy.encode(view, f"click(<x{x}><y{y}>)") for x, y in cells]
        loss, weight = policy.supervised_loss(records, store)
        optimizer.zero_grad()
        (loss / weight).backward()
        optimizer.step()
    policy.save_merged(folder / "clicker")
    return folder / "clicker"


@pytest.fixture
def runs(tmp_path: Path, model: Path) -> Iterator[Runs]:
    found = Runs(tmp_path, model)
    yield found
    found.close()


def adapter(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "adapter_model.safetensors")


def assert_alike(one: Path, other: Path, tolerance: float) -> None:
    mine, theirs = adapter(one), adapter(other)
    assert mine.keys() == theirs.keys()
    assert all(torch.allclose(mine[k], theirs[k], atol=tolerance) for k in mine)


def assert_same_metrics(run: Path, other: Path) -> None:
    """But of what the main process remembers of pictures: fewer are its own to learn from."""
    for mine, theirs in zip(rows(run), rows(other), strict=True):
        own = {name: value for name, value in theirs.items() if name != "feature_hits"}
        assert own == pytest.approx({name: mine[name] for name in own}, abs=1e-4)
        assert mine.keys() == theirs.keys()


def assert_trained_as_one(both: Path, alone: Path) -> None:
    """Two processes measured and learned what one did, and the second has the saved weights."""
    assert_same_metrics(both, alone)
    assert_moved(both)
    saved = both / "checkpoints" / "step_000002"
    assert_alike(saved, alone / "checkpoints" / "step_000002", 1e-4)
    assert_alike(both / "weights" / "1", saved, 0.0)


def assert_moved(run: Path) -> None:
    """The second step changed something."""
    first, last = (adapter(run / "checkpoints" / f"step_00000{n}") for n in (1, 2))
    assert any(not torch.allclose(first[k], last[k], atol=1e-4) for k in first)


@pytest.mark.parametrize("plugin", [GRPO, PPO, SFT], ids=["grpo", "ppo", "sft"])
def test_two_processes_train_as_one(plugin: Sequence[str], runs: Runs) -> None:
    """By torchrun, which ``accelerate launch`` calls where there are GPUs."""
    arguments = (*plugin, *runs.model, "--run.directory")
    runs.train(*arguments, "alone")
    output = runs.train(*arguments, "both", launch=TORCHRUN)
    alone, both = runs.folder / "alone", runs.folder / "both"

    made = {path.name for path in runs.folder.iterdir() if not path.name.startswith("played")}
    assert made == {"alone", "both", "driver.py"}
    assert output.count("step 2/2") == 1
    found = rows(both)
    assert [(r["kind"], r["step"]) for r in found] == [
        ("evaluation", 0), ("train", 1), ("train", 2), ("final", 2),
    ]  # fmt: skip
    assert_same_metrics(both, alone)
    played = [episode.id for episode in EpisodeStore(both / "episodes")]
    assert played == [episode.id for episode in EpisodeStore(alone / "episodes")]

    assert_moved(both)
    assert_alike(both / "checkpoints" / "step_000002", alone / "checkpoints" / "step_000002", 1e-4)
    # Every process holds what was saved, to the bit.
    saved = both / "checkpoints" / "step_000002"
    assert_alike(both / "weights" / "0", saved, 0.0)
    assert_alike(both / "weights" / "1", saved, 0.0)


REJECTION = (
    "--plugin", "sft", "--trainer.source", "policy", "--trainer.episodes", "8",
    "--trainer.success_only", "false", "--trainer.dedupe", "false", "--trainer.warmup", "0",
    *SHARED,
)  # fmt: skip


@pytest.mark.parametrize(
    "plugin",
    [GRPO, (*PPO, "--policy.shard", "true"), REJECTION],
    ids=["grpo", "ppo, divided", "rejection"],
)
def test_processes_that_play_each_train_as_one(plugin: Sequence[str], runs: Runs) -> None:
    arguments = (*plugin, *runs.model, "--run.directory")
    runs.train(*(a for a in arguments if a not in ("--policy.shard", "true")), "alone")
    runs.train(*arguments, "both", "--env.per_rank", "true", launch=TORCHRUN)
    alone, both = runs.folder / "alone", runs.folder / "both"

    # Whole groups, with the pictures where the run keeps them.
    episodes = {e.id: e for e in EpisodeStore(both / "episodes")}
    assert episodes.keys() == {e.id for e in EpisodeStore(alone / "episodes")}
    elsewhere = {*runs.folder.joinpath("played-1.txt").read_text().split()}
    there = {episodes[name].group for name in elsewhere}
    assert {e.id for e in episodes.values() if e.group in there} == elsewhere
    assert len(episodes) / 3 < len(elsewhere) < 2 * len(episodes) / 3
    pictures = EpisodeStore(both / "episodes").screenshots
    for episode in episodes.values():
        for turn in episode.turns:
            assert pictures.keeps(turn.screenshot_id), episode.id
        assert pictures.keeps(episode.final_screenshot_id), episode.id

    assert_trained_as_one(both, alone)


def test_the_trainer_of_the_guide_trains_in_two_processes_as_in_one(runs: Runs) -> None:
    guide = (HERE.parents[1] / "docs" / "architecture.md").read_text()
    source = guide.partition("```python ui_gym_reinforce.py\n")[2].partition("```")[0]
    # This policy never succeeds: what it says makes the difference instead.
    source = source.replace("e.score - mean", "len(turn.action_text) % 5 - 2.0")
    trainers = "[ui_gym.trainers]\nreinforce = ui_gym_reinforce:Reinforce\n"
    install(runs.folder, "ui-gym-reinforce", "1.0", trainers, ui_gym_reinforce=source)
    arguments = (
        "--plugin", "reinforce", "--trainer.episodes", "8", "--trainer.lr", "1e-2", *SHARED,
        *runs.model, "--policy.temperature", "2", "--run.directory",
    )  # fmt: skip
    runs.train(*arguments, "alone")
    runs.train(*arguments, "both", launch=TORCHRUN)
    alone, both = runs.folder / "alone", runs.folder / "both"
    assert_trained_as_one(both, alone)


def test_processes_that_divide_the_weights_train_as_one(runs: Runs) -> None:
    """Two steps of GRPO; then a third by one process that has all, and by two as before."""
    arguments = (*GRPO, *runs.model, "--run.directory")
    runs.train(*arguments, "alone")
    runs.train(*arguments, "both", "--policy.shard", "true", launch=TORCHRUN)
    alone, both = runs.folder / "alone", runs.folder / "both"
    assert_same_metrics(both, alone)
    assert_moved(both)
    saved = both / "checkpoints" / "step_000002"
    assert_alike(saved, alone / "checkpoints" / "step_000002", 1e-5)
    assert_alike(both / "weights" / "0", saved, 0.0)
    assert_alike(both / "weights" / "1", saved, 0.0)

    (main, other), said = resumed(runs, "both")
    assert (main, other) == (0, 0), said
    status, said = runs.end(str(runs.driver), "--resume", "alone", "--run.steps", "3")
    assert status == 0, said
    last = both / "checkpoints" / "step_000003"
    assert_alike(last, alone / "checkpoints" / "step_000003", 1e-5)


def test_a_run_whose_weights_were_divided_goes_on_in_one_process(runs: Runs) -> None:
    arguments = (*GRPO, *runs.model, "--run.directory")
    runs.train(*arguments, "whole")
    runs.train(*arguments, "parts", "--policy.shard", "true", "--run.steps", "1", launch=TORCHRUN)
    status, said = runs.end(str(runs.driver), "--resume", "parts", "--run.steps", "2")
    assert status == 2
    assert "--policy.shard divides the weights among processes, and there is one" in said
    more = ("--run.steps", "2", "--policy.shard", "false")
    status, said = runs.end(str(runs.driver), "--resume", "parts", *more)
    assert status == 0, said
    whole, parts = (runs.folder / n / "checkpoints" / "step_000002" for n in ("whole", "parts"))
    assert_alike(parts, whole, 1e-5)


def resumed(runs: Runs, name: str) -> tuple[list[int], str]:
    """A third step by two processes."""
    (main, said), (other, heard) = runs.pair("--resume", name, "--run.steps", "3")
    return [main, other], said + heard


@pytest.mark.parametrize("index", [0, 1])
def test_nobody_waits_in_a_pass_for_a_process_that_failed_in_it(index: int, runs: Runs) -> None:
    """The others are in the middle of a layer then, where no word reaches them."""
    arguments = (*GRPO, *runs.model, "--policy.shard", "true", "--run.directory", "run")
    (main, said), (other, heard) = runs.pair(*arguments, faults=f"{index} 2 within")
    assert (main, other) == (1, 1), said + heard
    assert "another process of this run has ended" in (heard if index == 0 else said)
    assert "one too many" in (said if index == 0 else heard)


def test_a_run_goes_on_with_two_processes(runs: Runs) -> None:
    arguments = (*GRPO, *runs.model, "--run.directory")
    runs.train(*arguments, "whole")
    runs.train(*arguments, "parts", "--run.steps", "1")
    (main, said), (other, _) = runs.pair("--resume", "parts", "--run.steps", "2")
    assert (main, other) == (0, 0), said
    assert "resumed after step 1" in said
    whole, parts = runs.folder / "whole", runs.folder / "parts"
    last = parts / "checkpoints" / "step_000002"
    assert_alike(last, whole / "checkpoints" / "step_000002", 1e-4)
    assert_alike(last, parts / "weights" / "1", 0.0)


@pytest.mark.parametrize("index", [0, 1])
def test_a_failure_of_one_process_ends_all(index: int, runs: Runs) -> None:
    arguments = (*GRPO, *runs.model, "--run.directory", "run", "--run.steps", "3")
    (main, said), (other, heard) = runs.pair(*arguments, faults=f"{index} 2 raise")
    assert (main, other) == (1, 1), said + heard
    if index == 0:
        assert "the trainer 'grpo' failed in step 2: ZeroDivisionError: one too many" in said
        assert "the main process failed: the trainer 'grpo' failed in step 2" in heard
        assert len(heard.strip().splitlines()) == 1, heard
    else:
        assert "process 1 failed: ZeroDivisionError: one too many" in said
    assert [row["step"] for row in metrics(runs.folder / "run")] == [1]
    assert "failed: " in (runs.folder / "run" / "log.txt").read_text()


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize(
    ("setting", "fault"),
    [
        pytest.param((), "SIGKILL", id="gradients"),
        pytest.param(("--policy.shard", "true"), "SIGKILL", id="weights"),
        pytest.param(("--env.per_rank", "true"), "playing", id="episodes"),
    ],
)
def test_nobody_waits_for_what_a_killed_process_would_have_sent(
    setting: Sequence[str], fault: str, index: int, runs: Runs
) -> None:
    arguments = (*GRPO, *runs.model, *setting, "--run.directory", "run")
    ended = runs.pair(*arguments, faults=f"{index} 2 {fault}")
    assert ended[index][0] == -signal.SIGKILL
    status, said = ended[1 - index]
    assert status == 1, said
    assert "another process of this run has ended" in said


def stopped(process: subprocess.Popen[str]) -> bool:
    return process.poll() is None and psutil.Process(process.pid).status() == psutil.STATUS_STOPPED


def rests(process: subprocess.Popen[str], seconds: float = 1.0) -> bool:
    """Whether a process does nothing any more: it waits for another one."""
    before = psutil.Process(process.pid).cpu_times()
    threading.Event().wait(seconds)
    after = psutil.Process(process.pid).cpu_times()
    return after.user + after.system - before.user - before.system < 0.1 * seconds


STOPPED = pytest.mark.parametrize(
    ("setting", "index"),
    [
        pytest.param((), 0, id="the main one"),
        pytest.param((), 1, id="the other one"),
        pytest.param(("--policy.shard", "true"), 1, id="the other one, with half of the weights"),
    ],
)


@STOPPED
def test_a_stopped_process_is_waited_for_and_then_all_is_as_if_it_had_not_been(
    setting: Sequence[str], index: int, runs: Runs
) -> None:
    arguments = (*GRPO, *runs.model, *setting, "--run.directory")
    undisturbed = runs.pair(*arguments, "whole")
    assert [status for status, _ in undisturbed] == [0, 0], undisturbed
    both = runs.start_pair(*arguments, "run", faults=f"{index} 2 SIGSTOP")
    assert eventually(lambda: stopped(both[index]), WAIT)
    assert eventually(lambda: rests(both[1 - index]), WAIT)
    assert both[1 - index].poll() is None
    both[index].send_signal(signal.SIGCONT)
    ended = runs.end_pair(both)
    assert [status for status, _ in ended] == [0, 0], ended
    whole, run = runs.folder / "whole", runs.folder / "run"
    assert_same_metrics(run, whole)
    for found in ("checkpoints/step_000002", "weights/1"):
        assert_alike(run / found, whole / found, 0.0)


@STOPPED
def test_a_stopped_process_that_is_killed_ends_all(
    setting: Sequence[str], index: int, runs: Runs
) -> None:
    """As its machine's keeper would do, or a launcher that is told to end the run."""
    arguments = (*GRPO, *runs.model, *setting, "--run.directory", "run")
    both = runs.start_pair(*arguments, faults=f"{index} 2 SIGSTOP")
    assert eventually(lambda: stopped(both[index]), WAIT)
    both[index].kill()
    ended = runs.end_pair(both)
    assert ended[index][0] == -signal.SIGKILL
    status, said = ended[1 - index]
    assert status == 1, said
    assert "another process of this run has ended" in said


@pytest.mark.parametrize("index", [0, 1])
def test_a_stopped_process_is_waited_for_no_longer_than_any(index: int, runs: Runs) -> None:
    """For seven days, which are some seconds here: more than a step of these runs takes."""
    arguments = (*GRPO, *runs.model, "--run.directory", "run")
    both = runs.start_pair(*arguments, faults=f"{index} 2 SIGSTOP", LONGEST_WAIT="100")
    said, _ = both[1 - index].communicate(timeout=2 * WAIT)
    assert both[1 - index].returncode == 1, said
    assert "another process of this run did not answer in time" in said
    assert stopped(both[index])
    both[index].send_signal(signal.SIGCONT)
    heard, _ = both[index].communicate(timeout=WAIT)
    assert both[index].returncode == 1, heard
    assert "another process of this run has ended" in heard


def test_an_interrupt_of_all_ends_the_run_after_the_step(runs: Runs) -> None:
    """As a launcher passes it on: the others leave it to the main process."""
    arguments = (*GRPO, *runs.model, "--run.directory", "run", "--run.steps", "50")
    (main, said), (other, heard) = runs.pair(*arguments, faults="1 1 SIGINT,1 1 SIGTERM,0 2 SIGINT")
    assert (main, other) == (130, 0), said + heard
    assert "interrupted after step 2; to continue after step 2" in said
    assert heard == ""
    assert (runs.folder / "run" / "checkpoints" / "step_000002").is_dir()


def test_a_second_interrupt_ends_all_at_once(runs: Runs) -> None:
    arguments = (*GRPO, *runs.model, "--run.directory", "run", "--run.steps", "50")
    (main, said), (other, heard) = runs.pair(*arguments, faults="0 2 SIGINT,0 2 SIGINT")
    assert (main, other) == (130, 1), said + heard
    assert "left in the middle of step 2, which is lost" in said
    assert "another process of this run has ended" in heard
    assert len(heard.strip().splitlines()) == 1, heard
