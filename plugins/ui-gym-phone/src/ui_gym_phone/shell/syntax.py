"""The syntax tree of the shell: words made of parts, and commands made of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


def may_glob(text: str) -> bool:
    """Whether an unquoted text is a pattern for paths."""
    return "*" in text or "?" in text or ("[" in text and "]" in text)


class ShellSyntaxError(Exception):
    """A line that is no shell. The message is what mksh says after the shell's name."""

    position = 0
    """Where in the text it was found."""


class UnfinishedError(ShellSyntaxError):
    """The text ends in the middle of a command: more lines could make it one."""


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


class HereDocument:
    """The lines after a command that has ``<<DELIMITER``, which the lexer fills in when it comes to
    them. With `tabs` (``<<-``) those that lines begin with are dropped."""

    def __init__(self, delimiter: str, quoted: bool, tabs: bool) -> None:
        self.delimiter, self.quoted, self.tabs = delimiter, quoted, tabs
        self.body = make_word([])


class Redirect(NamedTuple):
    """``FD OPERATOR TARGET``; the text of ``<<`` comes from the document."""

    fd: int
    operator: str
    target: Word
    document: HereDocument | None = None


class Simple(NamedTuple):
    """A command: ``NAME=VALUE`` pairs, then its name and arguments."""

    assignments: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]


@dataclass(frozen=True)
class Redirected:
    """A compound command with redirections."""

    body: ShellNode
    redirects: tuple[Redirect, ...]


class Pipeline(NamedTuple):
    """Commands of which each reads what the one before it wrote."""

    commands: tuple[ShellNode, ...]


@dataclass(frozen=True)
class Negated:
    """``! command``."""

    body: ShellNode


class AndOr(NamedTuple):
    """``first && second || third``."""

    first: ShellNode
    rest: tuple[tuple[str, ShellNode], ...]


class CommandList(NamedTuple):
    """Commands one after another."""

    items: tuple[ShellNode, ...]


@dataclass(frozen=True)
class Subshell:
    """``( ... )``, or in the `background` ``command &``."""

    body: ShellNode
    background: bool = False


@dataclass(frozen=True)
class If:
    """Conditions with what they lead to, and the ``else`` part."""

    arms: tuple[tuple[ShellNode, ShellNode], ...]
    otherwise: ShellNode | None


@dataclass(frozen=True)
class For:
    """``for name in words``; without ``in``, the words are ``"$@"``."""

    name: str
    words: tuple[Word, ...]
    body: ShellNode


@dataclass(frozen=True)
class Loop:
    """``while``, or ``until``."""

    condition: ShellNode
    body: ShellNode
    until: bool


@dataclass(frozen=True)
class Case:
    """``case subject in``: patterns with what they lead to."""

    subject: Word
    arms: tuple[tuple[tuple[Word, ...], ShellNode], ...]


@dataclass(frozen=True)
class Function:
    """``name() command``: the definition, not a call."""

    name: str
    body: ShellNode


# Not all of them are tuples: of many that hold each other, mypy compares all with all for minutes.
ShellNode = (
    Simple | Redirected | Pipeline | Negated | AndOr | CommandList | Subshell | If | For | Loop
    | Case | Function
)  # fmt: skip
