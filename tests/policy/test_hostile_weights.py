"""Weights of strangers: a folder of a model is data, and nothing in it is run.

Each folder holds a trap that is sprung where its files are read without our walls.
"""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError
from transformers import AutoConfig

from ui_gym.errors import UserError
from ui_gym_agents.policy import lora
from ui_gym_agents.policy.model import load_model
from ui_gym_agents.training.tensors import load_tensors, save_tensors


class Trap:
    """Makes a file where it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.file,)


@pytest.fixture
def sprung(tmp_path: Path) -> Path:
    """The file that a trap makes."""
    return tmp_path / "sprung"


def test_a_pickle_of_weights_is_not_read(
    folder_of: Callable[[str], Path], tmp_path: Path, sprung: Path
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    shutil.copy(folder_of("llava") / "config.json", folder)
    torch.save({"w": Trap(sprung)}, folder / "pytorch_model.bin")
    with pytest.raises(UserError, match="cannot load a model"):
        load_model(folder)
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    torch.save({"w": Trap(sprung)}, adapter / "adapter_model.bin")
    with pytest.raises(UserError, match="is no adapter"):
        lora.load(torch.nn.Linear(2, 2), adapter)
    named = adapter / "adapter_model.safetensors"
    named.write_bytes(pickle.dumps(Trap(sprung)))  # under the name of the other format
    with pytest.raises(SafetensorError):
        load_tensors(named)
    assert not sprung.exists()
    torch.load(folder / "pytorch_model.bin", weights_only=False)
    assert sprung.exists()


def test_code_beside_weights_is_not_run(
    folder_of: Callable[[str], Path], tmp_path: Path, sprung: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(folder_of("llava"), folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "odd", "auto_map": {"AutoConfig": "configuration_odd.OddConfig"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "configuration_odd.py").write_text(
        f"from transformers import PretrainedConfig\nopen({str(sprung)!r}, 'w').close()\n"
        "class OddConfig(PretrainedConfig):\n    model_type = 'odd'\n"
    )
    with pytest.raises((UserError, ValueError), match=r"cannot load a model|trust_remote_code"):
        load_model(folder)
    assert not sprung.exists()
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "hf"))
    AutoConfig.from_pretrained(folder, trust_remote_code=True)
    assert sprung.exists()


def test_a_header_that_promises_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    save_tensors(path, {"a": torch.zeros(2)})
    whole = path.read_bytes()
    size = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + size])
    header["a"]["shape"], header["a"]["data_offsets"] = [1 << 40], [0, 1 << 42]
    longer = json.dumps(header).encode()
    for bad in (
        (1 << 60).to_bytes(8, "little") + whole[8:],
        len(longer).to_bytes(8, "little") + longer + whole[8 + size :],
    ):
        path.write_bytes(bad)
        with pytest.raises(SafetensorError):
            load_tensors(path)
    path.write_bytes(whole)
    assert load_tensors(path)["a"].tolist() == [0, 0]
