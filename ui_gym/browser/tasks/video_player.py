"""Video player: bring a film to a place and the player to the asked settings, and share that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import films, phrases
from ui_gym.browser.content.choices import changed_share
from ui_gym.browser.content.films import COMPACT_OPTIONS, FILMS, MOST_CHAPTERS, OPTIONS, SETTINGS
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import PATCH, Family, Steps, whole
from ui_gym.browser.moves import click
from ui_gym.contract.action import Click, Drag
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

GOALS = (
    "Have the film {state} {place}{settings}; then press Share.",
    "I want to share the film {state} {place}{settings}. Change nothing else and press Share.",
    "Bring the player to this and press Share: {state} {place}{settings}. All else stays.",
)
COMPACT_GOALS = (
    "Pause at {time}{settings}. Press Share.",
    "Stop at {time}{settings}. Press Share.",
    "Go to {time}, pause{settings}. Press Share.",
)
SHORTEST, LONGEST = 45, 85
"""Of a chapter, in seconds."""
COMPACT_LENGTH = 11
"""Of the film on the compact page, in seconds, for each of which its bar has 16 px."""


@dataclass(frozen=True)
class VideoPlayerParams:
    """All that varies between episodes. Times are in seconds; settings are in the order of
    `SETTINGS`, each by the number of its option."""

    film: int
    chapters: tuple[int, ...]
    """Where each one begins."""
    length: int
    start: int
    started: bool
    """Whether the film is playing at the start."""
    starts: tuple[int, ...]
    chapter: int | None
    """The chapter that the goal names, from the beginning of which it counts; None: a time."""
    offset: int
    """How far into it, or into the film, the asked place is."""
    playing: bool
    """Whether the film is to be playing."""
    asked: tuple[int, ...]
    place: int
    """How far the content is moved to the right; compact: down. In patches."""
    theme: int
    phrasing: int

    @property
    def target(self) -> int:
        """The asked place."""
        return self.offset if self.chapter is None else self.chapters[self.chapter] + self.offset

    @property
    def changed(self) -> list[int]:
        """The settings that are to be changed."""
        return [i for i, start in enumerate(self.starts) if start != self.asked[i]]


@register("VideoPlayer", suite="browser", category="visual", difficulty="medium", max_steps=14)
class VideoPlayer(Family[VideoPlayerParams]):
    """Bring a film to the named place and the player to the named settings, and press Share.

    ## Description
    A player with a bar to seek by, chapters, subtitles in several languages, speed and volume. The
    film may be playing: its time goes on by 0.05 s with each action, times its speed, and by what a
    `wait` takes. The goal names a place by its time or by a chapter (at "hard" by how far into a
    chapter it is), whether the film is to be paused or playing, and some of the settings; the
    others must stay. The compact film has 11 seconds and no chapters, and is to be paused.

    ## Action space
    Clicks do all. The bars can also be clicked or dragged, and moved by arrow keys: 5 s, or a step
    of the volume.

    ## Rewards
    1 if Share is pressed while the film is at the asked place, as far off as `slack` says at most,
    paused or playing as asked, with all named settings right and the others untouched. Else the
    share of what was to be changed that is right, less one such share for each other thing that was
    changed. The place is in whole seconds, as shown.

    ## Starting state
    The film elsewhere, in most episodes playing; nothing focused.

    ## Episode end
    Termination: Share was pressed. `max_steps` is 3 for each named setting, and 8; compact: 2
    and 6.

    ## Arguments
    | `chapters` | easy 4, medium 5, hard 6 | of the film, 3 to 6; compact: of no effect |
    | `changes` | easy 1, medium 2, hard 3 (compact: 1) | how many settings are named, 0 to 3 |
    | `slack` | easy 5, medium 3, hard 2 (compact: 0) | seconds that the place may be off, to 10 |
    | `sums` | easy 0, medium 0, hard 1 (compact: 0) | 1: places are so far into a chapter |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "video_player.html"
    ends, waiting = "share", "not shared yet"
    mistakes = ("place", "setting", "playing")
    chapters: int = whole(3, MOST_CHAPTERS, easy=4, medium=5, hard=6)
    changes: int = whole(0, len(SETTINGS), easy=1, medium=2, hard=3)
    slack: int = whole(0, 10, easy=5, medium=3, hard=2)
    sums: int = whole(0, 1, easy=0, medium=0, hard=1)
    compact_values = {"chapters": 3, "changes": 1, "slack": 0, "sums": 0}

    def prepare(self) -> None:
        self.options = COMPACT_OPTIONS if self.compact else OPTIONS
        self.max_steps = 3 * self.changes + 8
        if self.compact:
            if self.slack or self.sums:
                raise UserError(
                    "VideoPlayer: the compact page has exact times and no chapters; slack and sums "
                    "are 0"
                )
            self.max_steps = 2 * self.changes + 6
        elif self.slack < 2:
            raise UserError(
                f"VideoPlayer: the bar is too short for less than 2 s; slack is 2 to 10, not "
                f"{self.slack}"
            )

    def sample(self, rng: Generator) -> VideoPlayerParams:
        lasts = [int(rng.integers(SHORTEST, LONGEST)) for _ in range(self.chapters)]
        chapters, length = [sum(lasts[:i]) for i in range(self.chapters)], sum(lasts)
        if self.compact:
            chapters, length = [], COMPACT_LENGTH
        start = int(rng.integers(length - 2))
        chapter, offset = self._place_asked(lasts, chapters, start, length, rng)
        starts = tuple(int(rng.integers(len(options))) for options in self.options)
        asked = list(starts)
        for i in rng.choice(len(SETTINGS), size=self.changes, replace=False):
            asked[i] = self._other(int(i), starts[i], rng)
        return VideoPlayerParams(
            film=int(rng.integers(len(FILMS))),
            chapters=tuple(chapters),
            length=length,
            start=start,
            started=bool(rng.random() < 0.6),
            starts=starts,
            chapter=chapter,
            offset=offset,
            playing=bool(rng.random() < 0.25) and not self.compact,
            asked=tuple(asked),
            place=int(rng.integers(2)) if self.compact else int(rng.integers(-2, 3)),
            theme=0 if self.compact else int(rng.integers(6)),
            phrasing=int(rng.integers(3)),
        )

    def goal(self, params: VideoPlayerParams) -> str:
        asked = [(SETTINGS[i], self.options[i][params.asked[i]]) for i in params.changed]
        if self.compact:
            said = [f", Volume {o}" if s == "volume" else f", {o}" for s, o in asked]
            return COMPACT_GOALS[params.phrasing].format(time=params.target, settings="".join(said))
        settings = phrases.listing([films.told(*one) for one in asked]) if asked else ""
        return GOALS[params.phrasing].format(
            state="playing" if params.playing else "paused",
            place=_told(params),
            settings=f", with {settings}" if settings else "",
        )

    def page_params(self, params: VideoPlayerParams) -> dict[str, Any]:
        film = FILMS[params.film]
        return {
            "title": film.title,
            "by": film.by,
            "lines": film.lines,
            "chapters": list(zip(film.chapters, params.chapters, strict=False)),
            "length": params.length,
            "start": params.start,
            "started": params.started,
            "options": self.options,
            "starts": params.starts,
            "factors": [films.factor(speed) for speed in self.options[1]],
            "place": PATCH * params.place,
            "theme": params.theme,
        }

    def verdict(self, data: Mapping[str, Any], params: VideoPlayerParams) -> Verdict:
        at, playing = math.floor(data["at"]), bool(data["playing"])
        values = tuple(int(value) for value in data["values"])
        wrong = [
            f"{setting} is {options[value]}, not {options[asked]}"
            for setting, options, value, asked in zip(
                SETTINGS, self.options, values, params.asked, strict=True
            )
            if value != asked
        ]
        if playing != params.playing:
            wrong.append("it is playing" if playing else "it is paused")
        if abs(at - params.target) <= self.slack:
            at = params.target
        else:
            wrong.append(f"it is at {films.clock(at)}, not {films.clock(params.target)}")
        score = changed_share(
            (params.start, params.started, *params.starts),
            (params.target, params.playing, *params.asked),
            (at, playing, *values),
        )
        return Verdict(score, done=True, notes="; ".join(wrong) or "all is as asked")

    def oracle(self, device: BrowserDevice, params: VideoPlayerParams) -> Steps:
        if device.state()["playing"] and not params.playing:
            said = "Pause" if self.compact else "The film is to be paused."
            yield Demo(click(device, "#play"), said)
        for i in params.changed:
            if device.state()["values"][i] != params.asked[i]:
                yield from self._set(device, params, i)
        yield Demo(self._seek(device, params), self._seek_thought(params))
        if device.state()["playing"] != params.playing:
            yield Demo(click(device, "#play"), "The film is to be playing.")
        yield Demo(click(device, "#share"), "Share" if self.compact else "All is as asked: share.")

    def misread(self, params: VideoPlayerParams, mistake: str, rng: Generator) -> VideoPlayerParams:
        """``place``: another chapter, or 10 to 30 s beside the time. ``setting``: a setting that is
        named gets another value; where none is, one changes. ``playing``: the film is left playing
        where it is to be paused, and paused where it is to be playing."""
        if mistake == "playing":
            return replace(params, playing=not params.playing)
        if mistake == "setting":
            named = params.changed or range(len(SETTINGS))
            i = pick(rng, named)
            asked = list(params.asked)
            asked[i] = self._other(i, asked[i], rng)
            return replace(params, asked=tuple(asked))
        if params.chapter is not None:
            others = [i for i in range(len(params.chapters)) if i != params.chapter]
            return replace(params, chapter=pick(rng, others))
        off = int(rng.integers(1, 4)) if self.compact else int(rng.integers(11, 31))
        later = params.offset + off < params.length
        return replace(params, offset=params.offset + off if later else params.offset - off)

    def blind_rate(self, params: VideoPlayerParams) -> float:
        """Any place, paused or playing, and as many settings as asked at any values."""
        rate = (2 * self.slack + 1) / params.length
        if params.chapter is not None and not params.offset:
            rate = 1 / len(params.chapters)
        rate /= math.comb(len(SETTINGS), self.changes) * (1 if self.compact else 2)
        for i in params.changed:
            rate /= len(self.options[i]) - 1
        return rate

    def _place_asked(
        self, lasts: list[int], chapters: list[int], start: int, length: int, rng: Generator
    ) -> tuple[int | None, int]:
        """A chapter or None, and how far into it or the film; not where the film is."""
        apart = 2 if self.compact else 2 * self.slack + 10
        while True:
            if self.compact or (not self.sums and rng.random() < 0.5):
                chapter, offset = None, int(rng.integers(1, length - (0 if self.compact else 10)))
                target = offset
            else:
                chapter = int(rng.integers(len(chapters)))
                offset = int(rng.integers(8, min(lasts) - 5)) if self.sums else 0
                target = chapters[chapter] + offset
            if abs(target - start) >= apart:
                return chapter, offset

    def _other(self, setting: int, value: int, rng: Generator) -> int:
        others = [i for i in range(len(self.options[setting])) if i != value]
        return pick(rng, others)

    def _set(self, device: BrowserDevice, params: VideoPlayerParams, i: int) -> Steps:
        setting, value = SETTINGS[i], params.asked[i]
        option = self.options[i][value]
        said = f"There should be {films.told(setting, option)}."
        if setting == "volume":
            said = f"Volume {option}" if self.compact else said
            share = value / (len(self.options[i]) - 1)
            yield Demo(self._drag(device, "volume", share), said)
            return
        if not self.compact:
            yield Demo(click(device, f"#{setting}"), said)
        yield Demo(click(device, f"#{setting}-{value}"), option if self.compact else said)

    def _seek(self, device: BrowserDevice, params: VideoPlayerParams) -> Click | Drag:
        if params.chapter is not None and not params.offset:
            return click(device, f"#chapter-{params.chapter}")
        # In the middle of the second, so that it is not the one before.
        half = 0.0 if self.compact else 0.5
        return self._drag(device, "seek", (params.target + half) / params.length)

    def _seek_thought(self, params: VideoPlayerParams) -> str:
        if self.compact:
            return f"Time {params.target}"
        if params.chapter is None or not params.offset:
            return f"The film should be {_told(params)}."
        begin = films.clock(params.chapters[params.chapter])
        chapter = FILMS[params.film].chapters[params.chapter]
        return f"{chapter} begins at {begin}, so this is {films.clock(params.target)}."

    def _drag(self, device: BrowserDevice, bar: str, share: float) -> Drag:
        """Take the thumb of a bar to a share of its rail."""
        left, _, width, _ = device.box(f"#{bar} .rail")
        x, y = device.center(f"#{bar} .thumb")
        return Drag(x, y, round(left + share * width), y)


def _told(params: VideoPlayerParams) -> str:
    """How a goal says where the film is to be."""
    if params.chapter is None:
        return f"at {films.clock(params.offset)}"
    chapter = f'the chapter "{FILMS[params.film].chapters[params.chapter]}"'
    if params.offset:
        return f"{params.offset} seconds into {chapter}"
    return f"at the start of {chapter}"
