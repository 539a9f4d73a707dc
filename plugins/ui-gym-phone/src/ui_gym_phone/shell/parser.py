"""ShellParser: a shell line as a syntax tree, by recursive descent over POSIX' grammar.

What clients and people send is understood: lists, pipes, redirections, subshells, groups, `if`,
`for`, `while`, `until` and `case`. Functions, here-documents and mksh's own extras are not.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ui_gym_phone.shell import syntax
from ui_gym_phone.shell.lexer import ShellLexer, ShellToken
from ui_gym_phone.shell.syntax import Redirect, ShellNode, ShellSyntaxError, Word

MAX_LINE = 131_072
"""Characters of a line: the longest argument that Linux takes (MAX_ARG_STRLEN)."""

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_REDIRECTS = frozenset(("<", ">", ">>", "<&", ">&", "&>"))
_CLOSING = frozenset(("then", "else", "elif", "fi", "do", "done", "esac", "}"))
_NOTHING = syntax.CommandList(())


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
    if parser.next.kind != "end":
        raise parser.unexpected()
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
        token = self.next
        bare = token.word.bare if token.word else None
        if (token.text if token.kind == "operator" else bare) not in texts:
            return ""
        return self.take().text

    def unexpected(self) -> ShellSyntaxError:
        """What is next has no place there."""
        token = self.next
        if token.kind == "end":
            return ShellSyntaxError("syntax error: unexpected EOF")
        name = "newline" if token.kind == "newline" else token.text
        return ShellSyntaxError(f"syntax error: '{name}' unexpected")

    def close(self, text: str, opened: str) -> None:
        """Take what ends a compound, or a part of one, that `opened` began."""
        self._more(opened)
        if not self.accept(text):
            raise self.unexpected()

    def _more(self, opened: str) -> None:
        if self.next.kind == "end":
            raise ShellSyntaxError(f"syntax error: '{opened}' unmatched")

    def newlines(self) -> None:
        while self.next.kind == "newline":
            self.take()

    # -- lists --

    def sequence(self) -> ShellNode:
        """Commands up to what cannot begin one."""
        items = list[ShellNode]()
        self.newlines()
        while not self._at_end_of_list():
            node = self._and_or()
            if self.accept("&"):
                node = syntax.Subshell(node, background=True)
            elif not self.accept(";") and self.next.kind != "newline":
                items.append(node)
                break
            items.append(node)
            self.newlines()
        return items[0] if len(items) == 1 else syntax.CommandList(tuple(items))

    def _at_end_of_list(self) -> bool:
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
        if self.next.word and self.next.word.bare in _CLOSING:
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
        self.close("in", "for")
        words = list[Word]()
        while (word := self.next.word) is not None:
            words.append(word)
            self.take()
        if not self.accept(";") and self.next.kind != "newline":
            raise self.unexpected()
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

    def _simple(self) -> ShellNode:
        assignments, words = list[tuple[str, Word]](), list[Word]()
        redirects = list[Redirect]()
        while True:
            if (redirect := self._redirect()) is not None:
                redirects.append(redirect)
                continue
            word = self.next.word
            if word is None:
                break
            self.take()
            assignment = None if words else _assignment(word)
            if assignment is not None:
                assignments.append(assignment)
            else:
                words.append(word)
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
        return Redirect(int(number or operator[0] != "<"), operator, target)


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
