"""The scoreboard: a row is a JSON file, which anybody can send in; the board is made of all rows.

A row holds what a protocol's episodes came to, and how they came about. It names no address and no
folder of the machine that it was played on. A row that does not fit is refused, and nothing of it
is shown: see `check_row`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from ui_gym.contract import registry
from ui_gym.errors import UserError
from ui_gym_agents import files
from ui_gym_agents.agents.agent import is_served
from ui_gym_agents.episode import TokenUsage
from ui_gym_agents.evaluation.evaluate import EpisodeFigures, TokenPrices
from ui_gym_agents.evaluation.protocol import ScoreboardPart, ScoreboardProtocol
from ui_gym_agents.evaluation.report.statistics import percent
from ui_gym_agents.marked import put_between
from ui_gym_agents.protocols import checked
from ui_gym_agents.training.facts import machine, revision

if TYPE_CHECKING:
    from ui_gym_agents.evaluation.plan import EvaluationPlan
    from ui_gym_agents.evaluation.play import FinishedEvaluation

SCHEMA = 1
FILE = "scoreboard.json"
"""The name of a row in the folder of its evaluation."""

BEGIN = "<!-- scoreboard: written by docs/scoreboard.py -->"
END = "<!-- end of scoreboard -->"

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


class RowFigures(ScoreboardPart):
    """What some episodes came to; names as in `EpisodeFigures`."""

    success: Share
    n: Count
    interval: tuple[Share, Share]
    score: Share
    valid_actions: Share
    turns: float = Field(ge=0)
    failures: Count
    usage: TokenUsage | None


class RowProtocol(ScoreboardPart):
    """Which protocol a row is of."""

    version: str
    hash: str


class ScoreboardRow(ScoreboardPart):
    """A row of the scoreboard."""

    row_schema: int = Field(default=SCHEMA, alias="schema")
    protocol: RowProtocol
    agent: str
    """The kind: ``oracle``, ``policy``, ``openai`` and the like."""
    model: str
    """Empty where no model plays."""
    dialect: str
    answers: Literal["", "greedy", "sampled"]
    """How they are chosen; empty where that is the agent's own business."""
    date: str
    """When it was written, ISO 8601 in UTC."""
    version: str
    """Of ui-gym."""
    revision: str | None
    """The commit of its code, with ``-dirty`` if files differ from it; None where it is in none."""
    machine: str
    total: RowFigures
    suites: dict[str, RowFigures]
    tasks: dict[str, RowFigures]
    seconds: float = Field(ge=0)
    """Of all episodes, added up."""
    prices: TokenPrices | None
    cost: float | None = Field(ge=0)
    """Dollars."""

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        files.replace(path, self.model_dump_json(indent=1, by_alias=True) + "\n")


def row_of(
    settings: EvaluationPlan, protocol: ScoreboardProtocol, finished: FinishedEvaluation
) -> ScoreboardRow:
    """The row of a finished evaluation, which was planned by `protocol`."""
    report = finished.report
    kind, _, model = settings.agent.partition(":")
    by_suite: dict[str, list[int]] = {}
    for index, episode in enumerate(finished.episodes):
        by_suite.setdefault(registry.spec(episode.task).suite, []).append(index)
    return ScoreboardRow(
        schema=SCHEMA,
        protocol=RowProtocol(version=protocol.version, hash=protocol.digest),
        agent=kind,
        model=_public(settings, model),
        dialect=settings.dialect,
        answers=("greedy" if settings.greedy else "sampled") if settings.samples else "",
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        version=version("ui-gym"),
        revision=revision(Path(__file__).parent),
        machine="{cpu}, {cores} cores".format_map(machine()),
        total=RowFigures.model_validate(report.total),
        suites={
            suite: RowFigures.model_validate(
                EpisodeFigures.of([finished.episodes[index] for index in indices])
            )
            for suite, indices in by_suite.items()
        },
        tasks={task: RowFigures.model_validate(part) for task, part in report.by_task.items()},
        seconds=report.times["episodes"],
        prices=settings.prices,
        cost=report.cost,
    )


def _public(settings: EvaluationPlan, model: str) -> str:
    """A model's name, without the address or the folder where it is."""
    if is_served(settings.agent):
        return model.partition("@")[0]
    if settings.agent != "policy":
        return model
    parts = [Path(settings.model).name if Path(settings.model).is_dir() else settings.model]
    return " + ".join([*parts, settings.adapter.name] if settings.adapter else parts)


def read_row(path: Path) -> ScoreboardRow:
    """A row.

    Raises:
        UserError: it cannot be read, is none, or is of another schema.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"the row {path} cannot be read: {error}") from error
    written = values.get("schema") if isinstance(values, dict) else None
    if written != SCHEMA:
        raise UserError(
            f"{path} is no row of schema {SCHEMA} but of {written}; {FILE} of "
            "`ui-gym-eval --protocol` is one"
        )
    return checked(ScoreboardRow, values, f"{path} is no row of the scoreboard")


def check_row(row: ScoreboardRow, protocol: ScoreboardProtocol, name: str) -> None:
    """See that a row is whole, and of this protocol.

    Raises:
        UserError: it is of another protocol, a task of a suite is missing or is in no suite,
            episodes of a task are missing, or suites are not what their tasks are.
    """
    if row.protocol.hash != protocol.digest:
        raise UserError(
            f"{name} is of another protocol ({row.protocol.version}-{row.protocol.hash[:8]}, and "
            f"this is {protocol.name}): play it again with --protocol {protocol.version}"
        )
    known = {task: suite for suite, tasks in protocol.tasks.items() for task in tasks}
    suites = {known[task] for task in row.tasks if task in known}
    if not suites or suites != set(row.suites) or not row.tasks.keys() <= known.keys():
        raise UserError(f"{name} has other suites or tasks than {protocol.name} has")
    missing = [task for suite in protocol.tasks if suite in suites for task in protocol.tasks[suite]
               if task not in row.tasks]  # fmt: skip
    if missing:
        raise UserError(
            f"{name} lacks {len(missing)} tasks ({', '.join(missing[:3])}...): a row has all of a "
            "suite"
        )
    for task, part in row.tasks.items():
        if part.n != protocol.episodes or part.failures:
            raise UserError(
                f"{name} has {part.n} of {protocol.episodes} episodes of {task}: ask for the same "
                "evaluation again, which plays those anew that failed"
            )
    for title, part, tasks in [
        ("total", row.total, list(row.tasks)),
        *((suite, row.suites[suite], [t for t in row.tasks if known[t] == suite])
          for suite in row.suites),
    ]:  # fmt: skip
        parts = [row.tasks[task] for task in tasks]
        mean = sum(p.success * p.n for p in parts) / sum(p.n for p in parts)
        if part.n != sum(p.n for p in parts) or abs(part.success - mean) > 1e-6:
            raise UserError(f"{name}: {title} is not what its tasks come to; send it as written")


# -- the board --


def board(rows: Mapping[str, ScoreboardRow], protocol: ScoreboardProtocol) -> str:
    """The board as Markdown: best first, and those that lack a suite behind those that do not.

    Args:
        rows: By the names of their files.
        protocol: Which all must be of.

    Raises:
        UserError: a row does not fit (`check_row`).
    """
    for name, row in rows.items():
        check_row(row, protocol, name)
    order = sorted(rows, key=lambda name: _rank(rows[name], name))
    episodes = {suite: protocol.episodes * len(tasks) for suite, tasks in protocol.tasks.items()}
    suites = [f"{suite} ({count})" for suite, count in episodes.items()]
    columns = (
        "agent", f"all ({sum(episodes.values())})", *suites, "score", "valid actions", "turns",
        "tokens", "cost", "dialect, answers", "ui-gym", "date", "row",
    )  # fmt: skip
    lines = [
        f"Protocol {protocol.name}. Success in percent, with its 95 % interval (Wilson's); in "
        "brackets above, how many episodes that is.",
        "",
        _line(columns),
        _line(["---"] * len(columns)),
        *(_line(_cells(name, rows[name], protocol)) for name in order),
    ]
    return "\n".join(lines) + "\n"


def _rank(row: ScoreboardRow, name: str) -> tuple[float | str, ...]:
    return -len(row.suites), -row.total.success, -row.total.score, name


def _cells(name: str, row: ScoreboardRow, protocol: ScoreboardProtocol) -> Iterator[str]:
    whole, total = row.suites.keys() == protocol.tasks.keys(), row.total
    yield f"{row.agent}: {row.model}" if row.model else row.agent
    yield _rate(total) if whole else ""
    for suite in protocol.tasks:
        yield _rate(row.suites[suite]) if suite in row.suites else ""
    yield f"{total.score:.2f}"
    yield percent(total.valid_actions)
    yield f"{total.turns:.1f}"
    served = is_served(f"{row.agent}:")
    yield ("unknown" if total.usage is None else str(total.usage)) if served else ""
    yield ("unknown" if row.cost is None else f"${row.cost:.2f}") if served else ""
    yield ", ".join(filter(None, (row.dialect, row.answers)))
    yield row.version + (f" {_commit(row.revision)}" if row.revision else "")
    yield row.date[:10]
    yield f"{name}.json"


def _commit(revision: str) -> str:
    commit, dash, _ = revision.partition("-")
    return commit[:8] + ("+" if dash else "")


def _rate(part: RowFigures) -> str:
    low, high = part.interval
    return f"{100 * part.success:.1f} ({100 * low:.0f} to {100 * high:.0f})"


def _line(cells: Sequence[str] | Iterator[str]) -> str:
    # What strangers wrote is no markup, and starts no new cell.
    plain = (" ".join(cell.split()) for cell in cells)
    return f"| {' | '.join(''.join(_escaped(sign) for sign in cell) for cell in plain)} |"


def _escaped(sign: str) -> str:
    return f"\\{sign}" if sign in "\\`*_{}[]<>#|!" else sign


def put_board(page: str, text: str) -> str:
    """A page with the board between its two marks; raises as `put_between`."""
    return put_between(page, BEGIN, END, f"\n\n{text}\n")
