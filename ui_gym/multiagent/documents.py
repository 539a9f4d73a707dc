"""Which documents teams work on, by name."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from typing import Any

from ui_gym.contract.arguments import choose
from ui_gym.errors import UserError, nearest
from ui_gym.multiagent.checklist import SharedChecklist
from ui_gym.multiagent.kanban import SharedKanban
from ui_gym.multiagent.order import SharedOrder
from ui_gym.multiagent.sheet import SharedSheet
from ui_gym.multiagent.task import TeamTask

DOCUMENTS: dict[str, type[TeamTask[Any]]] = {
    "kanban": SharedKanban,
    "sheet": SharedSheet,
    "order": SharedOrder,
}
"""The documents of `SharedBoard`."""

COMPACT: dict[str, type[TeamTask[Any]]] = {"kanban": SharedChecklist}
"""Their forms that a model of a million parameters can read."""


def make_team_task(
    document: str | TeamTask[Any], compact: bool, env_arguments: Sequence[str], **arguments: Any
) -> TeamTask[Any]:
    """The task of a document's name, or a copy of a task; `env_arguments` are for hints.

    Raises:
        UserError: there is no such document, or it takes no such argument.
    """
    if isinstance(document, TeamTask):
        return copy.copy(document)
    choose(document, tuple(DOCUMENTS), "document")
    if compact and document not in COMPACT:
        raise UserError(
            f"the document {document!r} has no compact form; {' and '.join(COMPACT)} has"
        )
    made = (COMPACT if compact else DOCUMENTS)[document]
    known = list(inspect.signature(made).parameters)
    for name in arguments:
        if name not in known:
            hint = nearest(name, [*known, *env_arguments])
            raise UserError(f"{made.name} takes no argument {name!r}. {hint}")
    return made(**arguments)
