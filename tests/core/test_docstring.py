"""The page that a task's docstring becomes."""

from __future__ import annotations

import re
from typing import Any

import paint

from ui_gym.contract.docstring import SECTIONS, complete


def page(doc: str | None, **attributes: Any) -> str:
    body = {"__doc__": doc, "viewport": (64, 48), **attributes}
    return complete(type("Made", (paint.PaintText,), body), max_steps=7, version=2, level="medium")


def section(page: str, title: str) -> str:
    return page.split(f"## {title}\n")[1].split("\n\n## ")[0].strip()


def test_one_sentence_becomes_a_page_with_every_section() -> None:
    made = page("Write on the box.")
    assert tuple(re.findall(r"^## (.+)$", made, re.MULTILINE)) == SECTIONS
    assert made.startswith("Write on the box.\n\n")
    assert "48x64x3" in section(made, "Observation space")
    assert "(7, unless" in section(made, "Episode end")
    assert section(made, "Version history") == "* v2: first version."


def test_what_an_author_says_in_a_section_is_kept() -> None:
    made = page(
        """Write.

        ## Episode end
        Termination: the box is written on.

        ## Action space
        Typing is enough.

        ## Arguments
        | `word` | any | what to write |
        """,
        __init__=lambda self, *, level=None, word=None, size=3: None,
        levels={"easy": {}, "hard": {}},
        meanings={"size": "of the box", "word": "what an author says counts"},
    )
    assert section(made, "Episode end").startswith("Termination: the box is written on.\n")
    assert section(made, "Action space").startswith("`ActionText`")
    assert section(made, "Action space").endswith("Typing is enough.")
    assert section(made, "Arguments").splitlines()[2:] == [
        '| `level` | "medium" | one of easy, hard: values of the other arguments |',
        "| `word` | any | what to write |",
        "| `size` | 3 | of the box |",
    ]


def test_a_judge_that_is_asked_at_the_end_ends_nothing() -> None:
    end = section(page("Write.", judged="end"), "Episode end")
    assert end.startswith("Termination: the agent ends it")


def test_a_page_that_is_complete_stays_as_it_is() -> None:
    made = page("Write on the box.\n\nWith care.\n\n## Notes\nNone.")
    assert section(made, "Description") == "With care."
    assert page(made) == made


def test_no_docstring_stays_none() -> None:
    assert page(None) == ""
