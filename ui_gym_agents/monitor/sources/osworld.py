"""Results in OSWorld's layout, whoever wrote them: ours (`evaluation.osworld`) or its own runner.

::

    <action_space>/<observation>/<model>/args.json
    <action_space>/<observation>/<model>[/<trial>]/<domain>/<id>/traj.jsonl     a line an action
                                                                 step_*.png     the screen after it
                                                                 result.txt     the score
                                                                 runtime.log

The results of one model are one source, as one compares models; its trials are its modes. A picture
shows the screen *after* an action, so what was seen before turn n is the picture of line n - 1. The
screen before the first action is not recorded (few runners keep it, as ``step_0.png`` or
``initial_state.png``): the first turn then has no picture.

An example is over when it has a ``result.txt``, or its last line tells of an error. Any other was
stopped or crashed, once nothing was written to it for `QUIET` seconds. What has no result is shown
as a fault, for it says nothing about the agent.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode, Purpose, Turn
from ui_gym_agents.evaluation.osworld.results import ARGUMENTS, LOG, RESULT, TRAJECTORY
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.sources import MEDIA, PREFIX, Picture, episode_id, key_prefix, source_id

QUIET = 1800.0
"""Seconds without a sign after which an example without a result is not going on."""
PATIENCE = 1.0
"""Seconds that one look takes in results; what is left waits for the next look."""
REST = 20.0
"""A look at all folders is not repeated before so many times its own length has passed."""
LONGEST_LINE = 16 << 20
"""Bytes of a line that is read; a longer one holds pictures, and is passed over."""
LOOKED_AT = 40
"""Folders that are looked into to know what something is."""
DIALECT = "pyautogui"

_STAMPS = {15: "%Y%m%d@%H%M%S", 21: "%Y%m%d@%H%M%S%f"}
"""How times are written, by their length."""
_INSTRUCTION = re.compile(r"\bInstruction: (.+)")
_FIRST = ("step_0.png", "initial_state.png", "initial.png")


def is_results(place: Path) -> bool:
    """Whether a folder holds the results of one model, or of one trial of a model."""
    try:
        if (place / ARGUMENTS).is_file():
            return "action_space" in _arguments(place) and any(_examples(place, LOOKED_AT))
        found = _examples(place, LOOKED_AT, trials=False)
        return any((place / name / TRAJECTORY).is_file() for name in found)
    except OSError:
        return False


class OSWorldResults:
    """The results of one model, in the folder `folder`, which is only read."""

    kind = "osworld"

    def __init__(self, folder: Path) -> None:
        self._at = folder.absolute()
        self.folder: Path | None = None
        self.place = str(self._at)
        self.id = source_id(self.place)
        self._known: dict[str, int] | None = None
        """What state of each example was taken in; None: not looked up in the index yet."""
        self._tasks: dict[str, str] = {}
        """Examples by the first digits of their pictures' keys."""
        self._rest = 0.0
        """Monotonic seconds before which no folder is looked at again."""

    def refresh(self, index: MonitorIndex) -> bool:
        if not self._at.is_dir():
            raise FileNotFoundError(f"{self._at} is not there any more")
        begun = time.monotonic()
        if begun < self._rest:
            return False
        if self._known is None:
            self._known = index.marks(self.id)
        states = {name: _state(self._at / name) for name in _examples(self._at)}
        self._tasks = {key_prefix(name): name for name in states}
        changed = any(states.get(name) != state for name, state in self._known.items())
        if changed:  # an example is played anew
            index.forget(self.id)
            self._known = {}
        new = [name for name, state in states.items() if state and name not in self._known]
        until = time.monotonic() + PATIENCE
        taken = self._take_in(index, {name: states[name] for name in new}, until)
        if taken == len(new):
            self._rest = time.monotonic() + REST * (time.monotonic() - begun)
        if taken or changed or not index.facts(self.id):
            index.put_run(
                self.id, source=self.kind, place=self.place, name=self._name(),
                changed=datetime.now(UTC).isoformat(),
                config={**_arguments(self._at), "dialect": DIALECT},
            )  # fmt: skip
            return True
        return False

    def episode(self, where: str) -> Episode:
        folder = self._at / where
        if ".." in Path(where).parts or not folder.is_dir():
            raise FileNotFoundError(f"{folder} is not there any more")
        return read_example(folder, where, _arguments(self._at))

    def picture(self, key: str) -> Picture | None:
        name = self._tasks.get(key[:PREFIX])
        if name is None:  # nothing was refreshed yet, or it came since
            self._tasks = {key_prefix(found): found for found in _examples(self._at)}
            name = self._tasks.get(key[:PREFIX])
        if name is None:
            return None
        for entry in os.scandir(self._at / name):
            media = MEDIA.get(Path(entry.name).suffix.lower())
            if media and picture_key(Path(entry.path), name) == key:
                return Picture(media, Path(entry.path).read_bytes())
        return None

    def _take_in(self, index: MonitorIndex, states: Mapping[str, int], until: float) -> int:
        """Take in examples until a moment; returns how many."""
        assert self._known is not None
        asked, count = _arguments(self._at), 0
        while count < len(states):
            with index.writing():
                for name in list(states)[count : count + 32]:
                    try:
                        episode = read_example(self._at / name, name, asked)
                        index.add(self.id, episode_id(name), episode, name)
                    except (OSError, UserError) as error:
                        refused = index.facts(self.id).get("refused", 0) + 1
                        index.put_run(self.id, refused=refused, refusal=f"{name}: {error}"[:500])
                    index.mark(self.id, name, states[name])
                    self._known[name] = states[name]
                    count += 1
            if time.monotonic() > until:
                break
        return count

    def _name(self) -> str:
        """The model, with what it was shown and how it acted."""
        asked = _arguments(self._at)
        space = asked.get("action_space") or self._at.parent.parent.name
        shown = asked.get("observation_type") or self._at.parent.name
        return f"{self._at.name} ({shown}, {space})"


# -- what lies where --


def _examples(place: Path, most: int | None = None, *, trials: bool = True) -> Iterator[str]:
    """The folders of examples, as ``<domain>/<id>`` or ``<trial>/<domain>/<id>``.

    `most` is how many folders are looked into at the most; `trials`: whether there may be any.
    """
    looked = 0
    for first in _folders(place):
        for second in _folders(place / first):
            looked += 1
            if most is not None and looked > most:
                return
            if _is_example(place / first / second):
                yield f"{first}/{second}"
            elif trials:
                for third in _folders(place / first / second):
                    if _is_example(place / first / second / third):
                        yield f"{first}/{second}/{third}"


def _folders(place: Path) -> list[str]:
    try:
        with os.scandir(place) as entries:
            found = [e.name for e in entries if e.is_dir() and not e.name.startswith(".")]
    except OSError:
        return []
    return sorted(found)


def _is_example(folder: Path) -> bool:
    return (folder / TRAJECTORY).is_file() or (folder / RESULT).is_file()


def _state(folder: Path) -> int:
    """A number that changes when an example that is over is played anew; 0: it is not over."""
    try:
        return max(1, (folder / RESULT).stat().st_mtime_ns)
    except OSError:
        pass
    try:
        written = (folder / TRAJECTORY).stat()
    except OSError:
        return 0
    over = time.time() - written.st_mtime > QUIET or _ended_badly(folder / TRAJECTORY)
    return max(1, written.st_mtime_ns) if over else 0


def _ended_badly(path: Path) -> bool:
    """Whether the last line of a trajectory tells of an error."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - (1 << 14)))
        last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    try:
        value = json.loads(last)
    except ValueError:
        return False
    return isinstance(value, dict) and "Error" in value


def _arguments(place: Path) -> dict[str, Any]:
    """What the results were asked for with, here or where this is a trial of a model."""
    for folder in (place, place.parent):
        try:
            found = json.loads((folder / ARGUMENTS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        return found if isinstance(found, dict) else {}
    return {}


# -- an example --


@dataclass
class _Line:
    """An action of a trajectory."""

    said: str
    picture: str
    at: datetime | None
    reward: float
    done: bool
    feedback: str
    error: str | None


def read_example(folder: Path, name: str, asked: Mapping[str, Any]) -> Episode:
    """The episode in the folder of an example; `name` is ``[<trial>/]<domain>/<id>``.

    Raises:
        OSError: it cannot be read.
    """
    *trial, domain, id = name.split("/")
    lines, failure, instruction = _trajectory(folder, name)
    score = _score(folder / RESULT)
    if score is not None:
        failure = None
    elif failure is None:
        failure = "no result: it was stopped, or it crashed (see its runtime.log)"
    first = next((folder / f for f in _FIRST if (folder / f).is_file()), None)
    seen = ["" if first is None else picture_key(first, name), *(line.picture for line in lines)]
    times = [line.at for line in lines if line.at is not None]
    done = bool(lines) and lines[-1].done
    return Episode(
        task=f"osworld/{domain}/{id}",
        seed=0,
        goal=instruction or _logged_instruction(folder / LOG),
        turns=[_turn(line, before) for line, before in zip(lines, seen, strict=False)],
        id=name,
        params={"domain": domain, "id": id},
        score=0.0 if score is None else score,
        success=score is not None and score >= 1.0,
        terminated=done,
        truncated=not done,
        failure=failure,
        final_screenshot_id=seen[-1],
        seconds=(times[-1] - times[0]).total_seconds() if times else 0.0,
        max_turns=asked["max_steps"] if isinstance(asked.get("max_steps"), int) else None,
        purpose=Purpose("evaluation", 0, "/".join(trial)),
        started_at=times[0].astimezone(UTC).isoformat() if times else "",
    )


def _turn(line: _Line, before: str) -> Turn:
    return Turn(
        before, line.said, feedback=line.feedback, reward=line.reward, action_error=line.error
    )


def _trajectory(folder: Path, name: str) -> tuple[list[_Line], str | None, str]:
    """The actions, why there is no result, and the instruction, as far as the file says them."""
    lines: list[_Line] = []
    failure, instruction, last = None, "", (None, "")
    for value in _values(folder / TRAJECTORY):
        if "Error" in value or "error" in value:
            failure = str(value.get("Error") or value.get("error"))
        elif "instruction" in value and "action" not in value:
            instruction = str(value["instruction"])
        elif "action" in value:
            # One answer may hold several actions: it is told with the first.
            answer = (value.get("step_num"), _text(value.get("response", "")))
            said = _said(answer[1] if answer != last else "", _text(value["action"]))
            lines.append(_line(value, said, folder, name))
            last = answer
        elif value.get("done") and lines:
            lines[-1].done = True
    return lines, failure, instruction


def _values(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of lines; what was torn or is no JSON is passed over."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        while line := file.readline(LONGEST_LINE):
            if not line.endswith(b"\n") and len(line) == LONGEST_LINE:
                while line and not line.endswith(b"\n"):
                    line = file.readline(LONGEST_LINE)
                continue
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value


def _line(value: Mapping[str, Any], said: str, folder: Path, name: str) -> _Line:
    info = value.get("info")
    info = info if isinstance(info, Mapping) else {}
    file = str(value.get("screenshot_file") or "")
    path = folder / Path(file).name
    reward = value.get("reward")
    error = info.get("action_error")
    return _Line(
        said=said,
        picture=picture_key(path, name) if file else "",
        at=_moment(value.get("action_timestamp")),
        reward=float(reward) if isinstance(reward, int | float) else 0.0,
        done=bool(value.get("done")),
        feedback=str(info.get("feedback") or info.get("error") or ""),
        error=None if error is None else str(error),
    )


def _said(answer: str, action: str) -> str:
    """What the agent said and, where that is not in it, the action as OSWorld does it."""
    if not answer or action in answer:
        return answer or action
    return f"{answer.rstrip()}\n\n```python\n{action}\n```"


def _text(value: Any) -> str:
    """Some agents say objects, or several texts."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    return json.dumps(value, ensure_ascii=False)


def _moment(stamp: Any) -> datetime | None:
    """A time in a file's name, which is that of the machine that wrote it."""
    try:
        return datetime.strptime(str(stamp), _STAMPS.get(len(str(stamp)), ""))
    except ValueError:
        return None


def _score(path: Path) -> float | None:
    try:
        score = float(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return score if math.isfinite(score) else None


def _logged_instruction(path: Path) -> str:
    """What the log says first of the task, as ours does."""
    try:
        with path.open("rb") as file:
            found = _INSTRUCTION.search(file.read(1 << 16).decode("utf-8", "replace"))
    except OSError:
        return ""
    return found[1].strip().replace("\\n", "\n") if found else ""


# -- pictures --


def picture_key(path: Path, name: str) -> str:
    """The key of a picture of the example `name`; empty where its file is not there.

    It begins with digits for the example, so that the file is found without a table of all of them.
    The rest is a hash of the file's size and last bytes. A PNG ends with checksums of all its
    pixels: equal screens have equal keys, and no picture is read for it.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 64))
            end = file.read()
    except OSError:
        return ""
    return key_prefix(name) + hashlib.sha256(b"%d:" % size + end).hexdigest()[: 64 - PREFIX]
