"""The table of the forty faults, which ``python -m tests.campaign.table`` puts into its page."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from ui_gym_agents.marked import put_between

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "faults.md"
BEGIN = "<!-- written by: python -m tests.campaign.table -->\n"
END = "<!-- end of the table -->"


@dataclass(frozen=True)
class Line:
    """A fault of the table: what is done, what is to come of it, and the tests that do this."""

    number: int
    done: str
    expected: str
    tests: tuple[str, ...]
    campaign: bool = False
    """Whether `python -m tests.campaign` causes it too."""

    @property
    def missing(self) -> list[str]:
        """Those of its tests that are not there."""
        return [name for name in self.tests if not _is_there(name)]


def table() -> list[Line]:
    """All faults, by number."""
    found = tomllib.loads((TESTS / "campaign" / "faults.toml").read_text())["fault"]
    return [Line(**{**line, "tests": tuple(line["tests"])}) for line in found]


def _is_there(name: str) -> bool:
    file, _, function = name.partition("::")
    path = TESTS / file
    return path.exists() and re.search(rf"^def {function}\(", path.read_text(), re.M) is not None


def page() -> str:
    """docs/faults.md as it should be."""
    rows = ["| | fault | what comes of it | tests |", "|---|---|---|---|"]
    for line in table():
        names = ", ".join(f"`{name}`" for name in line.tests)
        star = "*" if line.campaign else ""
        rows.append(f"| {line.number}{star} | {line.done} | {line.expected} | {names} |")
    return put_between(PAGE.read_text(), BEGIN, END, "\n".join([*rows, ""]))


if __name__ == "__main__":
    PAGE.write_text(page())
