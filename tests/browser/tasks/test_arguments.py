"""What each family of browser tasks refuses when it is made, and what it says."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ui_gym.contract.arguments import make_task
from ui_gym.contract.suite import families
from ui_gym.errors import UserError

REFUSED: dict[str, list[tuple[dict[str, Any], str]]] = {
    "Autocomplete": [
        ({"fields": 4}, "fields must be 1 to 3, not 4"),
        ({"stems": 2}, "stems must be 3 to 24, not 2"),
        ({"alike": 13}, "alike must be 1 to 12, not 13"),
        ({"alike": 2, "namesakes": 3}, "namesakes must be 1 to 2, not 3"),
        ({"alike": 12, "namesakes": 1}, "namesakes must be 2 to 4, not 1"),
        ({"delay": -1}, "delay must be 0 to 2000, not -1"),
    ],
    "CalendarBook": [
        ({"events": 1}, "events must be 2 to 16, not 1"),
        ({"people": 4}, "people must be 0 to 3, not 4"),
        ({"weeks": 5}, "weeks must be 0 to 4, not 5"),
    ],
    "ChartRead": [
        ({"series": 5}, "series must be 1 to 4, not 5"),
        ({"categories": 3}, "categories must be 4 to 12, not 3"),
        ({"points": 0}, "points must be 1 to 2, not 0"),
        ({"tolerance": 7}, "tolerance must be 1 to 6, not 7"),
    ],
    "CheckboxSet": [
        ({"count": 1}, "count must be 2 to 100, not 1"),
        ({"count": 101}, "count must be 2 to 100, not 101"),
        ({"count": 25, "likeness": "low"}, "count must be 2 to 24, not 25"),
        ({"asked": 20}, "asked must be 1 to 19, not 20"),
        ({"ticked": -1}, "ticked must be 0 to 20, not -1"),
        ({"compact": True, "count": 7}, "count must be 2 to 6, not 7"),
        ({"compact": True, "likeness": "high"}, "the compact page has no alike names"),
        ({"likeness": "medium"}, "likeness must be 'low' or 'high', not 'medium'"),
    ],
    "ClickButton": [
        ({"count": 1}, "count must be 2 to 10, not 1"),
        ({"count": 11}, "count must be 2 to 10, not 11"),
        ({"likeness": "medium"}, "likeness must be 'low' or 'high', not 'medium'"),
    ],
    "CopyPaste": [
        ({"notes": 11}, "notes must be 2 to 10, not 11"),
        ({"copies": 4}, "copies must be 1 to 3, not 4"),
        ({"lines": 1}, "lines must be 2 to 8, not 1"),
        ({"level": "hard", "notes": 5}, "notes must be at least 6 here, not 5"),
    ],
    "DataEntry": [
        ({"rows": 0}, "rows must be 1 to 100, not 0"),
        ({"rows": 5, "length": 4}, "rows must be 1 to 4, not 5"),
        ({"length": 201}, "length must be 2 to 200, not 201"),
        ({"compact": True, "length": 7}, "length must be 2 to 6, not 7"),
        ({"words": "short", "length": 49}, "length must be 2 to 48, not 49"),
        ({"columns": 1, "length": 24}, "length must be 2 to 23, not 24"),
        ({"columns": 0}, "columns must be 1, 2 or 3"),
        ({"words": "rude"}, "words must be 'long' or 'short', not 'rude'"),
    ],
    "DatePicker": [
        ({"reach": 19}, "reach must be 0 to 18, not 19"),
        (
            {"ask": "year"},
            "ask must be 'date', 'weekday' or 'stay', not 'year'",
        ),
    ],
    "DropdownPick": [
        ({"fields": 9}, "fields must be 1 to 8, not 9"),
        ({"asked": 6}, "asked must be 1 to 5, not 6"),
        ({"asked": True}, "asked must be 1 to 5, not True"),
        ({"length": 2}, "length must be 3 to 132, not 2"),
    ],
    "EmailReply": [
        ({"threads": 3}, "threads must be 4 to 40, not 3"),
        ({"turns": 7}, "turns must be 1 to 6, not 7"),
        ({"sentences": 0}, "sentences must be 1 to 4, not 0"),
    ],
    "EmailTriage": [
        ({"mails": 4}, "mails must be 11 to 60, not 4"),
        ({"orders": 0}, "orders must be 1 to 4, not 0"),
    ],
    "FileManager": [
        ({"jobs": 0}, "jobs must be 1 to 6, not 0"),
        ({"depth": 4}, "depth must be 1 to 3, not 4"),
        ({"files": 3}, "files must be 4 to 30, not 3"),
    ],
    "FlightBooking": [
        ({"legs": 3}, "legs must be 1 to 2, not 3"),
        ({"flights": 2}, "flights must be 3 to 12, not 2"),
    ],
    "KanbanDrag": [
        ({"cards": 3}, "cards must be 4 to 40, not 3"),
        ({"moves": 3, "cards": 5}, "cards must be 6 to 40, not 5"),
        ({"columns": 2}, "columns must be 3 to 5, not 2"),
        ({"by": "color"}, "by must be 'title' or 'rule', not 'color'"),
    ],
    "Login": [
        ({"steps": 4}, "steps must be 1 to 3, not 4"),
        ({"compact": True, "steps": 2}, "the compact page has one step, not 2"),
        ({"compact": True, "level": "hard"}, "the compact page has one step, not 3"),
    ],
    "ModalNoise": [
        ({"noises": 9}, "noises must be 1 to 8, not 9"),
        ({"items": 3}, "items must be 4 to 16, not 3"),
    ],
    "PaginatedSearch": [
        ({"records": 23}, "records must be 24 to 300, not 23"),
        ({"facts": 4}, "facts must be 1 to 3, not 4"),
    ],
    "RadioSurvey": [
        ({"questions": 0}, "questions must be 1 to 12, not 0"),
        ({"questions": 13}, "questions must be 1 to 12, not 13"),
        ({"questions": 2, "pages": 3}, "pages must be 1 to 2, not 3"),
        ({"skipped": 6}, "skipped must be 0 to 5, not 6"),
        ({"layout": "grid"}, "layout must be 'row' or 'column', not 'grid'"),
        ({"order": "none"}, "order must be 'page' or 'mixed', not 'none'"),
    ],
    "Registration": [
        ({"fields": 2}, "fields must be 3 to 10, not 2"),
        ({"fields": 11}, "fields must be 3 to 10, not 11"),
        ({"repeat": "yes"}, "repeat must be True or False, not 'yes'"),
        ({"reformat": 2}, "reformat must be True or False, not 2"),
    ],
    "SearchEngine": [
        ({"results": 40}, "results must be 6 to 24, not 40"),
        ({"ads": 4}, "ads must be 0 to 3, not 4"),
    ],
    "SettingsTree": [
        ({"sections": 8}, "sections must be 2 to 7, not 8"),
        ({"changes": 0}, "changes must be 1 to 6, not 0"),
        ({"deep": 2}, "deep must be True or False, not 2"),
    ],
    "ShoppingCart": [
        ({"groups": 2, "items": 3}, "items must be 1 to 2, not 3"),
        ({"sizes": 3}, "sizes must be 1 to 2, not 3"),
    ],
    "SliderSet": [
        ({"sliders": 9}, "sliders must be 2 to 8, not 9"),
        ({"sliders": 2, "changes": 3}, "changes must be 1 to 2, not 3"),
        ({"slack": -1}, "slack must be 0 to 20, not -1"),
    ],
    "SortableList": [
        ({"items": 3}, "items must be 4 to 12, not 3"),
        ({"items": 13}, "items must be 4 to 12, not 13"),
        ({"order": "random"}, "order must be 'place', 'given' or 'rule', not 'random'"),
    ],
    "Stepper": [
        ({"counters": 9}, "counters must be 2 to 8, not 9"),
        ({"counters": 3, "changes": 4}, "changes must be 1 to 3, not 4"),
        ({"counters": 2, "party": 3}, "a party needs 3 to 8 counters, not 2"),
        ({"counters": 4, "party": 3, "changes": 2}, "changes must be 0 to 1, not 2"),
    ],
    "TableEdit": [
        ({"rows": 5}, "rows must be 6 to 80, not 5"),
        ({"changes": 7}, "changes must be 1 to 6, not 7"),
    ],
    "TableLookup": [
        ({"rows": 3}, "rows must be 4 to 80, not 3"),
        ({"columns": 9}, "columns must be 2 to 8, not 9"),
        ({"sheets": 0}, "sheets must be 1 to 3, not 0"),
        ({"cells": 5}, "cells must be 1 to 4, not 5"),
    ],
    "TableSortFilter": [
        ({"rows": 9}, "rows must be 10 to 100, not 9"),
        ({"conditions": 0}, "conditions must be 1 to 3, not 0"),
        ({"conditions": 4}, "conditions must be 1 to 3, not 4"),
    ],
    "TextFormat": [
        ({"sections": 7}, "sections must be 1 to 6, not 7"),
        ({"phrases": 0}, "phrases must be 1 to 4, not 0"),
        ({"words": 6}, "words must be 1 to 5, not 6"),
    ],
    "WizardMultiStep": [
        ({"detail": 0}, "detail must be 1 to 3, not 0"),
        ({"detail": 4}, "detail must be 1 to 3, not 4"),
        ({"detail": "all"}, "detail must be 1 to 3, not 'all'"),
    ],
}
REFUSED |= {
    spec.name: [*REFUSED.get(spec.name, []), ({"level": "rude"}, "has no level 'rude'")]
    for spec in families("browser")
    if spec.load().levels
}


@pytest.mark.parametrize(
    ("family", "given", "message"),
    [(family, *row) for family, rows in REFUSED.items() for row in rows],
)
def test_wrong_arguments_are_refused(family: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        make_task(f"UI/{family}-v0", given)
