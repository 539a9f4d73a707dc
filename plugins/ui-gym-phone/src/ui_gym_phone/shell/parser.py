"""Parser: a shell line as a syntax tree, by recursive descent over the grammar of POSIX' shell."""

from __future__ import annotations

import re
from functools import lru_cache

from ui_gym_phone.shell.braces import expand_braces
from ui_gym_phone.shell.lexer import Lexer, Token
from ui_gym_phone.shell.syntax import (
    AndOr,
    Assignment,
    Background,
    Calculation,
    Case,
    Condition,
    Expression,
    For,
    Function,
    If,
    Literal,
    Loop,
    Node,
    Part,
    Pipeline,
    Redirect,
    Redirected,
    Sequence,
    ShellSyntaxError,
    Simple,
    Subshell,
    Word,
    make_word,
)  # fmt: skip

MAX_LINE = 131_072
"""Characters of a line: the longest argument that Linux takes (MAX_ARG_STRLEN)."""

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_REDIRECTS = frozenset(("<", ">", ">>", ">|", "<>", "<&", ">&", "&>", "<<", "<<-", "<<<"))
_CLOSING = frozenset(("then", "else", "elif", "fi", "do", "done", "esac", "}"))
_UNARY = frozenset("-" + letter for letter in "abcdefghknoprstuwxzGLOS")
_BINARY = frozenset(
    ("=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef")
)


@lru_cache(maxsize=2048)
def parse(source: str) -> Node:
    """The commands of a line or a script.

    Raises:
        ShellSyntaxError: it is none; the message is mksh's.
    """
    if len(source) > MAX_LINE:
        raise ShellSyntaxError("Argument list too long")
    return _parse(source, 0)


def _parse(source: str, depth: int) -> Node:
    parser = Parser(source, 0, depth)
    node = parser.sequence()
    parser.require("end")
    return node


def _substitution(source: str, start: int, depth: int) -> tuple[Node, int]:
    parser = Parser(source, start, depth)
    node = parser.sequence()
    parser.close(")", "(")
    return node, parser.lexer.position


class Parser:
    """Parses `source` from a position on; one token of look-ahead."""

    def __init__(self, source: str, position: int, depth: int) -> None:
        self.lexer = Lexer(source, position, _substitution, _parse, depth)
        self.lexer.deeper()
        self._token: Token | None = None

    # -- tokens --

    def peek(self) -> Token:
        if self._token is None:
            self._token = self.lexer.next()
        return self._token

    def take(self) -> Token:
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

    def require(self, kind: str) -> Token:
        token = self.take()
        if token.kind != kind:
            raise _unexpected(token)
        return token

    def close(self, text: str, opened: str) -> None:
        """Take what ends a compound that `opened` began."""
        if self.peek().kind == "end":
            raise ShellSyntaxError(f"syntax error: '{opened}' unmatched")
        if not self.at(text):
            raise _unexpected(self.peek())
        self.take()

    def newlines(self) -> None:
        while self.peek().kind == "newline":
            self.take()

    # -- lists --

    def sequence(self) -> Node:
        """Commands up to what cannot begin one."""
        items = list[Node]()
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
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def _at_end_of_list(self) -> bool:
        token = self.peek()
        if token.kind == "operator":
            return token.text in (")", ";;")
        return token.kind == "end" or bool(token.word and token.word.bare in _CLOSING)

    def body(self, opened: str) -> Node:
        """A list that may not be empty."""
        node = self.sequence()
        if isinstance(node, Sequence) and not node.items:
            if self.peek().kind == "end":
                raise ShellSyntaxError(f"syntax error: '{opened}' unmatched")
            raise _unexpected(self.peek())
        return node

    def and_or(self) -> Node:
        first = self.pipeline()
        rest = list[tuple[str, Node]]()
        while self.at("&&", "||"):
            operator = self.take().text
            self.newlines()
            rest.append((operator, self.pipeline()))
        return AndOr(first, tuple(rest)) if rest else first

    def pipeline(self) -> Node:
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

    def command(self) -> Node:
        self.lexer.deeper()
        node = self._compound()
        if node is None:
            node = self._simple()
        elif not isinstance(node, Function):
            redirects = list[Redirect]()
            while (redirect := self._redirect()) is not None:
                redirects.append(redirect)
            if redirects:
                node = Redirected(node, tuple(redirects))
        self.lexer.depth -= 1
        return node

    def _compound(self) -> Node | None:
        token = self.peek()
        if token.kind == "operator" and token.text == "(":
            self.take()
            calculation = self.lexer.calculation()
            if calculation is not None:
                return Calculation(calculation)
            body = self.body("(")
            self.close(")", "(")
            return Subshell(body)
        keyword = token.word.bare if token.word else None
        reader = {
            "{": self._group, "if": self._if, "for": self._for, "while": self._loop,
            "until": self._loop, "case": self._case, "function": self._function_keyword,
            "[[": self._condition,
        }.get(keyword or "")  # fmt: skip
        if reader is not None:
            self.take()
            return reader(keyword or "")
        if keyword in _CLOSING:
            raise _unexpected(token)
        return None

    def _group(self, keyword: str) -> Node:
        body = self.body("{")
        self.close("}", "{")
        return Sequence((body,))

    def _if(self, keyword: str) -> Node:
        arms, otherwise = list[tuple[Node, Node]](), None
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

    def _for(self, keyword: str) -> Node:
        name = self._name()
        self.newlines()
        words: tuple[Word, ...] | None = None
        if self.accept("in"):
            found = list[Word]()
            while (token := self.peek()).word is not None:
                found += expand_braces(token.word)
                self.take()
            words = tuple(found)
        if not self.accept(";") and self.peek().kind not in ("newline",) and not self.at("do"):
            raise _unexpected(self.peek())
        self.newlines()
        return For(name, words, self._do("for"))

    def _loop(self, keyword: str) -> Node:
        condition = self.body(keyword)
        return Loop(condition, self._do(keyword), keyword == "until")

    def _do(self, opened: str) -> Node:
        self.close("do", opened)
        body = self.body("do")
        self.close("done", "do")
        return body

    def _case(self, keyword: str) -> Node:
        subject = self.require("word").word
        assert subject is not None
        self.newlines()
        self.close("in", "case")
        arms = list[tuple[tuple[Word, ...], Node]]()
        self.newlines()
        while not self.at("esac"):
            self.accept("(")
            patterns = list[Word]()
            while True:
                if self.peek().kind == "end":
                    raise ShellSyntaxError("syntax error: 'case' unmatched")
                word = self.require("word").word
                assert word is not None
                patterns.append(word)
                if not self.accept("|"):
                    break
            self.close(")", "case")
            arms.append((tuple(patterns), self.sequence()))
            if not self.accept(";;"):
                break
            self.newlines()
        self.close("esac", "case")
        return Case(subject, tuple(arms))

    def _function_keyword(self, keyword: str) -> Node:
        name = self._name()
        if self.accept("("):
            self.close(")", "(")
        return self._function(name)

    def _function(self, name: str) -> Node:
        self.newlines()
        body = self.command()
        if isinstance(body, Simple):
            raise ShellSyntaxError(f"syntax error: '{name}' unexpected")
        return Function(name, body)

    def _name(self) -> str:
        token = self.take()
        bare = token.word.bare if token.word else None
        if bare is None or not _NAME.fullmatch(bare):
            raise _unexpected(token)
        return bare

    def _simple(self) -> Node:
        assignments, words = list[Assignment](), list[Word]()
        redirects = list[Redirect]()
        while True:
            if (redirect := self._redirect()) is not None:
                redirects.append(redirect)
                continue
            token = self.peek()
            if token.word is not None:
                self.take()
                assignment = None if words else split_assignment(token.word)
                if assignment is not None:
                    assignments.append(assignment)
                else:
                    words += expand_braces(token.word)
            elif len(words) == 1 and not assignments and not redirects and self.at("("):
                return self._function_brackets(words[0])
            else:
                break
        if not assignments and not words and not redirects:
            raise _unexpected(self.peek())
        return Simple(tuple(assignments), tuple(words), tuple(redirects))

    def _function_brackets(self, word: Word) -> Node:
        opening = self.take()
        if word.bare is None or not _NAME.fullmatch(word.bare) or not self.at(")"):
            raise _unexpected(opening)
        self.take()
        return self._function(word.bare)

    def _redirect(self) -> Redirect | None:
        token = self.peek()
        fd: int | None = None
        if token.kind == "number":
            fd = int(self.take().text)
        operator = self.peek()
        if operator.kind != "operator" or operator.text not in _REDIRECTS:
            if fd is not None:
                raise _unexpected(operator)
            return None
        self.take()
        target = self.peek()
        if target.word is None:
            raise _unexpected(target)
        if fd is None:
            fd = 0 if operator.text[0] == "<" else 1
        redirect = Redirect(fd, operator.text, target.word)
        if operator.text in ("<<", "<<-"):
            self.lexer.expect_document(redirect, target.word, operator.text == "<<-")
        self.take()
        return redirect

    # -- [[ ]] --

    def _condition(self, keyword: str) -> Node:
        tree = self._either()
        self.close("]]", "[[")
        return Condition(tree)

    def _either(self) -> Expression:
        left = self._both()
        while self.accept("||"):
            left = Expression("||", (left, self._both()))
        return left

    def _both(self) -> Expression:
        left = self._test()
        while self.accept("&&"):
            left = Expression("&&", (left, self._test()))
        return left

    def _test(self) -> Expression:
        self.newlines()
        self.lexer.deeper()
        try:
            if self.accept("!"):
                return Expression("!", (self._test(),))
            if self.accept("("):
                inner = self._either()
                if not self.accept(")"):
                    raise _unexpected(self.peek())
                return inner
            return self._plain_test()
        finally:
            self.lexer.depth -= 1

    def _plain_test(self) -> Expression:
        first = self._operand()
        if first.bare in _UNARY and not self.at("]]", "&&", "||", ")"):
            return Expression(first.bare or "", (self._operand(),))
        token = self.peek()
        operator = token.word.bare if token.word else token.text
        if operator in _BINARY:
            self.take()
            return Expression(operator or "", (first, self._operand()))
        if self.at("]]", "&&", "||", ")"):
            return Expression("-n", (first,))
        raise ShellSyntaxError(f"syntax error: '{token.text}' unexpected operator/operand")

    def _operand(self) -> Word:
        token = self.take()
        if token.kind == "end":
            raise ShellSyntaxError("syntax error: '[[' unmatched")
        if token.word is None or token.word.bare == "]]":
            raise _unexpected(token)
        return token.word


def split_assignment(word: Word) -> Assignment | None:
    """``name=value`` of a word that is an assignment."""
    first: Part | None = word.parts[0] if word.parts else None
    if not isinstance(first, Literal) or first.quoted:
        return None
    found = _ASSIGNMENT.match(first.text)
    if found is None:
        return None
    rest = first.text[found.end() :]
    parts = ([Literal(rest, False)] if rest else []) + list(word.parts[1:])
    return Assignment(found[1], bool(found[2]), make_word(parts))


def _unexpected(token: Token) -> ShellSyntaxError:
    if token.kind == "end":
        return ShellSyntaxError("syntax error: unexpected EOF")
    name = "newline" if token.kind == "newline" else token.text
    return ShellSyntaxError(f"syntax error: '{name}' unexpected")
