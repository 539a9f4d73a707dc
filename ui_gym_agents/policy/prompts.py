"""From a `View` to chat messages: goal, the last pictures, and the words of older turns."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

from ui_gym import extras
from ui_gym.errors import UserError, nearest
from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import Turn

Message = dict[str, Any]
"""``{"role": ..., "content": [{"type": "text", "text": ...} | {"type": "image"}, ...]}``."""

FILE = "prompt.json"
BUILDER = "builder"
"""What `FILE` names where a class of somebody's own made the prompts."""
KINDS = ("auto", "bare", "full")
"""What `policy.prompt` may say beside ``module:Class``."""

SYSTEM = (
    "You operate a computer or phone by looking at screenshots. "
    "In each turn you see the present screen and answer with what to do next."
)


TEXT_SYSTEM = (
    "You operate a computer or phone by reading the list of elements on its screen. "
    "In each turn you see the present list and answer with what to do next."
)
"""What stands for `SYSTEM` where there are no pictures."""


@dataclass(frozen=True)
class PromptBuilder:
    """How a view is put into words and pictures.

    `dialect_prompt` is the dialect's own paragraph, which teaches how actions are written.
    `history` is how many pictures are shown, the present one included (without pictures: how many
    lists of elements); their turns are told as a conversation. Of the turns before those only the
    text is told, of the last `recall` ones. A prompt of turn n + 1 extends the prompt of turn n as
    long as no picture leaves the window, so that an episode can be learned from as one sequence,
    and sampling computes what is new alone. Where there are more pictures than `history`, `drop` of
    them leave at once, and the window then grows again: with 1 it slides, and no prompt extends
    another; with 5 of 15, four of five do, and 11 to 15 pictures are shown.
    """

    dialect_prompt: str = ""
    history: int = 1
    recall: int = 8
    system: str = SYSTEM
    feedback: bool = True
    elements: bool = True
    drop: int = 1

    def __post_init__(self) -> None:
        if self.history < 1:
            raise UserError(f"a prompt shows one picture or more: history is {self.history}")
        if not 1 <= self.drop <= self.history:
            raise UserError(
                f"of {self.history} pictures (history), 1 to {self.history} can leave at once: "
                f"drop is {self.drop}"
            )

    @classmethod
    def bare(cls) -> PromptBuilder:
        """The goal and the present picture, nothing else: all that a tiny model reads."""
        return cls(system="", recall=0, feedback=False, elements=False)

    @classmethod
    def of(cls, folder: Path) -> Self | None:
        """How the model of `folder` was trained to be asked, where its ``prompt.json`` says so."""
        path = folder / FILE
        if not path.is_file():
            return None
        try:
            told = json.loads(path.read_text())
            # What a folder of data names is not imported: a person says it.
            if own := told.pop(BUILDER, None):
                raise UserError(
                    f"this model was trained to be asked by a prompt of one's own, as {path} says: "
                    f"take it by policy.prompt {own}, or another one on purpose"
                )
            return cls(**told)
        except (ValueError, TypeError) as error:
            known = ", ".join(field.name for field in fields(cls))
            raise UserError(f"{path} is not to be read: {error}. It may hold {known}") from None

    def save(self, folder: Path) -> None:
        """Write ``prompt.json`` beside a model's weights; it names a class of one's own."""
        told = asdict(self)
        if type(self) is not PromptBuilder:
            told[BUILDER] = f"{type(self).__module__}:{type(self).__qualname__}"
        (folder / FILE).write_text(json.dumps(told, indent=1) + "\n")

    def build(self, view: View) -> tuple[list[Message], int]:
        """The messages, and how many of the view's last pictures they show."""
        image = bool(view.screenshots)
        inside = self._shown(len(view.screenshots) if image else len(view.turns) + 1) - 1
        older = list(view.turns[: len(view.turns) - inside])
        recent = list(view.turns[len(view.turns) - inside :])
        messages: list[Message] = []
        opener = self.system if image or self.system != SYSTEM else TEXT_SYSTEM
        system = "\n\n".join(part for part in (opener, self.dialect_prompt) if part)
        if system:
            messages.append(_message("system", system))
        opening = view.goal + self._recalled(older)
        for turn in recent:
            messages.append(_message("user", opening + self._elements(turn.elements), image=image))
            messages.append(_message("assistant", turn.action_text))
            opening = self._feedback(turn.feedback)
        if not recent:
            opening += self._feedback(view.feedback, "\n\n")
        messages.append(_message("user", opening + self._elements(view.elements), image=image))
        return messages, inside + 1 if image else 0

    def _shown(self, count: int) -> int:
        """How many of `count` pictures are shown."""
        over = count - self.history
        return count if over <= 0 else self.history - self.drop + 1 + (over - 1) % self.drop

    def _recalled(self, older: list[Turn]) -> str:
        kept = older[len(older) - self.recall :] if self.recall < len(older) else older
        if not kept or not self.recall:
            return ""
        first = len(older) - len(kept) + 1
        lines = [f"{first + i}. {turn.action_text.strip()}" for i, turn in enumerate(kept)]
        return "\n\nYour steps so far:\n" + "\n".join(lines)

    def _feedback(self, feedback: str, before: str = "") -> str:
        return f"{before}{feedback}" if self.feedback and feedback else ""

    def _elements(self, elements: str) -> str:
        return f"\n\nElements on the screen:\n{elements}" if self.elements and elements else ""


def builder_class(name: str) -> type[PromptBuilder]:
    """A user's own class of prompts, by ``module:Class``.

    Raises:
        UserError: it is not there, or no class derived from `PromptBuilder`.
    """
    if ":" not in name:
        raise UserError(
            f"there is no prompt {name!r}. {nearest(name, KINDS)} Your own is named as module:Class"
        )
    found = extras.named(f"the prompt {name!r}", name, UserError)
    if not (isinstance(found, type) and issubclass(found, PromptBuilder)):
        raise UserError(
            f"the prompt {name!r} is {found!r}, and no class derived from "
            "ui_gym_agents.PromptBuilder"
        )
    return found


def _message(role: str, text: str, *, image: bool = False) -> Message:
    content: list[dict[str, str]] = []
    if text:
        content.append({"type": "text", "text": text})
    if image:
        content.append({"type": "image"})
    return {"role": role, "content": content}
