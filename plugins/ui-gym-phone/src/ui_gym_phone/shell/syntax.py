"""The syntax tree of the shell: words made of parts, and commands made of words."""

from __future__ import annotations

from typing import NamedTuple


def may_glob(text: str) -> bool:
    """Whether an unquoted text is a pattern for paths."""
    return "*" in text or "?" in text or ("[" in text and "]" in text)


class ShellSyntaxError(Exception):
    """A line that is no shell. The message is what mksh says after the shell's name."""


# -- words --


class Literal(NamedTuple):
    """Text as it stands."""

    text: str
    quoted: bool


class Parameter(NamedTuple):
    """``$name`` or ``${name...}``.

    `operator` is one of ``- = ? +`` (with a colon where empty counts as unset), ``# ## % %%``,
    ``length``, or nothing.
    """

    name: str
    operator: str
    argument: Word | None
    quoted: bool


class Substitution(NamedTuple):
    """``$(...)`` or backquotes."""

    body: ShellNode
    quoted: bool


class Arithmetic(NamedTuple):
    """``$((...))``."""

    expression: Word
    quoted: bool


WordPart = Literal | Parameter | Substitution | Arithmetic


class Word(NamedTuple):
    """Parts without a space between them."""

    parts: tuple[WordPart, ...]
    constant: str | None
    """What it always expands to; None where that depends on anything."""
    bare: str | None
    """The text of a word that has no quotes and no expansions: only this can be a keyword."""


def make_word(parts: list[WordPart]) -> Word:
    """A word with what follows from its parts."""
    constant: str | None = None
    bare: str | None = None
    texts = [part for part in parts if isinstance(part, Literal)]
    if len(texts) == len(parts):
        open_text = "".join(part.text for part in texts if not part.quoted)
        if not may_glob(open_text) and not open_text.startswith("~"):
            constant = "".join(part.text for part in texts)
        if texts and not any(part.quoted for part in texts):
            bare = open_text
    return Word(tuple(parts), constant, bare)


# -- commands --


class Redirect(NamedTuple):
    """``FD OPERATOR TARGET``."""

    fd: int
    operator: str
    target: Word


class Simple(NamedTuple):
    """A command: ``NAME=VALUE`` pairs, then its name and arguments."""

    assignments: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]


class Redirected(NamedTuple):
    """A compound command with redirections."""

    body: ShellNode
    redirects: tuple[Redirect, ...]


class Pipeline(NamedTuple):
    """Commands of which each reads what the one before it wrote."""

    commands: tuple[ShellNode, ...]


class Negated(NamedTuple):
    """``! command``."""

    body: ShellNode


class AndOr(NamedTuple):
    """``first && second || third``."""

    first: ShellNode
    rest: tuple[tuple[str, ShellNode], ...]


class CommandList(NamedTuple):
    """Commands one after another."""

    items: tuple[ShellNode, ...]


class Subshell(NamedTuple):
    """``( ... )``, or in the `background` ``command &``."""

    body: ShellNode
    background: bool = False


class If(NamedTuple):
    """Conditions with what they lead to, and the ``else`` part."""

    arms: tuple[tuple[ShellNode, ShellNode], ...]
    otherwise: ShellNode | None


class For(NamedTuple):
    """``for name in words``."""

    name: str
    words: tuple[Word, ...]
    body: ShellNode


class Loop(NamedTuple):
    """``while``, or ``until``."""

    condition: ShellNode
    body: ShellNode
    until: bool


class Case(NamedTuple):
    """``case subject in``: patterns with what they lead to."""

    subject: Word
    arms: tuple[tuple[tuple[Word, ...], ShellNode], ...]


ShellNode = (
    Simple | Redirected | Pipeline | Negated | AndOr | CommandList | Subshell | If | For | Loop
    | Case
)  # fmt: skip
