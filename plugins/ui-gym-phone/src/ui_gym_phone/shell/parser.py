"""ShellParser: a shell line as a syntax tree, by recursive descent over POSIX' grammar.

What clients and people send is understood: lists, pipes, redirections, here-documents, subshells,
groups, functions, `if`, `for`, `while`, `until` and `case`. mksh's own extras are not.

A shell parses a command, runs it and only then looks at the next one: `next_command` does that from
a position on, and `parse` collects what a whole line or script has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ui_gym_phone.shell import syntax
from ui_gym_phone.shell.lexer import ShellLexer, ShellToken
from ui_gym_phone.shell.syntax import (
    HereDocument,
    Redirect,
    ShellNode,
    ShellSyntaxError,
    UnfinishedError,
    Word,
)

MAX_LINE = 131_072
"""Characters of a line: the longest argument that Linux takes (MAX_ARG_STRLEN)."""

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_REDIRECTS = frozenset(("<", ">", ">>", "<&", ">&", "&>", "<<", "<<-", "<<<"))
_CLOSING = frozenset(("then", "else", "elif", "fi", "do", "done", "esac", "}"))
_RESERVED = _CLOSING | {"{", "if", "for", "while", "until", "case"}
_CLOSED = re.compile(r"[ \t]*\)")
_NOTHING = syntax.CommandList(())


@dataclass(frozen=True)
class Parsed:
    """The commands of a text with the numbers of their last lines, up to what is no shell: that is
    the `error`, in this line."""

    commands: tuple[tuple[int, ShellNode], ...]
    error: ShellSyntaxError | None = None
    line: int = 1


@lru_cache(maxsize=2048)
def parse(source: str) -> Parsed:
    """The commands of a line or a script. What comes before an error is run, as shells do."""
    if len(source) > MAX_LINE:
        return Parsed((), ShellSyntaxError("Argument list too long"))
    found, position, line = list[tuple[int, ShellNode]](), 0, 0
    try:
        while (taken := next_command(source, position)) is not None:
            node, end = taken
            line += source.count("\n", position, end) + (not source.endswith("\n", position, end))
            found.append((line, node))
            position = end
    except ShellSyntaxError as error:
        return Parsed(tuple(found), error, line + 1 + source.count("\n", position, error.position))
    return Parsed(tuple(found))


def next_command(source: str, position: int) -> tuple[ShellNode, int] | None:
    """The command that begins at a position, or after the blank lines there, up to the end of its
    last line; with the position after that. None where there is nothing more.

    Raises:
        UnfinishedError: it may go on after the end of `source`.
        ShellSyntaxError: it is no command; the message is mksh's.
    """
    parser = ShellParser(source, position, 0)
    try:
        return parser.command_line()
    except ShellSyntaxError as error:
        error.position = parser.lexer.position
        raise


def _substitution(source: str, start: int, depth: int) -> tuple[ShellNode, int]:
    parser = ShellParser(source, start, depth)
    node = parser.sequence()
    parser.close(")", "(")
    parser.lexer.finish()
    return node, parser.lexer.position


class ShellParser:
    """Parses `source` from a position on; one token of look-ahead."""

    def __init__(self, source: str, position: int, depth: int) -> None:
        self.lexer = ShellLexer(source, position, _substitution, depth)
        self.lexer.deeper()
        self._token: ShellToken | None = None

    # -- tokens --

    @property
    def next(self) -> ShellToken:
        if self._token is None:
            self._token = self.lexer.next()
        return self._token

    def take(self) -> ShellToken:
        token = self.next
        self._token = None
        return token

    def accept(self, *texts: str) -> str:
        """Take one of these operators or, as words of their own, keywords, if it is next."""
        token = self._token or self.next
        if (token.word.bare if token.word is not None else token.text) not in texts:
            return ""
        self._token = None
        return token.text

    def unexpected(self) -> ShellSyntaxError:
        """What is next has no place there."""
        token = self.next
        if token.kind == "end":
            return UnfinishedError("syntax error: unexpected EOF")
        name = "newline" if token.kind == "newline" else token.text
        return ShellSyntaxError(f"syntax error: '{name}' unexpected")

    def close(self, text: str, opened: str) -> None:
        """Take what ends a compound, or a part of one, that `opened` began."""
        self._more(opened)
        if not self.accept(text):
            raise self.unexpected()

    def _more(self, opened: str) -> None:
        if self.next.kind == "end":
            raise UnfinishedError(f"syntax error: '{opened}' unmatched")

    def newlines(self) -> None:
        while self.next.kind == "newline":
            self.take()

    # -- lists --

    def command_line(self) -> tuple[ShellNode, int] | None:
        """As `next_command`."""
        self.newlines()
        if self.next.kind == "end":
            return None
        items = list[ShellNode]()
        while self.next.kind not in ("newline", "end"):
            if self.at_end_of_list():
                raise self.unexpected()
            item, parted = self.item()
            items.append(item)
            if not parted and self.next.kind not in ("newline", "end"):
                raise self.unexpected()
        self.lexer.finish()
        node = items[0] if len(items) == 1 else syntax.CommandList(tuple(items))
        return node, self.lexer.position

    def sequence(self) -> ShellNode:
        """Commands up to what cannot begin one."""
        items = list[ShellNode]()
        self.newlines()
        while not self.at_end_of_list():
            node, parted = self.item()
            items.append(node)
            if not parted and self.next.kind != "newline":
                break
            self.newlines()
        return items[0] if len(items) == 1 else syntax.CommandList(tuple(items))

    def item(self) -> tuple[ShellNode, bool]:
        """What a list is made of, and whether a ``;`` or ``&`` follows, which is taken."""
        node = self._and_or()
        if self.accept("&"):
            return syntax.Subshell(node, background=True), True
        return node, bool(self.accept(";"))

    def at_end_of_list(self) -> bool:
        """Whether what is next cannot begin a command."""
        token = self.next
        if token.kind == "operator":
            return token.text in (")", ";;")
        return token.kind == "end" or bool(token.word and token.word.bare in _CLOSING)

    def _body(self, opened: str) -> ShellNode:
        """A list that may not be empty."""
        node = self.sequence()
        if node == _NOTHING:
            self._more(opened)
            raise self.unexpected()
        return node

    def _and_or(self) -> ShellNode:
        first = self._pipeline()
        rest = list[tuple[str, ShellNode]]()
        while operator := self.accept("&&", "||"):
            self.newlines()
            rest.append((operator, self._pipeline()))
        return syntax.AndOr(first, tuple(rest)) if rest else first

    def _pipeline(self) -> ShellNode:
        negated = False
        while self.accept("!"):
            negated = not negated
        commands = [self._command()]
        while self.accept("|"):
            self.newlines()
            commands.append(self._command())
        node = commands[0] if len(commands) == 1 else syntax.Pipeline(tuple(commands))
        return syntax.Negated(node) if negated else node

    # -- commands --

    def _command(self) -> ShellNode:
        self.lexer.deeper()
        node = self._compound()
        if node is None:
            node = self._simple()
        else:
            redirects = list[Redirect]()
            while (redirect := self._redirect()) is not None:
                redirects.append(redirect)
            node = syntax.Redirected(node, tuple(redirects)) if redirects else node
        self.lexer.depth -= 1
        return node

    def _compound(self) -> ShellNode | None:
        word = self.next.word
        if word is not None and word.bare not in _RESERVED:
            return None
        opened = self.accept("(", "{", "if", "for", "while", "until", "case")
        if opened == "(":
            body = self._body("(")
            self.close(")", "(")
            return syntax.Subshell(body)
        if opened == "{":
            body = self._body("{")
            self.close("}", "{")
            return syntax.CommandList((body,))
        if opened in ("while", "until"):
            condition = self._body(opened)
            return syntax.Loop(condition, self._do(opened), opened == "until")
        if opened:
            return {"if": self._if, "for": self._for, "case": self._case}[opened]()
        if word is not None:
            raise self.unexpected()
        return None

    def _if(self) -> ShellNode:
        arms = list[tuple[ShellNode, ShellNode]]()
        while not arms or self.accept("elif"):
            condition = self._body("if")
            self.close("then", "if")
            arms.append((condition, self._body("then")))
        otherwise = self._body("else") if self.accept("else") else None
        self.close("fi", "if" if otherwise is None else "else")
        return syntax.If(tuple(arms), otherwise)

    def _for(self) -> ShellNode:
        name = self.next.word.bare if self.next.word else None
        if name is None or not _NAME.fullmatch(name):
            raise self.unexpected()
        self.take()
        self.newlines()
        self._more("for")
        words = list[Word]()
        if self.accept("in"):
            while (word := self.next.word) is not None:
                words.append(word)
                self.take()
            self._more("for")
            if not self.accept(";") and self.next.kind != "newline":
                raise self.unexpected()
        else:
            words.append(_PARAMETERS)
            self.accept(";")
        self.newlines()
        return syntax.For(name, tuple(words), self._do("for"))

    def _do(self, opened: str) -> ShellNode:
        self.close("do", opened)
        body = self._body("do")
        self.close("done", "do")
        return body

    def _case(self) -> ShellNode:
        subject = self._word("case")
        self.newlines()
        self.close("in", "case")
        arms = list[tuple[tuple[Word, ...], ShellNode]]()
        self.newlines()
        while not self.accept("esac"):
            self.accept("(")
            patterns = [self._word("case")]
            while self.accept("|"):
                patterns.append(self._word("case"))
            self.close(")", "case")
            arms.append((tuple(patterns), self.sequence()))
            if not self.accept(";;"):
                self.close("esac", "case")
                break
            self.newlines()
        return syntax.Case(subject, tuple(arms))

    def _word(self, opened: str) -> Word:
        self._more(opened)
        word = self.next.word
        if word is None:
            raise self.unexpected()
        self.take()
        return word

    def _brackets_close(self) -> bool:
        """Whether nothing stands between the bracket that is next and the one that closes it."""
        return bool(_CLOSED.match(self.lexer.source, self.lexer.position))

    def _function(self, name: Word) -> ShellNode:
        """The rest of ``name() command``."""
        self.close(")", "(")
        self.newlines()
        self._more("(")
        if name.bare is None or not _NAME.fullmatch(name.bare):
            raise ShellSyntaxError(f"{name.bare or ''}: invalid function name")
        body = self._command()
        return syntax.Function(name.bare, body)

    def _simple(self) -> ShellNode:
        assignments, words = list[tuple[str, Word]](), list[Word]()
        redirects = list[Redirect]()
        while True:
            word = self.next.word  # by far the most are words
            if word is None:
                redirect = self._redirect()
                if redirect is None:
                    break
                redirects.append(redirect)
                continue
            self._token = None
            assignment = None if words else _assignment(word)
            if assignment is not None:
                assignments.append(assignment)
            else:
                words.append(word)
                first = len(words) == 1 and not assignments and not redirects
                if first and self.next.text == "(" and self._brackets_close():
                    self.take()
                    return self._function(word)
        if not assignments and not words and not redirects:
            raise self.unexpected()
        return syntax.Simple(tuple(assignments), tuple(words), tuple(redirects))

    def _redirect(self) -> Redirect | None:
        number = self.take().text if self.next.kind == "number" else ""
        operator = self.accept(*_REDIRECTS)
        if not operator:
            if number:
                raise self.unexpected()
            return None
        target = self.next.word
        if target is None:
            raise self.unexpected()
        self.take()
        document = None
        if operator in ("<<", "<<-"):
            text = "".join(part.text for part in target.parts if isinstance(part, syntax.Literal))
            quoted = any(getattr(part, "quoted", False) for part in target.parts)
            document = HereDocument(text, quoted, operator == "<<-")
            self.lexer.documents.append(document)
        return Redirect(int(number or operator[0] != "<"), operator, target, document)


_PARAMETERS = syntax.make_word([syntax.Parameter("@", "", None, True)])
"""``"$@"``."""


def _assignment(word: Word) -> tuple[str, Word] | None:
    """(name, value) of a word that is ``name=value``."""
    first = word.parts[0] if word.parts else None
    if not isinstance(first, syntax.Literal) or first.quoted:
        return None
    found = _ASSIGNMENT.match(first.text)
    if found is None:
        return None
    rest = first.text[found.end() :]
    begin = [syntax.Literal(rest, False)] if rest else []
    return found[1], syntax.make_word([*begin, *word.parts[1:]])
