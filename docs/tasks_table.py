"""Writes the tables of tasks into the documents: ``python docs/tasks_table.py``.

With ``--check`` it writes nothing, and its exit status is 1 if a table is out of date.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from ui_gym.contract import registry

ROOT = Path(__file__).resolve().parents[1]
TABLES = {"README.md": "browser", "docs/android.md": "android", "docs/desktop.md": "desktop"}
"""Which suite's table stands in which document."""
BEGIN, END = "<!-- tasks: written by docs/tasks_table.py -->\n", "<!-- end of tasks -->"


def table(suite: str) -> str:
    """The tasks of a suite as Markdown."""
    lines = ["| task | what to do | category | difficulty | steps |", "|---|---|---|---|---|"]
    for spec in registry.specs():
        if spec.suite == suite and spec.entry_point.startswith("ui_gym."):
            lines.append(
                f"| `{spec.id}` | {spec.summary} | {spec.category} | {spec.difficulty} "
                f"| {spec.max_steps} |"
            )
    return "\n".join(lines) + "\n"


def updated(document: Path, suite: str) -> str:
    """The document's text with the table as it should be."""
    pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
    text = document.read_text()
    new, count = re.subn(pattern, lambda _: BEGIN + table(suite) + END, text, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"{document} must hold {BEGIN.strip()} ... {END} once")
    return new


def main() -> int:
    late = []
    for name, suite in TABLES.items():
        document = ROOT / name
        new = updated(document, suite)
        if new != document.read_text():
            late.append(name)
            if "--check" not in sys.argv:
                document.write_text(new)
    if late and "--check" in sys.argv:
        print(f"the table of tasks is out of date in {', '.join(late)}: python docs/tasks_table.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
