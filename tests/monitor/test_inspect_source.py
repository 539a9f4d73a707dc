"""Logs of Inspect's, written here as its documentation says; Inspect itself is not needed."""

from __future__ import annotations

import base64
import io
import json
import struct
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as PILImage

from ui_gym.dialects import get_dialect
from ui_gym.errors import UserError
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.sources import inspect_log
from ui_gym_agents.monitor.sources.inspect_log import InspectLog, score_of

HEADER = {
    "version": 2,
    "status": "success",
    "eval": {
        "task": "desk", "model": "openai/gpt-9", "created": "2026-01-01T08:00:00+00:00",
        "task_args": {"level": 3},
    },
    "results": {"headline": {"scorer": "judge", "score": "judge", "metric": "accuracy"}},
}  # fmt: skip


def picture(shade: int) -> str:
    coded = io.BytesIO()
    PILImage.new("RGB", (6, 4), (shade, 0, 0)).save(coded, "PNG")
    return "data:image/png;base64," + base64.b64encode(coded.getvalue()).decode()


def image(uri: str) -> dict[str, Any]:
    return {"type": "image", "image": uri, "detail": "auto"}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def call(id: str, **arguments: Any) -> dict[str, Any]:
    return {"id": id, "function": "computer", "arguments": arguments, "type": "function"}


def a_sample(id: Any = 1, epoch: int = 1, **changed: Any) -> dict[str, Any]:
    """Two calls of the computer tool and an answer; pictures as attachments and in place."""
    return {
        "id": id,
        "epoch": epoch,
        "input": "Click the button",
        "target": "yes",
        "messages": [
            {"role": "system", "content": "You have a computer."},
            {"role": "user", "content": [text("Click the button"), image("attachment://aa")]},
            {
                "role": "assistant",
                "content": [{"type": "reasoning", "reasoning": "Where?"}, text("I click.")],
                "tool_calls": [call("c1", action="left_click", coordinate=[3, 4])],
            },
            {"role": "tool", "content": [text("ok"), image(picture(20))], "tool_call_id": "c1"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [call("c2", action="key", text="Nonsense")],
            },
            {
                "role": "tool", "content": "", "tool_call_id": "c2",
                "error": {"type": "parsing", "message": "there is no such key"},
            },
            {"role": "assistant", "content": "Done."},
        ],
        "attachments": {"aa": picture(10)},
        "scores": {
            "other": {"value": 0.25},
            "judge": {"value": "C", "answer": "yes", "explanation": "as asked"},
        },
        "metadata": {"level": 3},
        "started_at": "2026-01-01T08:00:01+00:00",
        "total_time": 12.5,
        **changed,
    }  # fmt: skip


def write(path: Path, *samples: dict[str, Any], header: dict[str, Any] | None = HEADER) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({"eval": HEADER["eval"]}))
        for sample in samples:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))
        archive.writestr("_journal/summaries/1.json", "[]")
        if header is not None:
            archive.writestr("header.json", json.dumps(header))
    return path


def taken_in(log: InspectLog) -> MonitorIndex:
    index = MonitorIndex(None)
    log.refresh(index)
    return index


def shade_of(log: InspectLog, key: str) -> int:
    found = log.picture(key)
    assert found is not None
    assert found.media == "image/png"
    return PILImage.open(io.BytesIO(found.data)).getpixel((1, 1))[0]


def test_messages_are_turns_and_pictures_what_was_seen_before_them(tmp_path: Path) -> None:
    log = InspectLog(write(tmp_path / "log.eval", a_sample()))
    index = taken_in(log)
    (row,) = index.rows("select * from episode")
    episode = log.episode(row["place"])
    assert (episode.task, episode.seed, episode.goal) == ("desk", 1, "Click the button")
    clicked, pressed, done = episode.turns
    assert clicked.action_text == (
        "<think>\nWhere?\n</think>\n\nI click.\n\n"
        'computer({"action": "left_click", "coordinate": [3, 4]})'
    )
    assert [str(a) for a in get_dialect("anthropic").parse(clicked.action_text, (9, 9))] == [
        "click(3, 4)"
    ]
    assert [shade_of(log, turn.screenshot_id) for turn in episode.turns] == [10, 20, 20]
    assert (clicked.feedback, clicked.action_error) == ("ok", None)
    assert (pressed.feedback, pressed.action_error) == ("there is no such key", "parse")
    assert (done.action_text, episode.final_screenshot_id) == ("Done.", "")
    assert (row["first"], row["turns"]) == (clicked.screenshot_id, 3)
    assert (episode.seconds, episode.finished_at) == (12.5, "2026-01-01T08:00:13.500000+00:00")
    assert (episode.terminated, episode.truncated, episode.failure) == (True, False, None)


def test_the_headline_scorer_says_what_it_was_worth(tmp_path: Path) -> None:
    log = InspectLog(write(tmp_path / "log.eval", a_sample(), a_sample(2, scores={})))
    first, second = (log.episode(f"samples/{n}_epoch_1.json") for n in (1, 2))
    assert (first.score, first.success) == (1.0, True)
    assert first.notes == 'other: 0.25\njudge: "C" (as asked)'
    assert first.params == {"sample": 1, "epoch": 1, "target": "yes", "level": 3}
    assert second.failure == "no score: the sample was not scored"


@pytest.mark.parametrize(
    ("value", "score"),
    [
        ("C", 1.0), ("P", 0.5), ("I", 0.0), ("N", 0.0), (True, 1.0), (0.7, 0.7), ("0.5", 0.5),
        ("yes", 1.0), ({"a": 1, "b": "I"}, 0.5), ([1, 0, 0, 1], 0.5), ("well", None), (None, None),
        (float("nan"), None), ({}, None),
    ],
)  # fmt: skip
def test_scores_come_in_many_ways(value: Any, score: float | None) -> None:
    assert score_of(value) == score


def test_errors_are_faults_and_limits_cut(tmp_path: Path) -> None:
    failed = a_sample("a/b c", error={"message": "the sandbox is gone", "traceback": "..."})
    cut = a_sample(2, 2, limit={"type": "message", "limit": 30})
    log = InspectLog(write(tmp_path / "log.eval", failed, cut))
    index = taken_in(log)
    faults = {row["episode"]: row["failure"] for row in index.rows("select * from episode")}
    assert faults == {"a/b c_epoch_1": "error: the sandbox is gone", "2_epoch_2": None}
    episode = log.episode("samples/2_epoch_2.json")
    assert (episode.truncated, episode.terminated) == (True, False)
    assert "limit: message 30" in episode.notes


def test_a_run_is_known_by_its_task_and_model(tmp_path: Path) -> None:
    log = InspectLog(write(tmp_path / "log.eval", a_sample()))
    facts = taken_in(log).facts(log.id)
    assert (facts["name"], facts["plugin"]) == ("desk (openai/gpt-9)", "openai/gpt-9")
    assert facts["config"]["task_args"] == {"level": 3}
    assert facts["done"] is True


def test_what_is_new_in_a_log_is_taken_in(tmp_path: Path) -> None:
    path = write(tmp_path / "log.eval", a_sample(), header=None)
    log, index = InspectLog(path), MonitorIndex(None)
    assert log.refresh(index)
    assert not log.refresh(index)
    assert index.facts(log.id)["done"] is False
    write(path, a_sample(), a_sample(2))
    assert log.refresh(index)
    assert index.facts(log.id)["done"] is True
    assert len(index.rows("select 1 from episode")) == 2
    write(path, a_sample(3))  # another evaluation in its place
    assert InspectLog(path).refresh(index)
    assert [row["seed"] for row in index.rows("select seed from episode")] == [3]


def test_a_long_log_is_taken_in_bit_by_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_log, "PATIENCE", 0.0)
    path = write(tmp_path / "log.eval", *(a_sample(n) for n in range(5)))
    log, index, looks = InspectLog(path), MonitorIndex(None), 0
    while log.refresh(index):
        looks += 1
    assert looks > 1
    assert len(index.rows("select 1 from episode")) == 5


def test_what_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "log.eval", a_sample(), a_sample(2, messages=[{"no": "role"}]))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/3_epoch_1.json", " " * 50_000 + "{}")
    monkeypatch.setattr(inspect_log, "LARGEST", 40_000)
    log = InspectLog(path)
    index = taken_in(log)
    facts = index.facts(log.id)
    assert facts["refused"] == 2
    assert "too much to be shown" in facts["refusal"]
    assert len(index.rows("select 1 from episode")) == 1
    with pytest.raises(UserError, match="no sample"):
        log.episode("samples/9_epoch_1.json")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(UserError, match="no whole log"):
        log.refresh(index)


def as_zstandard(path: Path, compress: Any) -> None:
    """Compress the members of a stored log anew, as Inspect does."""
    with zipfile.ZipFile(path) as archive:
        members = [(info, archive.read(info)) for info in archive.infolist()]
    out, central = io.BytesIO(), b""
    for info, data in members:
        packed, name = compress(data), info.filename.encode()
        sizes = (info.CRC, len(packed), len(data), len(name), 0)
        offset = out.tell()
        out.write(struct.pack("<4s5H3I2H", b"PK\3\4", 63, 0, 93, 0, 33, *sizes) + name + packed)
        central += (
            struct.pack("<4s6H3I5H2I", b"PK\1\2", 63, 63, 0, 93, 0, 33, *sizes, 0, 0, 0, 0, offset)
            + name
        )
    start = out.tell()
    out.write(central)
    count = len(members)
    out.write(struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, len(central), start, 0))
    path.write_bytes(out.getvalue())


def test_zstandard_is_read_where_something_reads_it(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = write(tmp_path / "log.eval", a_sample())
    as_zstandard(path, zstandard.ZstdCompressor().compress)
    log = InspectLog(path)
    (row,) = taken_in(log).rows("select * from episode")
    assert len(log.episode(row["place"]).turns) == 3
    assert shade_of(log, row["first"]) == 10


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python reads it itself")
def test_zstandard_without_a_reader_names_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspect_log, "ZSTD", ("no_such_module",))
    path = write(tmp_path / "log.eval", a_sample())
    as_zstandard(path, lambda data: data)
    with pytest.raises(UserError, match="pip install zstandard"):
        taken_in(InspectLog(path))


def test_pictures_that_could_hold_scripts_or_lie_elsewhere_are_left_out(tmp_path: Path) -> None:
    svg = "data:image/svg+xml;base64," + base64.b64encode(b"<svg/>").decode()
    shown = [image(svg), image("https://example.com/a.png"), image("attachment://gone")]
    sample = a_sample(
        messages=[
            {"role": "user", "content": shown},
            {"role": "assistant", "content": "I see."},
        ]
    )
    log = InspectLog(write(tmp_path / "log.eval", sample))
    (turn,) = log.episode("samples/1_epoch_1.json").turns
    assert log.picture(turn.screenshot_id) is None
    assert log.picture("ab" * 32) is None
