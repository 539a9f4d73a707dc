"""What `ui-gym-serve-policy` records, read by OpenEnv's own `TrainingTrace`: ``tox -e openenv``."""

from __future__ import annotations

import json

import pytest

from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.serving import trace
from ui_gym_agents.serving.rollouts import Rollout, Said

pytest.importorskip("openenv", reason="needs openenv==0.10.0: tox -e openenv")

from openenv.core.harness.training import TrainingTrace

RECORDS = (
    TokenRecord((1, 2, 3), (4, 5), (-0.5, -1.0), ("ab",), temperature=0.7, version=2),
    TokenRecord((1, 2, 3, 4, 5, 6), (7,), (-0.25,), truncated=True),
)


def recorded() -> Rollout:
    """A rollout with an answer for each record."""
    rollout = Rollout("one")
    for number, record in enumerate(RECORDS):
        sample, _ = rollout.begin({"messages": [number]}, name="", again=False)
        sample.said = Said(f"answer {number}", record)
        sample.response.set_result({"id": str(number)})
        sample.delivered = True
    return rollout


def test_what_is_written_is_a_training_trace_and_comes_back_the_same() -> None:
    line = json.dumps(trace.of_rollout(recorded()))
    theirs = TrainingTrace.model_validate_json(line)
    assert [turn.loss_mask for turn in theirs.turns] == [[0] * 3 + [1] * 2, [0] * 6 + [1]]
    assert theirs.turns[1].request == {"messages": [1]}
    assert tuple(trace.records(theirs.model_dump())) == RECORDS
