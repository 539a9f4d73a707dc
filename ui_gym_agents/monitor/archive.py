"""Episodes to take away: a ZIP that learners read once it is extracted, and metrics as a table.

::

    episodes.jsonl                an episode a line, as a run writes it
    screenshots/ab/<hash>.webp    the pictures, by their hash
    overrides.jsonl               what people judged otherwise, where they did
    manifest.json                 whose episodes these are, with the run's settings
    README.txt                    what this is, and what is missing

That is a folder of episodes (`ui_gym_agents.store.EpisodeStore`), so a learner takes it as any
recording. All of it is streamed: one episode, and one picture, are in memory at a time.
"""

from __future__ import annotations

import csv
import io
import json
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ui_gym.errors import UIGymError
from ui_gym_agents.episode import Episode, Purpose
from ui_gym_agents.pictures import decoded
from ui_gym_agents.store import FILE, HASH, to_json

if TYPE_CHECKING:
    from ui_gym_agents.monitor.sources import Picture

FindPicture = Callable[[str], "Picture | None"]
"""Gives the picture of a hash; None where it was not kept."""

OVERRIDES = "overrides.jsonl"
MANIFEST = "manifest.json"
README = "README.txt"

BLOCK = 1 << 16
"""Bytes that are handed on at a time, at least."""

_SUFFIXES = {"image/webp": ".webp", "image/png": ".png"}

_TOLD = """\
{episodes} episodes of {run}.

{file}     an episode a line: goal, turns, score, and the policy's token ids, if it had any.
screenshots/       the pictures, by the hash that a turn names ({pictures} of them).
{overrides}    what people judged otherwise ({judged} lines); the episodes say what the task's
                   own judge said.
{manifest}      whose episodes these are, with the run's settings.

To learn from them, extract this file into a folder and name the folder:

    ui-gym-train --plugin sft --trainer.source run:FOLDER

A learner takes one episode of each name and seed: of evaluations that played the same again, the
last one in the file.
"""


def episodes_zip(
    episodes: Iterable[Episode],
    picture: FindPicture,
    *,
    manifest: Mapping[str, Any],
    overrides: Iterable[Mapping[str, Any]] = (),
) -> Iterator[bytes]:
    """The bytes of a ZIP file, piece by piece.

    Args:
        episodes: They are asked for one by one, while the file is read.
        picture: Gives the picture of a hash. What it cannot read is told of as missing.
        manifest: What these are: ``run`` (a name) and ``config`` (the run's settings), at least.
        overrides: Verdicts of people (`ui_gym_agents.overrides.Override`, as plain values). They
            are written with where the episode lies in this file; those of others are left out.
    """
    pipe = _Pipe()
    wanted: dict[str, None] = {}
    said = [(_named(one), one) for one in overrides]
    places: dict[Any, str] = dict.fromkeys((name for name, _ in said), "")
    count = position = 0
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        # Before what is long: whoever lists the file knows at once what it is.
        archive.writestr(_member(MANIFEST), json.dumps(dict(manifest), indent=1) + "\n")
        # Its size is not known before it is written, and may be above 2 GiB.
        with archive.open(_member(FILE), "w", force_zip64=True) as file:
            for episode in episodes:
                line = _line(to_json(episode))
                file.write(line)
                if (name := (episode.id, episode.purpose)) in places:
                    places[name] = f"{FILE}:{position}:{position + len(line)}"
                position += len(line)
                wanted.update(dict.fromkeys(filter(None, pictures_of(episode))))
                count += 1
                yield from pipe.full()
        lines = [_line({**one, "where": places[name]}) for name, one in said if places[name]]
        if lines:
            archive.writestr(_member(OVERRIDES), b"".join(lines))
        missing = 0
        for key in wanted:
            found = _picture(picture, key)
            if found is None:
                missing += 1
                continue
            suffix, data = found
            archive.writestr(_member(f"screenshots/{key[:2]}/{key}{suffix}", stored=True), data)
            yield from pipe.full()
        told = _TOLD.format(
            episodes=count, run=manifest.get("run") or "a run", file=FILE, overrides=OVERRIDES,
            judged=len(lines), manifest=MANIFEST, pictures=len(wanted) - missing,
        )  # fmt: skip
        if missing:
            told += f"\n{missing} pictures are missing: they were not kept, or cannot be read.\n"
        archive.writestr(_member(README), told)
    yield pipe.take()


def pictures_of(episode: Episode) -> Iterator[str]:
    """The hashes of all pictures that an episode names, those of its token records included."""
    for turn in episode.turns:
        yield turn.screenshot_id
        for record in turn.tokens.all if turn.tokens else ():
            yield from record.images
    yield episode.final_screenshot_id


def metrics_csv(names: Sequence[str], rows: Iterable[Sequence[float | None]]) -> Iterator[str]:
    """Steps as comma-separated values, a line at a time: ``step``, ``seconds``, the metrics.

    `rows` are as the API has them: the step, the seconds since the beginning, and a value for each
    of `names`, None where there is none.
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    for row in ([["step", "seconds", *names]], rows):
        for values in row:
            table.writerow(map(_cell, values))
            yield text.getvalue()
            text.seek(0)
            text.truncate()


def _cell(value: object) -> object:
    """A value as a sheet shows it: a text that begins as a formula does would be computed there."""
    if not isinstance(value, str):
        return "" if value is None else value
    text = value.replace("\r", " ")  # which a sheet takes for the end of a row
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t")) else text


class _Pipe(io.RawIOBase):
    """Where the ZIP is written to, and taken from in pieces. Nobody can seek in it."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._waiting += data
        return len(data)

    def take(self) -> bytes:
        """What was written since the last time."""
        taken = bytes(self._waiting)
        self._waiting.clear()
        return taken

    def full(self) -> Iterator[bytes]:
        """What was written, if that is enough to be worth handing on."""
        if len(self._waiting) >= BLOCK:
            yield self.take()


def _named(override: Mapping[str, Any]) -> tuple[str, Purpose]:
    """Which episode a verdict is on."""
    return override["episode"], Purpose(**override.get("purpose", {}))


def _member(name: str, *, stored: bool = False) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, time.localtime()[:6])
    # Pictures are compressed already.
    member.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    member.external_attr = 0o644 << 16
    return member


def _line(value: Mapping[str, Any]) -> bytes:
    """As a run's own files have it; halves of surrogate pairs are written as JSON escapes them."""
    text = json.dumps(dict(value), ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")


def _picture(find: FindPicture, key: str) -> tuple[str, bytes] | None:
    """The suffix and bytes of a picture's file; None where there is no picture."""
    # A name that is no hash could lead out of the folder that the file is extracted to.
    if not HASH.fullmatch(key):
        return None
    try:
        found = find(key)
        if found is None:
            return None
        if suffix := _SUFFIXES.get(found.media):
            return suffix, found.data
        made = io.BytesIO()
        decoded(found.data).save(made, "PNG", compress_level=1)
    except (OSError, UIGymError):
        return None
    return ".png", made.getvalue()
