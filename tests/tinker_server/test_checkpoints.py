"""Checkpoints: exact, in PEFT's layout, whole or not there, and of another server too."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import tinker
from clients import (
    SECONDS,
    MakeServer,
    adapter_folder,
    client_of,
    input_of,
    question_of,
    sampled,
    shaken,
    text_of,
    trainer_of,
    turn_datum,
)
from tinker import types

from ui_gym_agents.policy import VLMPolicy, load_policy
from ui_gym_tinker.server import TinkerServer
from ui_gym_tinker.server.checkpoints import Checkpoints

pytestmark = pytest.mark.filterwarnings("ignore:DEPRECATED:FutureWarning")

DATA = [
    turn_datum(text_of(20, 21, 22), [30, 31], weights=[1.0, 0.5]),
    turn_datum(text_of(25), [33, 34, 35], weights=[1.0, 1.0, -0.5]),
]
PROMPT = text_of(20, 21, 22)


def curve(trainer: Any, steps: int = 3) -> list[float]:
    found = []
    for _ in range(steps):
        out = trainer.forward_backward(DATA, "cross_entropy").result(SECONDS)
        step = trainer.optim_step(types.AdamParams(learning_rate=0.01)).result(SECONDS)
        found += [out.metrics["loss:sum"], step.metrics["grad_norm:mean"]]
    return found


def test_a_run_goes_on_to_the_bit(client: tinker.ServiceClient) -> None:
    trainer = trainer_of(client)
    curve(trainer)
    path = trainer.save_state("middle").result(SECONDS).path
    expected = curve(trainer)
    again = client.create_training_client_from_state_with_optimizer(path).result()
    assert curve(again) == expected
    assert again.get_info().lora_rank == 4


def test_a_run_goes_on_after_the_server_was_started_again(
    serve: MakeServer, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    first = serve(checkpoints=kept)
    with client_of(first) as client:
        trainer = trainer_of(client)
        curve(trainer)
        path = trainer.save_state("middle").result(SECONDS).path
        expected = curve(trainer)
    first.close()
    with client_of(serve(checkpoints=kept)) as client:
        again = client.create_training_client_from_state_with_optimizer(path).result()
        assert curve(again) == expected


def test_without_its_optimizer_a_run_begins_anew(client: tinker.ServiceClient) -> None:
    trainer = trainer_of(client)
    curve(trainer)
    path = trainer.save_state("weights-only").result(SECONDS).path
    known = curve(trainer)
    again = client.create_training_client_from_state(path).result()
    found = curve(again)
    assert found[0] == known[0]
    assert found[2] != known[2]


def test_weights_are_loaded_into_a_run(trainer: Any) -> None:
    start = trainer.save_state("start").result(SECONDS).path
    before = curve(trainer)
    trainer.forward_backward(DATA, "cross_entropy").result(SECONDS)  # is forgotten
    trainer.load_state(start).result(SECONDS)
    assert curve(trainer) == before
    trainer.load_state_with_optimizer(start).result(SECONDS)
    assert curve(trainer) == before


def test_peft_reads_what_was_saved(trainer: Any, server: TinkerServer, bare: VLMPolicy) -> None:
    shaken(trainer, bare)
    path = trainer.save_weights_for_sampler("for-peft").result(SECONDS).path
    folder = adapter_folder(server, path)
    names = {file.name for file in folder.iterdir()}
    assert names == {"adapter_model.safetensors", "adapter_config.json", "tinker.json"}
    policy = load_policy("tiny-clerk", adapter=folder, threads=1, prompt=bare.prompt)
    policy.merge = False  # its output layer is adapted, and shares its weights
    question = question_of(policy, "Enter row 3", [1])
    object.__setattr__(question, "noise", 7)
    (expected,) = policy.sample([question], temperature=1.0, max_new_tokens=8)
    sampler = trainer.create_sampling_client(path).result()
    (found,) = sampled(sampler, input_of(bare, question))
    assert tuple(found.tokens) == expected.ids
    assert found.logprobs == pytest.approx(expected.logprobs, abs=1e-5)


def test_a_name_is_taken_once(trainer: Any, server: TinkerServer) -> None:
    path = trainer.save_state("same").result(SECONDS).path
    with pytest.raises(tinker.RequestFailedError, match=r"already: pass overwrite=True"):
        trainer.save_state("same").result(SECONDS)
    curve(trainer, 1)
    metadata = {"step": "1"}
    assert (
        trainer.save_state("same", overwrite=True, user_metadata=metadata).result(SECONDS).path
        == path
    )
    facts = json.loads((adapter_folder(server, path) / "tinker.json").read_text())
    assert (facts["steps"], facts["user_metadata"]) == (1, metadata)
    assert not list(adapter_folder(server, path).parent.glob(".*"))


def test_who_is_killed_while_replacing_a_checkpoint_leaves_the_old_one(
    trainer: Any, server: TinkerServer
) -> None:
    path = trainer.save_state("same").result(SECONDS).path
    folder = adapter_folder(server, path)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    code = (
        "import os, pathlib, sys\n"
        "from ui_gym_tinker.server.checkpoints import CheckpointPath, Checkpoints\n"
        "there = Checkpoints(pathlib.Path(sys.argv[1]))\n"
        "path = CheckpointPath.parse(sys.argv[2])\n"
        "rename, done = pathlib.Path.rename, []\n"
        "def renamed(self, to):\n"
        "    if len(done) == int(sys.argv[3]):\n"
        "        os.kill(os.getpid(), 9)\n"
        "    done.append(to)\n"
        "    return rename(self, to)\n"
        "pathlib.Path.rename = renamed\n"
        "from ui_gym_tinker.server import checkpoints\n"
        "checkpoints._write_adapter = lambda part, *rest: (part / 'new').write_text('new')\n"
        "there.save(path, None, there.facts(path), overwrite=True)\n"
    )
    for renames in (0, 1):  # before the old one goes away, and before the new one comes
        asked = [sys.executable, "-c", code, str(server.checkpoints), path, str(renames)]
        assert subprocess.run(asked, check=False).returncode == -9
        assert folder.exists() == (renames == 0)
        Checkpoints(Path(server.checkpoints))
        assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert trainer.load_state(path).result(SECONDS)


@pytest.mark.parametrize("name", ["../out", "a/b", ".hidden", "x" * 200])
def test_a_name_is_no_way_out_of_the_folder(trainer: Any, name: str, server: TinkerServer) -> None:
    before = sorted(Path(server.checkpoints).rglob("*"))
    with pytest.raises(tinker.RequestFailedError, match="no name of a checkpoint"):
        trainer.save_state(name).result(SECONDS)
    assert sorted(Path(server.checkpoints).rglob("*")) == before


def test_checkpoints_are_listed_and_deleted(client: tinker.ServiceClient) -> None:
    trainer = trainer_of(client, user_metadata={"who": "me"})
    state = trainer.save_state("one").result(SECONDS).path
    weights = trainer.save_weights_for_sampler("one", ttl_seconds=3600).result(SECONDS).path
    rest = client.create_rest_client()
    listed = rest.list_checkpoints(trainer.model_id).result().checkpoints
    assert [(one.tinker_path, one.checkpoint_type) for one in listed] == [
        (state, "training"), (weights, "sampler"),
    ]  # fmt: skip
    assert listed[0].expires_at is None
    assert listed[1].expires_at is not None
    assert all(one.size_bytes and one.size_bytes > 1000 for one in listed)
    run = rest.get_training_run_by_tinker_path(state).result()
    assert (run.base_model, run.lora_rank, run.user_metadata) == ("tiny-clerk", 4, {"who": "me"})
    assert run.last_checkpoint is not None
    info = rest.get_weights_info_by_tinker_path(weights).result()
    assert (info.base_model, info.lora_rank, info.train_unembed) == ("tiny-clerk", 4, True)
    everything = rest.list_user_checkpoints().result()
    assert everything.checkpoints[0].tinker_path == weights
    assert trainer.model_id in [
        one.training_run_id for one in rest.list_training_runs(limit=100).result().training_runs
    ]
    rest.delete_checkpoint_from_tinker_path(weights).result()
    rest.set_checkpoint_ttl_from_tinker_path(state, 7200).result()
    (left,) = rest.list_checkpoints(trainer.model_id).result().checkpoints
    assert left.expires_at is not None
    with pytest.raises(tinker.NotFoundError, match="there is no checkpoint"):
        client.create_sampling_client(model_path=weights).result()


def test_a_checkpoint_expires(trainer: Any, server: TinkerServer, client: Any) -> None:
    path = trainer.save_state("short", ttl_seconds=3600).result(SECONDS).path
    facts = adapter_folder(server, path) / "tinker.json"
    facts.write_text(json.dumps({**json.loads(facts.read_text()), "expires": time.time() - 1}))
    with pytest.raises(tinker.NotFoundError, match="has expired"):
        client.create_training_client_from_state(path).result()
    assert not facts.parent.exists()
    with pytest.raises(tinker.RequestFailedError, match="ttl_seconds is from 3600"):
        trainer.save_state("shorter", ttl_seconds=5).result(SECONDS)


def test_what_is_not_there_is_said(client: tinker.ServiceClient, trainer: Any) -> None:
    rest = client.create_rest_client()
    nowhere = f"tinker://{trainer.model_id}/weights/nowhere"
    with pytest.raises(tinker.NotFoundError, match="there is no checkpoint"):
        client.create_training_client_from_state(nowhere).result()
    with pytest.raises(tinker.RequestFailedError, match="there is no checkpoint"):
        trainer.load_state(nowhere).result(SECONDS)
    with pytest.raises(tinker.NotFoundError, match="no training run"):
        rest.get_training_run("nobody").result()
    with pytest.raises(tinker.RequestFailedError, match="no bucket to export to"):
        trainer.save_weights_external("x").result(SECONDS)


def test_an_adapter_of_another_shape_is_refused(client: tinker.ServiceClient) -> None:
    path = trainer_of(client, rank=2).save_state("two").result(SECONDS).path
    other = trainer_of(client)
    with pytest.raises(tinker.RequestFailedError, match="another shape"):
        other.load_state(path).result(SECONDS)


def test_half_a_checkpoint_is_none(
    trainer: Any, server: TinkerServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fails in the middle leaves nothing under the name, and the run goes on."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("ui_gym_tinker.server.checkpoints.save_optimizer", full)
        with pytest.raises(tinker.RequestFailedError, match="there is no room") as failed:
            trainer.save_state("half").result(SECONDS)
    assert failed.value.category == "server"
    kept = trainer.save_state("whole").result(SECONDS).path
    assert [one.name for one in adapter_folder(server, kept).parent.iterdir()] == ["whole"]


def test_two_servers_do_not_share_a_folder(serve: MakeServer, tmp_path: Path) -> None:
    from ui_gym.errors import UserError

    serve(checkpoints=tmp_path / "shared")
    with pytest.raises(UserError, match="another server writes its checkpoints"):
        TinkerServer(checkpoints=tmp_path / "shared")


def test_a_bare_server_keeps_nothing() -> None:
    with TinkerServer() as server, client_of(server) as client:
        path = trainer_of(client).save_state("gone").result(SECONDS).path
        folder = adapter_folder(server, path)
        assert folder.is_dir()
    assert not folder.exists()
