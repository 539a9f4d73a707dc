"""What a server tells of itself: models, runs, samplers, sessions and checkpoints."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from ui_gym_tinker.server.adapters import AdapterShape
from ui_gym_tinker.server.checkpoints import (
    KINDS,
    CheckpointFacts,
    CheckpointPath,
    expiry,
)
from ui_gym_tinker.server.core import Reply, ServerCore
from ui_gym_tinker.server.errors import BadRequest, HttpRefusal

OWNER = "local"


def capabilities(core: ServerCore) -> Reply:
    """The base models."""
    models = [
        {
            "model_name": model.name,
            "max_context_length": model.max_context,
            "trainable": True,
            "sampleable": True,
        }
        for model in core.models.values()
    ]
    return {"supported_models": models}


def info(core: ServerCore, model_id: str) -> Reply:
    """Of a training run; its tokenizer is a folder on this machine."""
    run = core.sessions.run(model_id)
    return {
        "type": "get_info",
        "model_id": run.id,
        "model_name": run.model.name,
        "is_lora": True,
        "lora_rank": run.shape.rank,
        "model_data": {
            "arch": run.model.architecture,
            "model_name": run.model.name,
            "tokenizer_id": str(run.model.folder),
        },
    }


def sampler(core: ServerCore, sampler_id: str) -> Reply:
    found = core.sessions.sampler(sampler_id)
    return {
        "sampler_id": found.id,
        "base_model": found.model.name,
        "model_path": found.model_path,
    }


def weights_info(core: ServerCore, asked: Reply) -> Reply:
    """What a checkpoint is of."""
    facts = _facts(core, _parsed(str(asked.get("tinker_path", ""))))
    return {"base_model": facts.base_model, "is_lora": True, **_shape(facts.shape)}


def training_runs(core: ServerCore, limit: int, offset: int) -> Reply:
    """Those that are there, and those of which there are checkpoints."""
    ids = {run.id for session in core.sessions.all() for run in session.runs.values()}
    ids |= {path.run for path, _ in core.checkpoints.all()}
    runs = [training_run(core, run) for run in sorted(ids)[offset : offset + limit]]
    return {"training_runs": runs, "cursor": _cursor(limit, offset, len(ids))}


def training_run(core: ServerCore, run_id: str) -> Reply:
    """A run by its live record, or by its checkpoints."""
    saved = list(core.checkpoints.all(run_id))
    live = {run.id: run for session in core.sessions.all() for run in session.runs.values()}
    run = live.get(run_id)
    if run is None and not saved:
        raise HttpRefusal(404, f"there is no training run {run_id!r}, and no checkpoint of one")
    last = dict.fromkeys(KINDS) | {path.kind: (path, facts) for path, facts in saved}
    newest: Any = saved[-1][1] if saved else None
    found: Reply = {
        "training_run_id": run_id,
        "base_model": run.model.name if run else newest.base_model,
        "model_owner": OWNER,
        "is_lora": True,
        "lora_rank": run.shape.rank if run else newest.shape.rank,
        "last_request_time": _iso(run.last_request if run else newest.created),
        "user_metadata": _texts(run.user_metadata) if run else None,
    }
    for name, kind in (
        ("last_checkpoint", "weights"),
        ("last_sampler_checkpoint", "sampler_weights"),
    ):
        pair = last[kind]
        found[name] = None if pair is None else _checkpoint(core, *pair)
    return found


def of_run(core: ServerCore, run_id: str) -> Reply:
    """A run's checkpoints."""
    return {"checkpoints": [_checkpoint(core, *one) for one in core.checkpoints.all(run_id)]}


def checkpoints(core: ServerCore, limit: int, offset: int) -> Reply:
    """All checkpoints, the newest first."""
    found = list(core.checkpoints.all())[::-1]
    shown = [_checkpoint(core, *one) for one in found[offset : offset + limit]]
    return {"checkpoints": shown, "cursor": _cursor(limit, offset, len(found))}


def delete(core: ServerCore, run: str, kind: str, name: str) -> Reply:
    try:
        core.checkpoints.delete(CheckpointPath.of(run, kind, name))
    except BadRequest as error:
        raise HttpRefusal(404, str(error)) from None
    return {}


def set_ttl(core: ServerCore, asked: Reply, run: str, kind: str, name: str) -> Reply:
    path = CheckpointPath.of(run, kind, name)
    _facts(core, path)
    core.checkpoints.set_expiry(path, expiry(asked.get("ttl_seconds")))
    return {}


def sessions(core: ServerCore, limit: int, offset: int) -> Reply:
    return {"sessions": [one.id for one in core.sessions.all()[offset : offset + limit]]}


def session(core: ServerCore, session_id: str) -> Reply:
    for found in core.sessions.all():
        if found.id == session_id:
            return {
                "training_run_ids": list(found.runs),
                "sampler_ids": list(found.samplers),
                "user_metadata": _texts(found.user_metadata),
                "display_name": found.display_name,
            }
    why = core.sessions.why_gone(session_id)
    raise HttpRefusal(404, why or f"there is no session {session_id!r}")


def _parsed(text: str) -> CheckpointPath:
    try:
        return CheckpointPath.parse(text)
    except BadRequest as error:
        raise HttpRefusal(404, str(error)) from None


def _facts(core: ServerCore, path: CheckpointPath) -> CheckpointFacts:
    try:
        return core.checkpoints.facts(path)
    except BadRequest as error:
        raise HttpRefusal(404, str(error)) from None


def _checkpoint(core: ServerCore, path: CheckpointPath, facts: CheckpointFacts) -> Reply:
    return {
        "checkpoint_id": path.id,
        "checkpoint_type": KINDS[path.kind],
        "time": _iso(facts.created),
        "tinker_path": str(path),
        "size_bytes": core.checkpoints.size(path),
        "public": False,
        "user_metadata": dict(facts.user_metadata) or None,
        "expires_at": None if facts.expires is None else _iso(facts.expires),
    }


def _shape(shape: AdapterShape) -> Reply:
    return {
        "lora_rank": shape.rank,
        "train_attn": shape.attention,
        "train_mlp": shape.mlp,
        "train_unembed": shape.unembed,
    }


def _texts(metadata: Any) -> dict[str, str] | None:
    return None if metadata is None else {str(k): str(v) for k, v in metadata.items()}


def _cursor(limit: int, offset: int, count: int) -> Reply:
    return {"offset": offset, "limit": limit, "total_count": count}


def _iso(seconds: float = 0.0) -> str:
    return datetime.fromtimestamp(seconds or time.time(), UTC).isoformat()
