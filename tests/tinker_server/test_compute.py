"""The thread that computes: batches of equal weights, and nothing that ends it but its end."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest
from waiting import eventually

from ui_gym_tinker.server import compute
from ui_gym_tinker.server.compute import ComputeThread


@dataclass(eq=False)
class Asked:
    weights: str
    bad: bool = False
    errors: list[BaseException] = field(default_factory=list)

    def fail(self, error: BaseException) -> None:
        self.errors.append(error)


class Recorder:
    """Computes nothing, and remembers in what batches it was asked to."""

    def __init__(self) -> None:
        self.batches: list[list[Asked]] = []
        self.thread: ComputeThread[Asked] = ComputeThread(self.sample, lambda: None)

    def sample(self, batch: Sequence[Asked]) -> None:
        self.batches.append(list(batch))
        if any(one.bad for one in batch):
            raise RuntimeError("a bad one")


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    found = Recorder()
    found.thread.start()
    yield found
    found.thread.close()


def held(recorder: Recorder) -> threading.Event:
    """Keeps the thread busy until the event is set."""
    busy, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        busy.set()
        go_on.wait(30)

    recorder.thread.submit(wait)
    assert busy.wait(30)
    return go_on


def test_what_waits_for_the_same_weights_is_one_batch(recorder: Recorder) -> None:
    go_on = held(recorder)
    asked = [Asked("ab"[i % 2]) for i in range(24)]
    for one in asked:
        recorder.thread.submit_sample(one)
    go_on.set()
    assert eventually(lambda: sum(map(len, recorder.batches)) == 24)
    assert [[one.weights for one in batch] for batch in recorder.batches] == [
        ["a"] * 12,
        ["b"] * 12,
    ]


def test_a_batch_waits_for_what_is_being_read(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compute, "LONGEST_LINGER", 30.0)
    first, second = Asked("a"), Asked("a")
    with recorder.thread.arriving():
        recorder.thread.submit_sample(first)
        recorder.thread.submit_sample(second)
    assert eventually(lambda: recorder.batches)
    assert recorder.batches == [[first, second]]


def test_one_bad_sample_does_not_spoil_the_others(recorder: Recorder) -> None:
    go_on = held(recorder)
    asked = [Asked("a", bad=i == 2) for i in range(5)]
    for one in asked:
        recorder.thread.submit_sample(one)
    go_on.set()
    assert eventually(lambda: len(recorder.batches) == 6)
    assert [len(one.errors) for one in asked] == [0, 0, 1, 0, 0]
    assert recorder.batches[0] == asked
    assert recorder.batches[1:] == [[one] for one in asked]


def test_a_job_that_raises_ends_nothing(
    recorder: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    done = threading.Event()

    def wrong() -> None:
        raise ValueError("made up")

    recorder.thread.submit(wrong)
    recorder.thread.submit(done.set)
    assert done.wait(30)
    assert "a job failed and did not tell" in caplog.text


def test_jobs_and_samples_take_turns(recorder: Recorder) -> None:
    order: list[str] = []
    go_on = held(recorder)
    for number in range(3):
        recorder.thread.submit(lambda number=number: order.append(f"job {number}"))
        recorder.thread.submit_sample(Asked(str(number)))
    sample = recorder.sample

    def noted(batch: Sequence[Asked]) -> None:
        order.append(f"sample {batch[0].weights}")
        sample(batch)

    recorder.thread._sample = noted
    go_on.set()
    assert eventually(lambda: len(order) == 6)
    assert sorted(order) == [*(f"job {i}" for i in range(3)), *(f"sample {i}" for i in range(3))]
    assert [one.split()[0] for one in order] == ["sample", "job"] * 3


def test_its_end_may_be_repeated() -> None:
    found = Recorder()
    found.thread.start()
    found.thread.close()
    found.thread.close()
