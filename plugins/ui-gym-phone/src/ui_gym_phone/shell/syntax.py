"""The syntax tree of the mini shell: words made of parts, and commands made of words."""

from __future__ import annotations

from dataclasses import dataclass, field


def may_glob(text: str) -> bool:
    """Whether an unquoted text is a pattern for paths."""
    return "*" in text or "?" in text or ("[" in text and "]" in text)


class ShellSyntaxError(Exception):
    """A line that is no shell. The message is what mksh says after the shell's name."""


# -- words --


@dataclass(frozen=True, slots=True)
class Literal:
    """Text as it stands."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """``$name`` or ``${name...}``.

    `operator` is one of ``- = ? +`` (with a colon where empty counts as unset), ``# ## % %%``,
    ``/ //``, ``:`` (a slice), ``length``, or nothing.
    """

    name: str
    operator: str
    argument: Word | None
    second: Word | None
    quoted: bool


@dataclass(frozen=True, slots=True)
class Substitution:
    """``$(...)`` or backquotes."""

    body: Node
    quoted: bool


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``$((...))``."""

    expression: Word
    quoted: bool


Part = Literal | Parameter | Substitution | Arithmetic


@dataclass(frozen=True, slots=True)
class Word:
    """Parts without a space between them."""

    parts: tuple[Part, ...]
    constant: str | None
    """What it always expands to; None where that depends on anything."""
    bare: str | None
    """The text of a word that has no quotes and no expansions: only this can be a keyword."""


def make_word(parts: list[Part]) -> Word:
    """A word with what follows from its parts."""
    constant: str | None = None
    bare: str | None = None
    if all(isinstance(part, Literal) for part in parts):
        texts = [part for part in parts if isinstance(part, Literal)]
        open_text = "".join(part.text for part in texts if not part.quoted)
        if not may_glob(open_text) and not open_text.startswith("~"):
            constant = "".join(part.text for part in texts)
        if texts and not any(part.quoted for part in texts):
            bare = open_text
    return Word(tuple(parts), constant, bare)


# -- commands --


@dataclass(slots=True)
class Redirect:
    """``FD OPERATOR TARGET``; a here-document's text is its target, filled in after the line."""

    fd: int
    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class Assignment:
    """``NAME=VALUE`` or ``NAME+=VALUE``."""

    name: str
    append: bool
    value: Word


@dataclass(frozen=True, slots=True)
class Simple:
    """A command with its arguments."""

    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands of which each reads what the one before it wrote."""

    commands: tuple[Node, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class AndOr:
    """``first && second || third``."""

    first: Node
    rest: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Background:
    """``command &``."""

    body: Node


@dataclass(frozen=True, slots=True)
class Sequence:
    """Commands one after another."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Subshell:
    """``( ... )``."""

    body: Node


@dataclass(frozen=True, slots=True)
class If:
    """Conditions with what they lead to, and the ``else`` part."""

    arms: tuple[tuple[Node, Node], ...]
    otherwise: Node | None


@dataclass(frozen=True, slots=True)
class For:
    """``for name in words``; without words it goes over the positional parameters."""

    name: str
    words: tuple[Word, ...] | None
    body: Node


@dataclass(frozen=True, slots=True)
class Loop:
    """``while``, or ``until``."""

    condition: Node
    body: Node
    until: bool


@dataclass(frozen=True, slots=True)
class Case:
    """``case subject in``: patterns with what they lead to."""

    subject: Word
    arms: tuple[tuple[tuple[Word, ...], Node], ...]


@dataclass(frozen=True, slots=True)
class Function:
    """``name() { ... }``."""

    name: str
    body: Node


@dataclass(frozen=True, slots=True)
class Condition:
    """``[[ ... ]]``: a tree of ``(operator, operands)``."""

    tree: Expression


@dataclass(frozen=True, slots=True)
class Expression:
    """A node of a condition. `operator` is ``! && ||``, a unary or a binary test, or ``-n``."""

    operator: str
    operands: tuple[Expression | Word, ...]


@dataclass(frozen=True, slots=True)
class Calculation:
    """``(( ... ))``."""

    expression: Word


@dataclass(frozen=True, slots=True)
class Redirected:
    """A compound command with redirections."""

    body: Node
    redirects: tuple[Redirect, ...] = field(default=())


Node = (
    Simple | Pipeline | AndOr | Background | Sequence | Subshell | If | For | Loop | Case
    | Function | Condition | Calculation | Redirected
)  # fmt: skip
