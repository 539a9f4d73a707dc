"""Writes the scoreboard: ``python docs/scoreboard.py`` puts the rows of ``docs/scoreboard/`` into
``docs/scoreboard.md``.

With ``--check`` it writes nothing, and its exit status is 1 if the board is out of date. A row that
does not fit is told with the reason, and nothing is written.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ui_gym.errors import UserError
from ui_gym_agents.evaluation.protocol import load_protocol
from ui_gym_agents.evaluation.scoreboard import board, put_board, read_row

PROTOCOL = "v1"
DOCS = Path(__file__).resolve().parent


def updated(docs: Path) -> str:
    """The page of a folder of documents, with the board of its rows.

    Raises:
        UserError: a row does not fit, or the page has no place for the board.
    """
    rows = {path.stem: read_row(path) for path in sorted((docs / "scoreboard").glob("*.json"))}
    page = (docs / "scoreboard.md").read_text(encoding="utf-8")
    return put_board(page, board(rows, load_protocol(PROTOCOL)))


def main() -> int:
    page = DOCS / "scoreboard.md"
    try:
        wanted = updated(DOCS)
    except UserError as error:
        print(f"error: {error}")
        return 1
    if page.read_text(encoding="utf-8") == wanted:
        return 0
    if "--check" in sys.argv:
        print("the scoreboard is out of date: python docs/scoreboard.py")
        return 1
    page.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
