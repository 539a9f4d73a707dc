"""CompactDesktopTask: a task that has a compact form as well, which a tiny model can read."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Sequence
from typing import ClassVar, TypeVar

from ui_gym.desktop import compact as small
from ui_gym.desktop.content import words
from ui_gym.desktop.device import SessionSpec
from ui_gym.desktop.task import DesktopTask
from ui_gym.errors import UserError

P = TypeVar("P")

NAMES: tuple[str, ...] = tuple(name for name in words.LISTED if len(name) <= 5)
"""What files and lines are called in compact forms: what a goal names stands so on the screen."""

PLACES: tuple[str, ...] = tuple(name for name in words.FOLDERS if len(name) <= 6)
"""What folders are called there."""


class CompactDesktopTask(DesktopTask[P]):
    """A desktop task with the argument `compact`, by which it is played on a screen of
    `ui_gym.desktop.compact.SIZE`.

    Comes before the task's other bases. A subclass draws less where `compact` is true, and has an
    oracle for it, who says what stands on the screen there.
    """

    compact_goals: ClassVar[Sequence[str]] = ()
    """As `goals`, in few words; none, of a task made from another that has no compact form."""
    compact_mistakes: ClassVar[tuple[str, ...] | None] = None
    """Those of `mistakes` that can be made there; None: all."""
    compact_steps: int
    """Actions that its oracle needs there; it has twice as many."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        taken = inspect.signature(cls.__init__).parameters.values()
        shown = [one for one in taken if one.name not in cls._hidden()]
        cls.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]

    @classmethod
    def _hidden(cls) -> Sequence[str]:
        return ("self",) if cls.compact_goals else ("self", "compact")

    def __init__(self, *, compact: bool = False) -> None:
        self.compact = self.check_flag("compact", compact)
        if not compact:
            return
        if not self.compact_goals:
            raise UserError(f"{self.spec.name} has no compact form")
        self.viewport = small.SIZE
        self.max_steps = 2 * self.compact_steps
        self.goals = self.compact_goals
        if self.compact_mistakes is not None:
            self.mistakes = self.compact_mistakes

    def session(self, params: P) -> SessionSpec:
        return self.in_form(super().session(params))

    def in_form(self, usual: SessionSpec) -> SessionSpec:
        """That session with the settings of the form that is played; for a task that has `session`
        itself."""
        if not self.compact:
            return usual
        return dataclasses.replace(usual, files={**usual.files, **small.settings()})
