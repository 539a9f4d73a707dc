"""Count the lines of a log, by commands in a terminal."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.draws import another, between, other, pick
from ui_gym.contract.registry import register
from ui_gym.desktop.content import trees, words
from ui_gym.desktop.content.trees import LEVELS, Log
from ui_gym.desktop.terminal_task import TerminalTask, line


@dataclass(frozen=True)
class CountLinesParams:
    """All that varies between episodes."""

    folder: str
    logs: tuple[Log, ...]
    target: str
    """The log that is meant."""
    word: str
    """What lines must have in them; empty if all count."""
    out: str
    """The file for the number, in the home folder."""
    phrasing: int


@register(
    "DesktopCountLines", suite="desktop", category="terminal", difficulty="medium", max_steps=12,
    tags=("shell",),
)  # fmt: skip
class DesktopCountLines(TerminalTask[CountLinesParams]):
    """Write the number of a log's lines into a file.

    ## Description
    The goal names a log and a file for the number. All lines are to be counted, or those with a
    word in them. Other logs lie beside it, one of them named much like it.

    ## Rewards
    1 if the file holds that number and nothing else, and the logs are as they were.

    ## Starting state
    A terminal in the home folder.
    """

    mistakes = ("file", "word", "name")
    goals = (
        'Count the lines {of}in "{log}" and write the number, and nothing else, into "{out}".',
        'How many lines {of}are there in "{log}"? Save just the number in the file "{out}".',
        'The file "{out}" in the home folder should hold only the number of lines {of}in "{log}".',
    )

    def sample(self, rng: np.random.Generator) -> CountLinesParams:
        logs = trees.logs(rng, between(rng, 3, 4))
        return CountLinesParams(
            folder=words.folder_names(rng, 1)[0],
            logs=tuple(sorted(logs, key=lambda log: log.name)),
            target=logs[0].name,
            word=pick(rng, ("", *LEVELS)),
            out=_out(rng),
            phrasing=self.phrase(rng),
        )

    def told(self, params: CountLinesParams) -> Mapping[str, object]:
        of = f"with {params.word} " if params.word else ""
        return {"of": of, "log": f"{params.folder}/{params.target}"}

    def before(self, params: CountLinesParams) -> dict[str, str]:
        return {f"{params.folder}/{log.name}": log.text for log in params.logs}

    def after(self, params: CountLinesParams) -> dict[str, str]:
        (log,) = (log for log in params.logs if log.name == params.target)
        return {**self.before(params), params.out: f"{log.count(params.word)}\n"}

    def commands(self, params: CountLinesParams) -> Sequence[str]:
        path = f"{params.folder}/{params.target}"
        if params.word:
            return [f"{line('grep', '-c', params.word, path)} > {params.out}"]
        return [f"wc -l < {line(path)} > {params.out}", line("cat", params.out)]

    def misread(
        self, params: CountLinesParams, mistake: str, rng: np.random.Generator
    ) -> CountLinesParams:
        """``file``: another log, ``word``: another one, where that gives another number.
        ``name``: of the file for it."""
        if mistake == "name":
            return dataclasses.replace(params, out=another(lambda: _out(rng), params.out))
        if mistake == "word":
            misread = dataclasses.replace(params, word=other(rng, ("", *LEVELS), params.word))
        else:
            target = other(rng, [log.name for log in params.logs], params.target)
            misread = dataclasses.replace(params, target=target)
        return params if self.after(misread) == self.after(params) else misread


def _out(rng: np.random.Generator) -> str:
    names = ("answer", "count", "length", "lines", "number", "result", "total")
    return f"{pick(rng, names)}{pick(rng, ('', '1', '2', '_a', '_b'))}.txt"
