"""Logs of Inspect AI, read without it.

An ``.eval`` file is a ZIP: ``header.json`` (``_journal/start.json`` while the evaluation goes on)
tells of the task and the model, and each ``samples/<id>_epoch_<n>.json`` is a whole sample. A
message of the assistant is a turn; the last picture before it is what was seen, and what the tools
said after it is its feedback. Pictures stand in the messages, or in the sample's ``attachments``.

One member is in memory at a time, and the pictures of the last one that was asked for. Inspect
compresses members with Zstandard, which Python reads itself from 3.14 on; before, one of the
packages in `ZSTD` is needed, of which Inspect brings one along.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
import math
import threading
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode, Purpose, Turn
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.sources import PREFIX, Picture, episode_id, key_prefix, source_id

LARGEST = 200 << 20
"""Bytes of a member that is read. It takes a multiple of that once it is parsed."""
PATIENCE = 1.0
"""Seconds that one look takes in samples; what is left waits for the next look."""
MOST_PARAMS = 20_000
"""Characters of a sample's metadata that are shown."""
ZSTD = ("compression.zstd", "backports.zstd", "zstandard")
"""Modules that read Zstandard, each with a function `open`."""
DIALECT = "anthropic"
"""How calls of Inspect's computer tool are written."""

_METHOD = 93
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_SEEDS = 2**31


class InspectLog:
    """The log in the file `path`, which is only read."""

    kind = "inspect"

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self.folder: Path | None = None
        self.place = str(self._path)
        self.id = source_id(self.place)
        self._seen: tuple[int, int] | None = None
        """Time and size of the file when all of it was taken in."""
        self._shown: tuple[str, dict[str, str]] = ("", {})
        """The sample whose pictures were asked for last, and these."""
        self._lock = threading.Lock()

    def refresh(self, index: MonitorIndex) -> bool:
        found = self._path.stat()
        state = (found.st_mtime_ns, found.st_size)
        if state == self._seen:
            return False
        with _opened(self._path) as archive:
            members = {info.filename: info for info in archive.infolist() if _is_sample(info)}
            known = index.marks(self.id)
            there = {name: info.CRC for name, info in members.items()}
            if any(there.get(name) != crc for name, crc in known.items()):
                index.forget(self.id)  # another evaluation took its place
                known = {}
            header = _header(archive)
            new = [info for name, info in members.items() if name not in known]
            begun = not index.facts(self.id)
            if begun or new:
                index.put_run(self.id, **self._facts(header, found.st_mtime))
            if self._take_in(index, archive, new, header):
                self._seen = state
        return begun or bool(new)

    def episode(self, where: str) -> Episode:
        with _opened(self._path) as archive:
            return _episode(_sample(archive, where), where, _header(archive))

    def picture(self, key: str) -> Picture | None:
        with self._lock:
            name, pictures = self._shown
            if key not in pictures:
                name = self._member_of(key)
                if not name:
                    return None
                with _opened(self._path) as archive:
                    sample = _sample(archive, name)
                pictures = dict(_pictures(sample, name))
                self._shown = (name, pictures)
            uri = pictures.get(key)
        return None if uri is None else _decoded(uri)

    def _member_of(self, key: str) -> str:
        with _opened(self._path) as archive:
            names = (info.filename for info in archive.infolist() if _is_sample(info))
            return next((name for name in names if key_prefix(name) == key[:PREFIX]), "")

    def _facts(self, header: Mapping[str, Any], changed: float) -> dict[str, Any]:
        asked = header.get("eval") or {}
        error = header.get("error") or {}
        task, model = str(asked.get("task", self._path.stem)), str(asked.get("model", ""))
        shown = (
            "task_args",
            "model_args",
            "model_generate_config",
            "config",
            "packages",
            "dataset",
        )
        return {
            "source": self.kind,
            "place": self.place,
            "name": f"{task} ({model})" if model else task,
            "plugin": model,
            "changed": datetime.fromtimestamp(changed, UTC).isoformat(),
            "begun": str(asked.get("created", "")),
            "done": header.get("status", "started") != "started",
            "error": str(error.get("message", ""))[:2000],
            "config": {"dialect": DIALECT, "model": model, "task": task}
            | {name: asked[name] for name in shown if asked.get(name)},
        }

    def _take_in(
        self,
        index: MonitorIndex,
        archive: zipfile.ZipFile,
        new: Sequence[zipfile.ZipInfo],
        header: Mapping[str, Any],
    ) -> bool:
        """Take in samples, as long as there is patience; whether all were."""
        until = time.monotonic() + PATIENCE
        for number, info in enumerate(new):
            if number and time.monotonic() > until:
                return False
            try:
                episode = _episode(_sample(archive, info.filename), info.filename, header)
            except (UserError, OSError) as error:
                self._refuse(index, error)
                episode = None
            with index.writing():
                if episode is not None:
                    index.add(self.id, episode_id(info.filename), episode, info.filename)
                index.mark(self.id, info.filename, info.CRC)
        return True

    def _refuse(self, index: MonitorIndex, error: Exception) -> None:
        refused = index.facts(self.id).get("refused", 0) + 1
        index.put_run(self.id, refused=refused, refusal=str(error)[:500])


# -- the file --


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise UserError(
            f"{path} is no whole log of Inspect's ({error}); one that is being written can be read "
            "once Inspect has written samples to it"
        ) from None


def _is_sample(info: zipfile.ZipInfo) -> bool:
    return info.filename.startswith("samples/") and info.filename.endswith(".json")


def _header(archive: zipfile.ZipFile) -> dict[str, Any]:
    """What is known of the evaluation; while it goes on, what it began with."""
    for name in ("header.json", "_journal/start.json"):
        if name in archive.NameToInfo:
            found = _parsed(archive, name)
            return found if isinstance(found, dict) else {}
    return {}


def _sample(archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    found = _parsed(archive, name) if name in archive.NameToInfo else None
    if not isinstance(found, dict):
        raise UserError(f"{archive.filename} holds no sample {name!r} any more")
    return found


def _parsed(archive: zipfile.ZipFile, name: str) -> Any:
    """The JSON in a member. UserError where it cannot be read, which says why."""
    info = archive.getinfo(name)
    where = f"{archive.filename}, {name}"
    if info.file_size > LARGEST:
        raise UserError(
            f"{where}: {info.file_size >> 20} MB are too much to be shown (at most {LARGEST >> 20})"
        )
    try:
        data = _bytes(archive, info)
        return json.loads(data)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError) as error:
        raise UserError(f"{where} is damaged: {error}") from None


def _bytes(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """The content of a member, of which no more is read than it says that it has."""
    try:
        with archive.open(info) as file:
            return file.read(info.file_size)
    except NotImplementedError:
        if info.compress_type != _METHOD:
            raise UserError(
                f"{archive.filename}: compressed in a way (number {info.compress_type}) that this "
                "Python does not read"
            ) from None
    assert archive.fp is not None
    # What comes before the data repeats the name, and more, in a length of its own.
    archive.fp.seek(info.header_offset)
    lengths = archive.fp.read(30)[26:30]
    skip = int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
    archive.fp.seek(skip, io.SEEK_CUR)
    with _unpacking(archive.fp.read(info.compress_size), str(archive.filename)) as unpacked:
        data = b""
        while len(data) < info.file_size and (part := unpacked.read(info.file_size - len(data))):
            data += part
    if zlib.crc32(data) != info.CRC:
        raise ValueError("its checksum is wrong")
    return data


def _unpacking(data: bytes, file: str) -> IO[bytes]:
    for name in ZSTD:
        try:
            module = import_module(name)
        except ImportError:
            continue
        opened: IO[bytes] = module.open(io.BytesIO(data), "rb")
        return opened
    raise UserError(
        f"{file} is compressed with Zstandard, which this Python does not read; to get it: "
        "pip install zstandard"
    )


# -- a sample --


def _episode(sample: Mapping[str, Any], name: str, header: Mapping[str, Any]) -> Episode:
    try:
        return _read(sample, name, header)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{name} is no sample as Inspect writes it ({error!r})") from None


def _read(sample: Mapping[str, Any], name: str, header: Mapping[str, Any]) -> Episode:
    asked = header.get("eval") or {}
    messages = sample.get("messages") or []
    turns, last = _turns(messages, sample, name)
    grades = sample.get("scores") or {}
    scores = {key: score_of(grade.get("value")) for key, grade in grades.items()}
    score = scores.get(_headline(header), next(iter(scores.values()), None))
    error, limit = sample.get("error"), sample.get("limit")
    failure = None if not error else f"error: {error.get('message', error)}"
    if score is None and failure is None:
        failure = "no score: the sample was not scored"
    id, epoch = sample["id"], int(sample.get("epoch", 1))
    return Episode(
        task=str(asked.get("task", "inspect")),
        seed=_seed(id),
        goal=_goal(sample),
        turns=turns,
        id=f"{id}_epoch_{epoch}",
        params=_params(sample),
        score=score or 0.0,
        success=score is not None and score >= 1.0,
        terminated=limit is None and failure is None,
        truncated=limit is not None or failure is not None,
        failure=failure,
        notes=_notes(grades, limit),
        final_screenshot_id=last,
        seconds=float(sample.get("total_time") or 0.0),
        purpose=Purpose("evaluation", 0, ""),
        started_at=_moment(sample.get("started_at")),
    )


def _moment(text: Any) -> str:
    try:
        return datetime.fromisoformat(str(text)).astimezone(UTC).isoformat()
    except ValueError:
        return ""


def _turns(
    messages: Sequence[Mapping[str, Any]], sample: Mapping[str, Any], name: str
) -> tuple[list[Turn], str]:
    """The turns, and the picture that came after the last one."""
    turns: list[Turn] = []
    seen = last = ""
    for message in messages:
        if message["role"] == "assistant":
            turns.append(Turn(seen, _said(message)))
            last = ""
            continue
        if message["role"] == "system":
            continue
        for uri in _uris(message, sample):
            seen = last = _key(uri, name)
        if turns:
            _add_feedback(turns[-1], message)
    return turns, last


def _add_feedback(turn: Turn, message: Mapping[str, Any]) -> None:
    """What came after a turn: what tools and people said."""
    error = message.get("error")
    if isinstance(error, Mapping):
        turn.action_error = "parse" if error.get("type") == "parsing" else "runtime"
    told = str(error.get("message", "")) if isinstance(error, Mapping) else _text(message)
    turn.feedback = "\n".join(filter(None, (turn.feedback, told)))


def _said(message: Mapping[str, Any]) -> str:
    """What the assistant thought and said, and the calls of tools that it made."""
    content = message.get("content")
    thoughts = [
        str(part.get("reasoning") or part.get("summary") or "")
        for part in (content if isinstance(content, list) else ())
        if part.get("type") == "reasoning"
    ]
    calls = [
        f"{call['function']}({json.dumps(call.get('arguments') or {}, ensure_ascii=False)})"
        for call in message.get("tool_calls") or ()
    ]
    thought = [f"<think>\n{text}\n</think>" for text in thoughts if text]
    return "\n\n".join(filter(None, (*thought, _text(message), "\n".join(calls))))


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = (part.get("text", "") for part in content or () if part.get("type") == "text")
    return "\n".join(filter(None, parts))


def _goal(sample: Mapping[str, Any]) -> str:
    given = sample.get("input")
    if isinstance(given, str):
        return given
    texts = [_text(message) for message in given or () if message.get("role") == "user"]
    return next(filter(None, texts), "")


def _params(sample: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        "sample": sample["id"],
        "epoch": sample.get("epoch", 1),
        "target": sample.get("target"),
    }
    metadata = sample.get("metadata") or {}
    if len(json.dumps(metadata)) <= MOST_PARAMS:
        found |= metadata
    return found


def _notes(grades: Mapping[str, Any], limit: Any) -> str:
    """What each scorer said; and the limit that was reached."""
    lines = (
        [f"limit: {limit.get('type')} {limit.get('limit')}"] if isinstance(limit, Mapping) else []
    )
    for name, grade in grades.items():
        why = str(grade.get("explanation") or grade.get("answer") or "")
        value = json.dumps(grade.get("value"), ensure_ascii=False)
        lines.append(f"{name}: {value}" + (f" ({why[:1000]})" if why else ""))
    return "\n".join(lines)


def _headline(header: Mapping[str, Any]) -> str:
    """The scorer whose score counts; the first of all where the log does not say."""
    results = header.get("results") or {}
    headline = results.get("headline") or {}
    return str(headline.get("scorer") or headline.get("score") or "")


def score_of(value: Any) -> float | None:
    """A score's value as a number: 1 for correct ("C"), 0.5 for partly ("P"), 0 for "I" and "N".

    Of several values it is their mean. None: it is no grade and no number.
    """
    if isinstance(value, Mapping | list):
        parts = list(value.values()) if isinstance(value, Mapping) else value
        numbers = [found for found in map(score_of, parts) if found is not None]
        return sum(numbers) / len(numbers) if numbers else None
    if isinstance(value, str):
        if value in _GRADES:
            return _GRADES[value]
        value = {"yes": 1, "true": 1, "no": 0, "false": 0}.get(value.lower(), value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _seed(id: Any) -> int:
    """A number for a sample: the same in every log of its task, so that logs can be compared."""
    if isinstance(id, int) and 0 <= id < _SEEDS:
        return id
    digest = hashlib.sha256(str(id).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big") % _SEEDS


# -- pictures --


def _pictures(sample: Mapping[str, Any], name: str) -> Iterator[tuple[str, str]]:
    """The pictures of a sample as ``data:`` addresses, by their keys."""
    for message in sample.get("messages") or ():
        for uri in _uris(message, sample):
            yield _key(uri, name), uri


def _uris(message: Mapping[str, Any], sample: Mapping[str, Any]) -> Iterator[str]:
    """The pictures of a message that are in the log; those that lie elsewhere are not fetched."""
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
        if part.get("type") != "image":
            continue
        uri = str(part.get("image", ""))
        if uri.startswith("attachment://"):
            held = sample.get("attachments") or {}
            uri = str(held.get(uri.removeprefix("attachment://"), ""))
        if uri.startswith("data:image/"):
            yield uri


def _key(uri: str, name: str) -> str:
    return key_prefix(name) + hashlib.sha256(uri.encode()).hexdigest()[: 64 - PREFIX]


def _decoded(uri: str) -> Picture | None:
    kind, _, data = uri.partition(",")
    media = kind.removeprefix("data:").split(";")[0]
    # No SVG, which may hold scripts.
    if media not in ("image/png", "image/jpeg", "image/webp", "image/gif"):
        return None
    try:
        return Picture(media, base64.b64decode(data))
    except binascii.Error:
        return None
