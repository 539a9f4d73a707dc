"""Episodes that were recorded earlier: found, read, and told apart from what is not ours.

A recording is a file of episodes, one JSON line each (`ui_gym_agents.store`), with the pictures in
``screenshots/`` beside it: the ``episodes`` or an ``evaluations/...`` folder of a run, or an
exported file. What a policy said can only be learned as token ids by a policy that is asked in the
same way and writes the same dialect with the same tokens; `differences` and `foreign_prompt` find
out whether that holds.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ui_gym.dialects import get_dialect
from ui_gym.dialects.reread import reread
from ui_gym.errors import ActionError, UserError
from ui_gym_agents.collecting.collector import views
from ui_gym_agents.episode import Episode
from ui_gym_agents.overrides import FileOverrides
from ui_gym_agents.store import ScreenshotStore, from_json

if TYPE_CHECKING:
    from ui_gym_agents.policy import VLMPolicy
    from ui_gym_agents.training.settings import RunConfig

FILE = "episodes.jsonl"
ANY_SIZE = (1 << 15, 1 << 15)
_FIELDS = frozenset(field.name for field in dataclasses.fields(Episode))


@dataclass(frozen=True)
class Recording:
    """Whole episodes of `file`, each once, and the store of their pictures.

    `settings` are those of the run that the file lies in, as its ``config.yaml`` or its export's
    manifest says; None where there is neither. `skipped` counts what was left out, by reason:
    ``failure`` (of the infrastructure), ``of the split 'heldout'`` (or another that is not asked
    for), ``repeated`` (a resumed run plays its last episodes again), ``without pictures`` (they
    were not kept). `overridden` are the ids of those that people judged otherwise than the task.
    """

    file: Path
    episodes: list[Episode]
    screenshots: ScreenshotStore
    settings: Mapping[str, Any] | None
    skipped: Counter[str]
    overridden: tuple[str, ...] = ()

    @classmethod
    def of_run(
        cls,
        path: Path,
        *,
        pictures: Path | None = None,
        split: str | None = None,
        overrides: bool = False,
    ) -> Recording:
        """The training episodes of a run's folder, or those of any folder of episodes.

        See `of_file`.

        Raises:
            UserError: there are none, or a line is damaged.
        """
        for folder in (path, path / "episodes"):
            if (folder / FILE).is_file():
                return cls.of_file(
                    folder / FILE, pictures=pictures, split=split, overrides=overrides
                )
        inside = sorted(str(p.parent.relative_to(path)) for p in path.glob(f"*/*/{FILE}"))
        hint = f" It has {', '.join(inside)}: name one of these folders." if inside else ""
        raise UserError(f"{path} holds no recorded episodes: {FILE} is not there.{hint}")

    @classmethod
    def of_file(
        cls,
        path: Path,
        *,
        pictures: Path | None = None,
        split: str | None = None,
        overrides: bool = False,
    ) -> Recording:
        """The episodes of a file.

        Args:
            path: The file, a JSON line an episode.
            pictures: A folder with ``screenshots``, or a run's; that of the file by default.
            split: Episodes that are known to be of another split are left out, lest a learner
                sees what it is measured on.
            overrides: People's verdicts hold instead of the tasks' (`ui_gym_agents.overrides`).

        Raises:
            UserError: it is not there, holds no episode, or a line is damaged.
        """
        if not path.is_file():
            raise UserError(f"{path} is no file of episodes: there is no such file")
        screenshots = ScreenshotStore(_screenshots(pictures or path.parent))
        skipped: Counter[str] = Counter()
        found: dict[tuple[str, str], Episode] = {}
        overridden: dict[tuple[str, str], bool] = {}
        verdicts = FileOverrides(path) if overrides else None
        for told, start in _read(path):
            episode = told if verdicts is None else verdicts.judged(told, start)
            if episode.failure is not None:
                skipped["failure"] += 1
                continue
            if split and episode.split and episode.split != split:
                skipped[f"of the split {episode.split!r}"] += 1
                continue
            # Evaluations and tasks have their own names for groups; the seed tells them apart.
            key = (f"{episode.task}#{episode.seed}", episode.id)
            skipped["repeated"] += key in found
            found[key] = episode
            overridden[key] = episode is not told
        if not found and not skipped:
            raise UserError(f"{path} holds no episode")
        kept = {key: e for key, e in found.items() if _pictured(e, screenshots)}
        skipped["without pictures"] = len(found) - len(kept)
        settings = _settings(path) or (None if pictures is None else _settings(pictures))
        judged = tuple(e.id for key, e in kept.items() if overridden[key])
        return cls(path, list(kept.values()), screenshots, settings, +skipped, judged)

    def fingerprint(self) -> str:
        """A hash of which episodes these are: a run that goes on must find the same."""
        names = [(e.task, e.seed, e.id, [t.action_text for t in e.turns]) for e in self.episodes]
        if self.overridden:
            return hashlib.sha256(repr((names, self.overridden)).encode()).hexdigest()
        return hashlib.sha256(repr(names).encode()).hexdigest()

    # -- whether it is ours --

    @property
    def dialect(self) -> str | None:
        """The dialect that it was recorded in, where that is known."""
        name = ((self.settings or {}).get("env") or {}).get("dialect")
        return None if name is None else str(name)

    def speaks_other(self, dialect: str) -> bool:
        """Whether it is known to be written in another dialect than `dialect`."""
        return self.dialect not in (None, dialect)

    def differences(self, config: RunConfig) -> list[str]:
        """What the recorded run had otherwise, that bears on what its token ids mean."""
        if self.settings is None:
            return []
        own = {
            "env.dialect": config.env.dialect,
            "env.observation": config.env.observation,
            "policy.model": str(config.policy.model),
            "policy.history": config.policy.history,
            "policy.history_drop": config.policy.history_drop,
        }
        lines = []
        for key, value in own.items():
            section, _, name = key.partition(".")
            before = (self.settings.get(section) or {}).get(name, value)
            if before != value and not (key == "policy.model" and _same(before, value)):
                lines.append(f"its {key} is {before!r} instead of {value!r}")
        return lines

    def foreign_prompt(self, policy: VLMPolicy) -> str | None:
        """Why its token ids are not those of `policy`; None if they are.

        Of each episode, the last turn with ids is asked again, and the prompts are compared.
        """
        for episode in self.episodes:
            told = [i for i, turn in enumerate(episode.turns) if turn.tokens is not None]
            if not told:
                continue
            record = episode.turns[told[-1]].tokens
            assert record is not None
            view = list(views(episode, self.screenshots))[told[-1]]
            asked = policy.encode(view, "")
            if (asked.prompt_ids, asked.images) != (record.prompt_ids, record.images):
                return (
                    f"the prompt of episode {episode.id}, turn {told[-1] + 1}, is not as this "
                    f"policy is asked ({len(record.prompt_ids)} tokens and {len(record.images)} "
                    f"pictures, instead of {len(asked.prompt_ids)} and {len(asked.images)})"
                )
        return None

    def foreign_text(self, dialect: str) -> str | None:
        """A turn that went well and cannot be read in `dialect`: it is written in another one."""
        language = get_dialect(dialect)
        for episode in self.episodes:
            size = self._size(episode)
            done = reread(((t.action_text, t.elements) for t in episode.turns), language, size)
            for number, (turn, actions) in enumerate(zip(episode.turns, done, strict=True), 1):
                if turn.action_error is None and not actions:
                    said = turn.action_text.strip().splitlines()[-1:] or [""]
                    return (
                        f"episode {episode.id}, turn {number}, is not written in the dialect "
                        f"{dialect!r}: {said[0][:80]!r}"
                    )
        return None

    def translated(self, episode: Episode, dialect: str) -> list[str | None]:
        """What each turn said, in `dialect`; None where what it did cannot be said in it.

        Out of another dialect only the actions are taken over: thoughts are part of how it was
        written.
        """
        if not self.speaks_other(dialect):
            return [turn.action_text for turn in episode.turns]
        if not episode.turns[0].screenshot_id:
            raise UserError(
                f"episode {episode.id} has no pictures, whose size a translation from the dialect "
                f"{self.dialect!r} to {dialect!r} needs; learn it in {self.dialect!r}"
            )
        own = get_dialect(dialect)
        spoken = get_dialect(str(self.dialect))
        size = self._size(episode)
        done = reread(((t.action_text, t.elements) for t in episode.turns), spoken, size)
        return [_rendered(own, actions, size) for actions in done]

    def _size(self, episode: Episode) -> tuple[int, int]:
        """(width, height) of an episode's pictures, in pixels.

        Without pictures, coordinates are only read, and any that can be written are good.
        """
        if not episode.turns[0].screenshot_id:
            return ANY_SIZE
        height, width = self.screenshots.get(episode.turns[0].screenshot_id).shape[:2]
        return width, height


def _rendered(dialect: Any, actions: Sequence[Any], size: tuple[int, int]) -> str | None:
    try:
        return str(dialect.render(actions, size))
    except ActionError:
        return None


def _read(path: Path) -> Iterator[tuple[Episode, int]]:
    """The episodes of a file, and where their lines begin; what an export adds to their own fields
    is passed over."""
    end = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            start, end = end, end + len(line)
            if not line.strip():
                continue
            try:
                value = json.loads(line)
                yield from_json({k: v for k, v in value.items() if k in _FIELDS}), start
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                if not line.endswith(b"\n"):
                    return  # the last line of a run that was killed
                raise UserError(
                    f"{path}, line {number}: this is no recorded episode ({error}); "
                    "each line holds one, as in the episodes.jsonl of a run"
                ) from None


def _screenshots(folder: Path) -> Path:
    """The folder of pictures in `folder`, which may be a run's, or be that folder itself."""
    candidates = (folder / "screenshots", folder / "episodes" / "screenshots", folder)
    return next((c for c in candidates[:2] if c.is_dir()), folder)


def _pictured(episode: Episode, screenshots: ScreenshotStore) -> bool:
    """Whether all that the agent saw is there; where it saw elements alone, nothing can lack."""
    keys = {turn.screenshot_id for turn in episode.turns if turn.screenshot_id}
    return bool(episode.turns) and all(screenshots.keeps(key) for key in keys)


def _settings(start: Path) -> Mapping[str, Any] | None:
    """The configuration of the run that a file or folder lies in, or that an export tells of."""
    import yaml

    for folder in [start, *start.absolute().parents][:4]:
        for name, read in (("config.yaml", yaml.safe_load), ("manifest.json", json.loads)):
            path = folder / name
            if not path.is_file():
                continue
            try:
                values = read(path.read_text(encoding="utf-8"))
            except (OSError, ValueError, yaml.YAMLError) as error:
                raise UserError(f"{path} cannot be read: {error}") from None
            if name == "manifest.json" and isinstance(values, Mapping):
                values = values.get("config")
            if isinstance(values, Mapping) and "policy" in values:
                return values
    return None


def _same(one: object, other: object) -> bool:
    """Whether two names mean one model's folder."""
    from ui_gym_agents.policy.weights import resolve

    try:
        return resolve(str(one)).resolve() == resolve(str(other)).resolve()
    except UserError:  # the recorded run's model is not on this machine
        return False
