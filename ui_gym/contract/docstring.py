"""A task's docstring as a page with Gymnasium's sections.

The author of a task writes a summary, Description, Rewards and Starting state, and in any other
section only what is special to the task: a note on the actions, ``Termination: ...``, a row for
each argument. What the class and its registration say is added here, when the task is registered.
A section that an author wrote in full stays as it is.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

SECTIONS = (
    "Description", "Action space", "Observation space", "Rewards", "Starting state", "Episode end",
    "Arguments", "Version history",
)  # fmt: skip
"""Gymnasium's sections, in the order in which they are shown."""

_TITLE = re.compile(r"^## (.+)$", re.MULTILINE)
_ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)
_HEADER = "| name | default | meaning |\n|---|---|---|"


def complete(cls: type[Any], *, max_steps: int, version: int, level: str) -> str:
    """The docstring of the task class `cls` with every section; empty if it has none.

    `level` is the one that the task has by default.
    """
    head, sections = _read(cls.__doc__ or "")
    if not head:
        return ""
    summary, _, rest = head.partition("\n\n")
    written = {title: sections.pop(title, "") for title in SECTIONS}
    shown = {
        "Description": written["Description"] or rest.strip() or summary,
        "Action space": _joined(_ACTIONS, written["Action space"], known="`ActionText`"),
        "Observation space": _joined(
            _observations(cls), written["Observation space"], known="`screenshot`"
        ),
        "Rewards": written["Rewards"] or "The score when the episode ends, from 0 to 1.",
        "Starting state": written["Starting state"] or "Drawn from the seed.",
        "Episode end": _end(cls, max_steps, written["Episode end"]),
        "Arguments": _arguments(cls, level, written["Arguments"]),
        **sections,
        "Version history": written["Version history"] or f"* v{version}: first version.",
    }
    head = head if written["Description"] else summary
    return "\n\n".join([head, *(f"## {title}\n{text}" for title, text in shown.items())]) + "\n"


def _read(doc: str) -> tuple[str, dict[str, str]]:
    """What stands above the first section, and the sections by their titles as in `SECTIONS`."""
    head, *parts = _TITLE.split(inspect.cleandoc(doc))
    known = {title.lower(): title for title in SECTIONS}
    titles = (known.get(title.strip().lower(), title.strip()) for title in parts[::2])
    texts = (text.strip() for text in parts[1::2])
    return head.strip(), dict(zip(titles, texts, strict=True))


def _joined(general: str, special: str, known: str) -> str:
    """What holds for all tasks, and what an author wrote beside it; or in its place."""
    return special if known in special else f"{general}\n{special}".strip()


_ACTIONS = "`ActionText`: any text; actions are written in the env's dialect."


def _observations(cls: type[Any]) -> str:
    width, height = cls.viewport
    return (
        f"`Dict` of `goal`, `screenshot` (uint8, {height}x{width}x3 by default), `feedback`, and\n"
        "`elements` where asked for."
    )


def _end(cls: type[Any], max_steps: int, special: str) -> str:
    if "Truncation" in special:
        return special
    by_agent = "the agent ends it with `answer` or `finish`"
    if cls.judged == "end":
        begin = f"Termination: {by_agent}."
    elif special:
        begin = f"{special}\nThe agent may end it before, with `answer` or `finish`."
    else:
        begin = f"Termination: the goal is reached, or {by_agent}."
    return (
        f"{begin}\nTruncation: after `max_steps` steps ({max_steps}, unless the arguments bear on "
        "it), or when the\ndevice fails."
    )


def _arguments(cls: type[Any], level: str, special: str) -> str:
    """A table with a row for each argument of `cls`: the author's where there is one."""
    if special and not _ROW.match(special):
        return special
    rows = {row.split("`")[1]: row for row in special.splitlines()}
    parameters = inspect.signature(cls).parameters
    for name, parameter in parameters.items():
        if name not in rows and parameter.kind is not parameter.VAR_KEYWORD:
            needed = parameter.default is parameter.empty
            default = "needed" if needed else f"{parameter.default!r}"
            meaning = cls.meanings.get(name, "")
            if name == "level" and cls.levels:
                default = f'"{level}"'
                meaning = f"one of {', '.join(cls.levels)}: values of the other arguments"
            rows[name] = f"| `{name}` | {default} | {meaning} |"
    ordered = [rows[name] for name in parameters if name in rows]
    return "\n".join([_HEADER, *ordered]) if ordered else "None."
