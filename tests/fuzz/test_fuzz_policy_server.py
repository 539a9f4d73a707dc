"""Some requests to the policy server, whole counts at night, and a fault that must be noticed."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.responses import JSONResponse

from tests.fuzz.children import fuzz_apart
from tests.fuzz.policy_requests import PolicyRequests
from tests.fuzz.running import again, drawn, fuzz
from tests.fuzz.targets import TARGETS
from tests.fuzz.test_fuzz_targets import findings
from ui_gym_agents.serving.policy_server import JsonAnswer

KIND = TARGETS["policy-server"]


def test_some_requests_have_no_unexpected_outcome() -> None:
    report = fuzz(PolicyRequests, "policy-server", 150, 1, bounds=KIND.bounds)
    assert not report.failures, findings(report)
    assert {"200", "200 stream", "400"} <= {*report.outcomes}


@pytest.mark.nightly
@pytest.mark.timeout(4 * 3600)
def test_no_request_of_a_whole_run_has_an_unexpected_outcome(tmp_path: Path) -> None:
    report = fuzz_apart(
        KIND.where, "policy-server", KIND.count, 2, bounds=KIND.bounds, folder=tmp_path
    )
    assert not report.failures, findings(report)
    assert report.count >= KIND.count


def test_a_server_that_stumbles_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JsonAnswer, "render", JSONResponse.render)  # of half a surrogate pair, too
    target = PolicyRequests()
    requests = '[["chat/completions", {}, "{\\"model\\": \\"\\\\ud800\\", \\"messages\\": '
    requests += '[{\\"role\\": \\"user\\", \\"content\\": \\"x\\"}]}"]]'
    file = tmp_path / "policy-server" / "0.case"
    file.parent.mkdir()
    file.write_text(requests)
    report = again(lambda: target, file, KIND.bounds)
    (found,) = report.unexpected.values()
    assert "UnicodeEncodeError" in found.what
    assert target.case(drawn("policy-server", 1, 0)) == target.case(drawn("policy-server", 1, 0))
