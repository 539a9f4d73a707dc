"""ShellParser: a shell line as a syntax tree, by recursive descent over POSIX' grammar.

What clients and people send is understood: lists, pipes, redirections, subshells, groups, `if`,
`for`, `while`, `until` and `case`. Functions, here-documents and mksh's own extras are not.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ui_gym_phone.shell.lexer import ShellLexer, ShellToken
from ui_gym_phone.shell.syntax import (
    AndOr,
    Background,
    Case,
    CommandList,
    For,
    If,
    Literal,
    Loop,
    Pipeline,
    Redirect,
    Redirected,
    ShellNode,
    ShellSyntaxError,
    Simple,
    Subshell,
    Word,
    make_word,
)

MAX_LINE = 131_072
"""Characters of a line: the longest argument that Linux takes (MAX_ARG_STRLEN)."""

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_REDIRECTS = frozenset(("<", ">", ">>", "<&", ">&", "&>"))
_CLOSING = frozenset(("then", "else", "elif", "fi", "do", "done", "esac", "}"))


@lru_cache(maxsize=2048)
def parse(source: str) -> ShellNode:
    """The commands of a line or a script.

    Raises:
        ShellSyntaxError: it is none; the message is mksh's.
    """
    if len(source) > MAX_LINE:
        raise ShellSyntaxError("Argument list too long")
    parser = ShellParser(source, 0, 0)
    node = parser.sequence()
    parser.require("end")
    return node


def _substitution(source: str, start: int, depth: int) -> tuple[ShellNode, int]:
    parser = ShellParser(source, start, depth)
    node = parser.sequence()
    parser.close(")", "(")
    return node, parser.lexer.position


class ShellParser:
    """Parses `source` from a position on; one token of look-ahead."""

    def __init__(self, source: str, position: int, depth: int) -> None:
        self.lexer = ShellLexer(source, position, _substitution, depth)
        self.lexer.deeper()
        self._token: ShellToken | None = None

    # -- tokens --

    def peek(self) -> ShellToken:
        if self._token is None:
            self._token = self.lexer.next()
        return self._token

    def take(self) -> ShellToken:
        token = self.peek()
        self._token = None
        return token

    def at(self, *texts: str) -> bool:
        """Whether an operator or, as a word of its own, a keyword is next."""
        token = self.peek()
        if token.kind == "operator":
            return token.text in texts
        return token.word is not None and token.word.bare in texts

    def accept(self, text: str) -> bool:
        if self.at(text):
            self.take()
            return True
        return False

    def require(self, kind: str) -> ShellToken:
        token = self.take()
        if token.kind != kind:
            raise _unexpected(token)
        return token

    def close(self, text: str, opened: str) -> None:
        """Take what ends a compound that `opened` began."""
        if self.peek().kind == "end":
            raise ShellSyntaxError(f"syntax error: '{opened}' unmatched")
        if not self.accept(text):
            raise _unexpected(self.peek())

    def newlines(self) -> None:
        while self.peek().kind == "newline":
            self.take()

    # -- lists --

    def sequence(self) -> ShellNode:
        """Commands up to what cannot begin one."""
        items = list[ShellNode]()
        self.newlines()
        while not self._at_end_of_list():
            node = self.and_or()
            if self.accept("&"):
                node = Background(node)
            elif not self.accept(";") and self.peek().kind != "newline":
                items.append(node)
                break
            items.append(node)
            self.newlines()
        return items[0] if len(items) == 1 else CommandList(tuple(items))

    def _at_end_of_list(self) -> bool:
        token = self.peek()
        if token.kind == "operator":
            return token.text in (")", ";;")
        return token.kind == "end" or bool(token.word and token.word.bare in _CLOSING)

    def body(self, opened: str) -> ShellNode:
        """A list that may not be empty."""
        node = self.sequence()
        if isinstance(node, CommandList) and not node.items:
            if self.peek().kind == "end":
                raise ShellSyntaxError(f"syntax error: '{opened}' unmatched")
            raise _unexpected(self.peek())
        return node

    def and_or(self) -> ShellNode:
        first = self.pipeline()
        rest = list[tuple[str, ShellNode]]()
        while self.at("&&", "||"):
            operator = self.take().text
            self.newlines()
            rest.append((operator, self.pipeline()))
        return AndOr(first, tuple(rest)) if rest else first

    def pipeline(self) -> ShellNode:
        negated = False
        while self.accept("!"):
            negated = not negated
        commands = [self.command()]
        while self.accept("|"):
            self.newlines()
            commands.append(self.command())
        if len(commands) == 1 and not negated:
            return commands[0]
        return Pipeline(tuple(commands), negated)

    # -- commands --

    def command(self) -> ShellNode:
        self.lexer.deeper()
        node = self._compound()
        if node is None:
            node = self._simple()
        else:
            redirects = list[Redirect]()
            while (redirect := self._redirect()) is not None:
                redirects.append(redirect)
            if redirects:
                node = Redirected(node, tuple(redirects))
        self.lexer.depth -= 1
        return node

    def _compound(self) -> ShellNode | None:
        token = self.peek()
        if self.accept("("):
            body = self.body("(")
            self.close(")", "(")
            return Subshell(body)
        keyword = (token.word.bare if token.word else None) or ""
        reader = {
            "{": self._group, "if": self._if, "for": self._for, "while": self._loop,
            "until": self._loop, "case": self._case,
        }.get(keyword)  # fmt: skip
        if reader is not None:
            self.take()
            return reader(keyword)
        if keyword in _CLOSING:
            raise _unexpected(token)
        return None

    def _group(self, keyword: str) -> ShellNode:
        body = self.body("{")
        self.close("}", "{")
        return CommandList((body,))

    def _if(self, keyword: str) -> ShellNode:
        arms, otherwise = list[tuple[ShellNode, ShellNode]](), None
        while True:
            condition = self.body("if")
            self.close("then", "if")
            arms.append((condition, self.body("then")))
            if not self.accept("elif"):
                break
        if self.accept("else"):
            otherwise = self.body("else")
        self.close("fi", "if" if otherwise is None else "else")
        return If(tuple(arms), otherwise)

    def _for(self, keyword: str) -> ShellNode:
        token = self.take()
        name = token.word.bare if token.word else None
        if name is None or not _NAME.fullmatch(name):
            raise _unexpected(token)
        self.newlines()
        self.close("in", "for")
        words = list[Word]()
        while (word := self.peek().word) is not None:
            words.append(word)
            self.take()
        if not self.accept(";") and self.peek().kind != "newline":
            raise _unexpected(self.peek())
        self.newlines()
        return For(name, tuple(words), self._do("for"))

    def _loop(self, keyword: str) -> ShellNode:
        condition = self.body(keyword)
        return Loop(condition, self._do(keyword), keyword == "until")

    def _do(self, opened: str) -> ShellNode:
        self.close("do", opened)
        body = self.body("do")
        self.close("done", "do")
        return body

    def _case(self, keyword: str) -> ShellNode:
        subject = self._word("case")
        self.newlines()
        self.close("in", "case")
        arms = list[tuple[tuple[Word, ...], ShellNode]]()
        self.newlines()
        while not self.at("esac"):
            self.accept("(")
            patterns = [self._word("case")]
            while self.accept("|"):
                patterns.append(self._word("case"))
            self.close(")", "case")
            arms.append((tuple(patterns), self.sequence()))
            if not self.accept(";;"):
                break
            self.newlines()
        self.close("esac", "case")
        return Case(subject, tuple(arms))

    def _word(self, opened: str) -> Word:
        if self.peek().kind == "end":
            raise ShellSyntaxError(f"syntax error: '{opened}' unmatched")
        word = self.require("word").word
        assert word is not None, "a token of that kind has one"
        return word

    def _simple(self) -> ShellNode:
        assignments, words = list[tuple[str, Word]](), list[Word]()
        redirects = list[Redirect]()
        while True:
            if (redirect := self._redirect()) is not None:
                redirects.append(redirect)
                continue
            word = self.peek().word
            if word is None:
                break
            self.take()
            assignment = None if words else _assignment(word)
            if assignment is not None:
                assignments.append(assignment)
            else:
                words.append(word)
        if not assignments and not words and not redirects:
            raise _unexpected(self.peek())
        return Simple(tuple(assignments), tuple(words), tuple(redirects))

    def _redirect(self) -> Redirect | None:
        fd: int | None = None
        if self.peek().kind == "number":
            fd = int(self.take().text)
        operator = self.peek()
        if operator.kind != "operator" or operator.text not in _REDIRECTS:
            if fd is not None:
                raise _unexpected(operator)
            return None
        self.take()
        target = self.take()
        if target.word is None:
            raise _unexpected(target)
        if fd is None:
            fd = 0 if operator.text[0] == "<" else 1
        return Redirect(fd, operator.text, target.word)


def _assignment(word: Word) -> tuple[str, Word] | None:
    """(name, value) of a word that is ``name=value``."""
    first = word.parts[0] if word.parts else None
    if not isinstance(first, Literal) or first.quoted:
        return None
    found = _ASSIGNMENT.match(first.text)
    if found is None:
        return None
    rest = first.text[found.end() :]
    return found[1], make_word(([Literal(rest, False)] if rest else []) + list(word.parts[1:]))


def _unexpected(token: ShellToken) -> ShellSyntaxError:
    if token.kind == "end":
        return ShellSyntaxError("syntax error: unexpected EOF")
    name = "newline" if token.kind == "newline" else token.text
    return ShellSyntaxError(f"syntax error: '{name}' unexpected")
