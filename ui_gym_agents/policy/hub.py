"""Models of the hub: a name such as ``Qwen/Qwen2.5-VL-7B-Instruct`` becomes a folder of its files.

What lies whole in the hub's cache is taken from there, and the hub is not asked: a run that is
resumed has the model that it began with. Else the hub is asked once, with a deadline; where it
cannot be reached, the reason and the remedy are said within seconds. (Without that question,
huggingface_hub 2.4 waits for ever on a hub that takes a connection and does not answer.)
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from ui_gym.errors import UserError

DEADLINE = 5.0
"""Seconds within which the hub must begin to answer."""

ABOUT = ("*.json", "*.txt", "*.jinja", "*.model")
"""A model's files without its weights: configuration, tokenizer, processor, chat template."""

WEIGHTS = ("*.safetensors",)


def is_hub_name(name: str) -> bool:
    """Whether `name` is written as the hub's names are: an owner, a slash and a model."""
    return re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", name) is not None


def snapshot(name: str, *, weights: bool = True) -> Path:
    """The folder of a hub's model, downloaded where the cache lacks it.

    Args:
        name: As the hub writes it.
        weights: Whether its weights are wanted, or only what describes it.

    Raises:
        UserError: there is no such model, it wants a token, or the hub cannot be reached.
    """
    # Imported only here: it takes a second, and models that are on the disk need none of it.
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    which: dict[str, Any] = {
        "allow_patterns": [*ABOUT, *(WEIGHTS if weights else ())], "ignore_patterns": ["*/*"]
    }  # fmt: skip
    with suppress(LocalEntryNotFoundError, OSError):
        cached = Path(snapshot_download(name, local_files_only=True, **which))
        if not _lacks(cached, weights):
            return cached
    try:
        HfApi().model_info(name, timeout=DEADLINE)
        folder = Path(snapshot_download(name, etag_timeout=DEADLINE, **which))
    except GatedRepoError:
        raise UserError(
            f"the model {name} is given only to accounts that its owner lets in: ask for it on its "
            "page at the hub, then set HF_TOKEN to a token of yours"
        ) from None
    except RepositoryNotFoundError:
        raise UserError(
            f"the hub has no model {name!r} that this account may see; check its spelling, or set "
            "HF_TOKEN to a token of an account that may"
        ) from None
    except Exception as error:  # httpx's, huggingface_hub's and the system's: all mean the same
        raise UserError(_unreachable(name, error)) from None
    if lacks := _lacks(folder, weights):
        raise UserError(
            f"the hub's model {name} has no {lacks}: only models in the format of transformers "
            "with safetensors are read"
        )
    return folder


def _lacks(folder: Path, weights: bool) -> str:
    """The first file that a folder should have and has not; a download may have been cut."""
    if not (folder / "config.json").is_file():
        return "config.json"
    if not weights:
        return ""
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return "" if any(folder.glob("*.safetensors")) else "model.safetensors"
    files = sorted(set(json.loads(index.read_text())["weight_map"].values()))
    return next((name for name in files if not (folder / name).is_file()), "")


def _unreachable(name: str, why: object) -> str:
    """The sentence for a model that cannot be had: the cause and the remedy."""
    root = why
    while isinstance(root, BaseException) and (root.__cause__ or root.__context__):
        root = root.__cause__ or root.__context__
    cause = " ".join(str(root).split())[:200] or type(root).__name__
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        cause = "HF_HUB_OFFLINE is set"
    return (
        f"the model {name} is not on this machine and cannot be had from the hub ({cause}): "
        f"go online, set HF_ENDPOINT to a mirror, or run hf download {name} --local-dir FOLDER "
        "where there is a network, copy FOLDER here, and name it in place of the model"
    )
