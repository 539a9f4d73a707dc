"""Checkpoints on disk: folders that PEFT reads, and beside it what a run needs to go on.

``DIR/RUN/weights/NAME`` is a training checkpoint, ``DIR/RUN/sampler_weights/NAME`` one to sample
from; their paths are ``tinker://RUN/weights/NAME`` and so on. In a folder are

- ``adapter_model.safetensors`` and ``adapter_config.json``: the adapter in PEFT's layout;
- ``optimizer.safetensors``: AdamW's state, in training checkpoints;
- ``tinker.json``: what it is of, and when it expires.

A folder is written under another name, flushed and renamed, so that it is whole or not there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig
from safetensors.torch import load_file, save_file
from torch import Tensor

from ui_gym_agents.files import sync, telling_of
from ui_gym_agents.training.tensors import load_optimizer, save_optimizer
from ui_gym_tinker.server.adapters import Adapter, AdapterShape
from ui_gym_tinker.server.errors import BadRequest

WEIGHTS = "adapter_model.safetensors"
OPTIMIZER = "optimizer.safetensors"
FACTS = "tinker.json"
REPLACED = ".old"
"""How the name of a checkpoint ends while another takes its place."""

KINDS = {"weights": "training", "sampler_weights": "sampler"}
"""Kinds of checkpoints: the word in a path, and what the API calls it."""

TTL = (3600, 10 * 365 * 24 * 3600)
"""How short and how long a checkpoint may be asked to live, in seconds."""

_PREFIX = "base_model.model."
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9:_-]{0,127}")


@dataclass(frozen=True)
class CheckpointPath:
    """The parts of ``tinker://RUN/KIND/NAME``."""

    run: str
    kind: str
    name: str

    def __str__(self) -> str:
        return f"tinker://{self.run}/{self.kind}/{self.name}"

    @property
    def id(self) -> str:
        return f"{self.kind}/{self.name}"

    @classmethod
    def parse(cls, text: str) -> CheckpointPath:
        """Raises `BadRequest` where `text` is no such path."""
        parts = text.removeprefix("tinker://").split("/")
        if not text.startswith("tinker://") or len(parts) != 3:
            raise BadRequest(f"{text!r} is no path of a checkpoint: tinker://RUN/weights/NAME")
        return cls.of(*parts)

    @classmethod
    def of(cls, run: str, kind: str, name: str) -> CheckpointPath:
        """Raises `BadRequest` where a part is none."""
        if kind not in KINDS:
            raise BadRequest(f"{kind!r} is no kind of checkpoint: {' or '.join(KINDS)}")
        if not _RUN.fullmatch(run):
            raise BadRequest(f"{run[:100]!r} is no training run")
        if not _NAME.fullmatch(name):
            raise BadRequest(
                f"{name[:100]!r} is no name of a checkpoint: letters, digits, '.', '_' and '-'"
            )
        return cls(run, kind, name)


@dataclass(frozen=True)
class CheckpointFacts:
    """What is known of a checkpoint. Times are seconds since 1970."""

    base_model: str
    shape: AdapterShape
    steps: int
    created: float
    expires: float | None = None
    user_metadata: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> CheckpointFacts:
        """Made of what `asdict` gave."""
        return cls(**{**value, "shape": AdapterShape(**value["shape"])})


class Checkpoints:
    """The checkpoints of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob(f"*/*/.*{REPLACED}"):  # whoever replaced it was killed
            place = old.with_name(old.name[1:].removesuffix(REPLACED))
            if not place.exists():
                old.rename(place)

    def place(self, path: CheckpointPath) -> Path:
        return self.folder / path.run.replace(":", "_") / path.kind / path.name

    def save(
        self,
        path: CheckpointPath,
        adapter: Adapter,
        facts: CheckpointFacts,
        optimizer: torch.optim.Optimizer | None = None,
        *,
        overwrite: bool = False,
    ) -> None:
        """Write a checkpoint, onto the disk.

        Raises:
            BadRequest: there is one of that name.
            NoRoom: the disk is full.
        """
        final = self.place(path)
        if final.exists() and not overwrite:
            raise BadRequest(f"there is a checkpoint {path} already: pass overwrite=True, or name "
                             "it otherwise")  # fmt: skip
        final.parent.mkdir(parents=True, exist_ok=True)
        part = final.with_name(f".{final.name}.{os.getpid()}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        try:
            with telling_of(final):
                _write_adapter(part, adapter, facts.base_model)
                if optimizer is not None:
                    save_optimizer(optimizer, part / OPTIMIZER, step=facts.steps)
                (part / FACTS).write_text(json.dumps({"path": str(path), **asdict(facts)}))
                for file in (*part.iterdir(), part):
                    sync(file)
                old = final.with_name(f".{final.name}{REPLACED}")
                shutil.rmtree(old, ignore_errors=True)
                if final.exists():
                    final.rename(old)
                part.rename(final)
                sync(final.parent)
                shutil.rmtree(old, ignore_errors=True)
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def facts(self, path: CheckpointPath) -> CheckpointFacts:
        """What is known of a checkpoint.

        Raises:
            BadRequest: there is none, or it has expired.
        """
        place = self.place(path)
        try:
            value = json.loads((place / FACTS).read_text())
        except FileNotFoundError:
            raise BadRequest(f"there is no checkpoint {path} in {self.folder}") from None
        value.pop("path")
        found = CheckpointFacts.of_json(value)
        if found.expires is not None and found.expires <= time.time():
            self._discard(place)
            raise BadRequest(f"the checkpoint {path} has expired (ttl_seconds)")
        return found

    def tensors(self, path: CheckpointPath) -> dict[str, tuple[Tensor, Tensor]]:
        """A and B of each layer, by its full name."""
        return read_tensors(self.place(path) / WEIGHTS)

    def load_optimizer(self, path: CheckpointPath, optimizer: torch.optim.Optimizer) -> int:
        """Give `optimizer` the state of a training checkpoint; returns the steps done by then.

        Raises:
            BadRequest: the checkpoint has none.
        """
        file = self.place(path) / OPTIMIZER
        if not file.is_file():
            raise BadRequest(f"the checkpoint {path} has no state of an optimizer")
        return load_optimizer(optimizer, file)

    def all(self, run: str | None = None) -> Iterator[tuple[CheckpointPath, CheckpointFacts]]:
        """The checkpoints of a run, or of all; the oldest first."""
        found = []
        for file in self.folder.glob(f"*/*/*/{FACTS}"):
            if file.parent.name.startswith("."):
                continue
            try:
                path = CheckpointPath.parse(json.loads(file.read_text())["path"])
                if run in (None, path.run):
                    found.append((path, self.facts(path)))
            except (BadRequest, FileNotFoundError):
                continue  # it has expired, or was deleted meanwhile
        return iter(sorted(found, key=lambda one: (one[1].created, str(one[0]))))

    def size(self, path: CheckpointPath) -> int:
        """Bytes on disk."""
        return sum(file.stat().st_size for file in self.place(path).iterdir())

    def delete(self, path: CheckpointPath) -> None:
        """Raises `BadRequest` where there is no such checkpoint."""
        self.facts(path)
        self._discard(self.place(path))

    def set_expiry(self, path: CheckpointPath, expires: float | None) -> None:
        """When a checkpoint is to be deleted; None: never."""
        facts = self.facts(path)
        value = {"path": str(path), **asdict(facts), "expires": expires}
        file = self.place(path) / FACTS
        part = file.with_name(f".{file.name}.part")
        part.write_text(json.dumps(value))
        sync(part)
        part.replace(file)

    @staticmethod
    def _discard(place: Path) -> None:
        """Delete a checkpoint so that no moment shows half of it under its name."""
        doomed = place.with_name(f".{place.name}.gone")
        shutil.rmtree(doomed, ignore_errors=True)
        place.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def expiry(ttl_seconds: int | None) -> float | None:
    """When a checkpoint of that time to live expires; None: never.

    Raises:
        BadRequest: it is too short or too long.
    """
    if ttl_seconds is None:
        return None
    if not TTL[0] <= ttl_seconds <= TTL[1]:
        raise BadRequest(f"ttl_seconds is from {TTL[0]} (an hour) to {TTL[1]} (ten years), not "
                         f"{ttl_seconds}")  # fmt: skip
    return time.time() + ttl_seconds


def write_tensors(file: Path, adapter: Adapter) -> None:
    """Write an adapter's tensors by PEFT's names."""
    tensors = {}
    for layer, (a, b) in adapter.pairs.items():
        tensors[f"{_PREFIX}{layer}.lora_A.weight"] = a.detach().cpu().contiguous()
        tensors[f"{_PREFIX}{layer}.lora_B.weight"] = b.detach().cpu().contiguous()
    save_file(tensors, file, metadata={"format": "pt"})


def read_tensors(file: Path) -> dict[str, tuple[Tensor, Tensor]]:
    """What `write_tensors` wrote: A and B of each layer, by its full name."""
    halves: dict[str, dict[str, Tensor]] = {}
    for name, value in load_file(file).items():
        layer, _, half = name.removeprefix(_PREFIX).removesuffix(".weight").rpartition(".")
        halves.setdefault(layer, {})[half] = value
    return {layer: (found["lora_A"], found["lora_B"]) for layer, found in halves.items()}


def _write_adapter(folder: Path, adapter: Adapter, base_model: str) -> None:
    write_tensors(folder / WEIGHTS, adapter)
    config = LoraConfig(
        r=adapter.shape.rank, lora_alpha=adapter.shape.alpha,  # type: ignore[arg-type]
        lora_dropout=0.0, target_modules=list(adapter.pairs), task_type="CAUSAL_LM",
        base_model_name_or_path=base_model, inference_mode=True,
    )  # fmt: skip
    config.save_pretrained(str(folder))
