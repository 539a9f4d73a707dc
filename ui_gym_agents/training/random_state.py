"""The states of the random generators of Python, numpy and torch, as JSON and back, exactly."""

from __future__ import annotations

import base64
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed Python's and numpy's global generators, and torch's: at once where it is imported, else
    behind what is done inside, where it was imported meanwhile."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    early = sys.modules.get("torch")
    if early is not None:
        early.manual_seed(seed)
    yield
    late = sys.modules.get("torch")
    if early is None and late is not None:
        late.manual_seed(seed)


def capture() -> dict[str, Any]:
    """The states now. Torch's are there only if torch is imported, CUDA's only if it is used."""
    version, numbers, gauss = random.getstate()
    name, keys, position, has_gauss, cached = np.random.get_state(legacy=True)
    state: dict[str, Any] = {
        "python": [version, list(numbers), gauss],
        "numpy": [name, np.asarray(keys).tolist(), position, has_gauss, cached],
    }
    torch = sys.modules.get("torch")
    if torch is not None:
        state["torch"] = _to_text(torch.get_rng_state())
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            state["cuda"] = [_to_text(one) for one in torch.cuda.get_rng_state_all()]
    return state


def restore(state: dict[str, Any]) -> None:
    """Bring the generators back to a captured state."""
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers), gauss))
    name, keys, position, has_gauss, cached = state["numpy"]
    np.random.set_state((name, np.array(keys, dtype=np.uint32), position, has_gauss, cached))
    if "torch" in state:
        import torch

        torch.set_rng_state(_to_tensor(state["torch"]))
        # A machine with fewer devices, or none, continues with what it has.
        for device, text in enumerate(state.get("cuda", [])[: torch.cuda.device_count()]):
            torch.cuda.set_rng_state(_to_tensor(text), device)


@contextmanager
def preserved() -> Iterator[None]:
    """Whatever is drawn inside leaves the generators as they were: for evaluations."""
    state = capture()
    try:
        yield
    finally:
        restore(state)


def _to_text(tensor: Any) -> str:
    return base64.b64encode(tensor.cpu().numpy().tobytes()).decode()


def _to_tensor(text: str) -> Any:
    import torch

    return torch.frombuffer(bytearray(base64.b64decode(text)), dtype=torch.uint8)
