"""The history checker: what a run wrote is held against what it was asked for (after Jepsen).

`violations` reads a finished run as anybody could: its metrics, events, episodes and evaluations,
and its records. Each rule that does not hold is a sentence; none means that nothing was lost,
doubled or learned from twice. `differences` holds a run against one that nobody disturbed.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import histories

from ui_gym_agents.episode import Episode
from ui_gym_agents.store import EpisodeStore

Row = dict[str, Any]

MACHINE = ("replayed_episodes", "device_restarts", "feature_hits")
"""Metrics that tell of the machine rather than of what was learned; as do all `time_...`."""


@dataclass(frozen=True)
class Asked:
    """What a run was asked for."""

    steps: int
    groups: int
    group_size: int
    alike: bool = True
    """Whether what is played again looks the same. On phones that are served it does not: their
    clocks go on."""


@dataclass(frozen=True)
class History:
    """What a run left behind, as it is read afterwards."""

    metrics: Sequence[Row]
    events: Sequence[Row]
    played: Sequence[Episode]
    """Training's episodes, those of a step that was torn and played again too."""
    measured: Mapping[str, Sequence[Episode]]
    """Each evaluation's episodes."""

    @classmethod
    def of(cls, run: Path) -> History:
        return cls(
            metrics=list(lines(run / "metrics.jsonl")),
            events=list(lines(run / "events.jsonl")),
            played=list(EpisodeStore(run / "episodes")),
            measured={
                folder.name.removesuffix(f"-{number}"): list(EpisodeStore(folder))
                for number, folder in sorted(map(_numbered, (run / "evaluations").iterdir()))
            },
        )


def _numbered(folder: Path) -> tuple[int, Path]:
    """Of evaluations of the same name, which were killed but the last, the last counts."""
    number = folder.name.rpartition("-")[2]
    return int(number) if number.isdigit() else 0, folder


def lines(path: Path) -> Iterator[Row]:
    """The objects of a file of JSON lines; one that is torn raises a ValueError."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            yield json.loads(line)
        except ValueError as error:
            raise ValueError(f"{path.name}, line {number}: {error}") from error


def violations(history: History, asked: Asked) -> list[str]:
    """The rules that the run's history breaks, as sentences."""
    return [
        *_steps(history, asked),
        *_episodes(history, asked),
        *_learning(history, asked),
        *_versions(history),
        *_evaluations(history),
    ]


def _steps(history: History, asked: Asked) -> Iterator[str]:
    """Each step is there once, in order."""
    steps = [row["step"] for row in history.metrics if row["kind"] == "train"]
    if steps != list(range(1, asked.steps + 1)):
        yield f"the steps are {steps}"


def _episodes(history: History, asked: Asked) -> Iterator[str]:
    """Each episode asked for is there once, or has its failure; the metrics count the same."""
    for name, twins in _by_id(history.played).items():
        # A step that was torn is played again: to the bit, where the machine did not fail.
        whole = {repr(seen(twin)) for twin in twins if twin.failure is None}
        if asked.alike and len(whole) > 1:
            yield f"episode {name} is there {len(twins)} times, and not alike"
    for row in (row for row in history.metrics if row["kind"] == "train"):
        step, own = row["step"], _of_step(history.played, row["step"])
        good = [episode for episode in own if episode.failure is None]
        sizes = Counter(episode.group for episode in own)
        if len(sizes) < asked.groups or set(sizes.values()) != {asked.group_size}:
            yield f"step {step} has the groups {dict(sizes)}"
        if row["episodes"] != len(good):
            yield f"step {step} counts {row['episodes']:g} episodes, and {len(good)} are there"
        if row["failed_episodes"] != (failed := len(own) - len(good)):
            yield f"step {step} counts {row['failed_episodes']:g} failures of {failed}"
        wins = sum(episode.success for episode in good)
        if abs(row["success"] * len(good) - wins) > 1e-6:
            yield f"step {step} tells of {row['success']:.3f} where {wins} of {len(good)} succeeded"


def _learning(history: History, asked: Asked) -> Iterator[str]:
    """Each step learned once, from its own episodes that went well, and from no other."""
    last = {e["step"]: e["episodes"] for e in history.events if e["event"] == "learned"}
    for step in range(1, asked.steps + 1):
        own = {e.id for e in _of_step(history.played, step) if e.failure is None}
        used = set(last.get(step, {}))
        if strange := sorted(used - own):
            yield f"step {step} learned from {strange}, which are no good episodes of its own"
        if not used:
            yield f"step {step} does not say what it learned from"


def _versions(history: History) -> Iterator[str]:
    """Nothing was learned from that older or newer weights played than those at a step's begin."""
    before = 0
    for row in (row for row in history.metrics if row["kind"] == "train"):
        for episode in _of_step(history.played, row["step"]):
            found = {turn.tokens.version for turn in episode.turns if turn.tokens is not None}
            if found - {before}:
                yield f"episode {episode.id} was played by the weights {found}, not {before}"
        before = int(row.get("updates", before))


def _evaluations(history: History) -> Iterator[str]:
    """Each evaluation has as many episodes as it says, each once."""
    for row in (row for row in history.metrics if row["kind"] != "train"):
        name = f"step_{row['step']:06d}-{row['mode']}"
        found = history.measured.get(name, ())
        good = [episode for episode in found if episode.failure is None]
        if len(good) != row["n"] or len({e.id for e in found}) != len(found):
            yield f"evaluation {name} counts {row['n']} episodes, and {len(good)} are there"
        if abs(sum(e.success for e in good) - row["success"] * row["n"]) > 1e-6:
            yield f"evaluation {name} tells of another success rate than its episodes"


def _of_step(episodes: Iterable[Episode], step: int) -> list[Episode]:
    """A step's episodes, each as it was played last."""
    own = (episode for episode in episodes if episode.group.startswith(f"{step}-"))
    return [twins[-1] for twins in _by_id(own).values()]


def _by_id(episodes: Iterable[Episode]) -> dict[str, list[Episode]]:
    found: dict[str, list[Episode]] = {}
    for episode in episodes:
        found.setdefault(episode.id, []).append(episode)
    return found


def seen(episode: Episode) -> tuple[Any, ...]:
    """What was seen, said and reached in an episode."""
    turns = [(turn.screenshot_id, turn.action_text, turn.reward) for turn in episode.turns]
    return (episode.seed, episode.goal, episode.score, episode.failure, turns)


def recorded(run: Path, url: str) -> list[str]:
    """What the records of a run in a database have otherwise than its folder."""
    found, expected = histories.recorded(url, run), dict(histories.episodes(run))
    counts = Counter(name for name, _ in found)
    told = [f"the records have {name} {count} times" for name, count in counts.items() if count > 1]
    ours = dict(found)
    for name in sorted(ours.keys() | expected.keys()):
        if ours.get(name) != expected.get(name):
            told.append(f"{name} is {ours.get(name)} in the records, {expected.get(name)} in files")
    return told


def differences(run: Path, undisturbed: Path, step: int) -> list[str]:
    """What a run had otherwise, after `step` steps, than one that nobody disturbed.

    Metrics without clocks and counts of faults, what was played, and the checkpoint's weights,
    optimizer and random generators: all to the bit.
    """
    told = []
    for one, other in itertools.zip_longest(*(_metrics(path, step) for path in (run, undisturbed))):
        if one != other:
            told.append(f"the metrics say {one}, and without faults {other}")
            break
    ours, theirs = (_played(path, step) for path in (run, undisturbed))
    if changed := sorted(k for k in ours.keys() | theirs.keys() if ours.get(k) != theirs.get(k)):
        told.append(f"the episodes {changed[:5]} were played otherwise without faults")
    last, expected = (path / "checkpoints" / f"step_{step:06d}" for path in (run, undisturbed))
    told += [
        f"{file.name} of {last.name} is otherwise"
        for file in sorted(expected.glob("*.safetensors"))
        if (last / file.name).read_bytes() != file.read_bytes()
    ]
    state, expected_state = (_state(path) for path in (last, expected))
    told += [f"{k} of {last.name} is otherwise" for k, v in expected_state.items() if state[k] != v]
    return told


def _metrics(run: Path, step: int) -> list[Row]:
    return [
        {k: v for k, v in row.items() if not k.startswith("time_") and k not in MACHINE}
        for row in lines(run / "metrics.jsonl")
        if row["step"] < step or (row["kind"] == "train" and row["step"] == step)
    ]


def _played(run: Path, step: int) -> dict[str, tuple[Any, ...]]:
    return {
        episode.id: seen(episode)
        for episode in EpisodeStore(run / "episodes")
        if int(episode.group.partition("-")[0]) <= step
    }


def _state(checkpoint: Path) -> dict[str, Any]:
    """What decides how a run goes on. Not Python's own generator, from which libraries draw that
    talk to databases, and no trainer does."""
    state = json.loads((checkpoint / "state.json").read_text())
    return {"context": state["context"], **{key: state["rng"][key] for key in ("numpy", "torch")}}
