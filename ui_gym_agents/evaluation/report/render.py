"""The reports of an evaluation: JSON for programs, Markdown for text, HTML for looking at it.

The HTML is one file that needs nothing else: styles and pictures are in it, there is no script, and
its content security policy forbids the browser to fetch or run anything. Whatever an agent, a page
or a task wrote is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents import files
from ui_gym_agents.agents.agent import is_served
from ui_gym_agents.episode import Episode, TokenUsage
from ui_gym_agents.evaluation.evaluate import EvaluationReport
from ui_gym_agents.evaluation.report.films import films
from ui_gym_agents.evaluation.report.statistics import percent
from ui_gym_agents.store import EpisodeStore

MARKDOWN = "report.md"
HTML = "report.html"


def write_reports(
    folder: Path,
    report: EvaluationReport,
    episodes: Sequence[Episode],
    store: EpisodeStore,
    *,
    dialect: str,
    asked: Mapping[str, Any],
) -> list[Path]:
    """Write ``report.json``, ``report.md`` and ``report.html`` into `folder`; returns their paths.

    Args:
        report: What was measured.
        episodes: The episodes that it is about, in a fixed order: films are picked from them.
        store: Where their pictures are.
        dialect: How their actions are written.
        asked: What was evaluated and how, shown as it is.

    Raises:
        UserError: jinja2 is not installed.
    """
    values = report.to_json()
    templates = _templates()
    given = {"report": values, "asked": {k: v for k, v in asked.items() if v not in (None, {}, [])}}
    texts = {
        "report.json": json.dumps(values, indent=1) + "\n",
        MARKDOWN: templates.get_template("evaluation.md.j2").render(given),
        HTML: templates.get_template("evaluation.html.j2").render(
            given, films=films(episodes, store, dialect)
        ),
    }
    for name, text in texts.items():
        files.replace(folder / name, text)
    return [folder / name for name in texts]


def _templates() -> Any:
    try:
        import jinja2
    except ModuleNotFoundError as error:
        raise UserError("reports need jinja2; to get it: pip install 'ui-gym[agents]'") from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ui_gym_agents.evaluation.report"),
        # By the file's name: HTML is escaped, and Markdown escapes by its own filter.
        autoescape=lambda name: name is not None and name.endswith(".html.j2"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["percent"] = percent
    environment.filters["success"] = _success
    environment.filters["tokens"] = _tokens
    environment.tests["served"] = lambda agent: isinstance(agent, str) and is_served(agent)
    environment.filters["cell"] = _cell
    environment.filters["short"] = _short
    return environment


def _success(figures: Mapping[str, Any]) -> str:
    """The success rate; unknown, where no episode counts."""
    return percent(figures["success"] if figures["n"] else None)


def _tokens(usage: Mapping[str, int] | None) -> str:
    return "unknown" if usage is None else str(TokenUsage(**usage))


def _cell(text: object) -> str:
    """Text in a cell of a Markdown table: on one line, and nothing in it is markup."""
    line = " ".join(str(text).split())
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]<>#|!" else sign for sign in line)


def _short(value: object) -> str:
    """A setting, as a person writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return json.dumps(value) if isinstance(value, Mapping) else str(value)
