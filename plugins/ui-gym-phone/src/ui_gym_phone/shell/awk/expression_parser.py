"""Parser of awk's expressions, as nested tuples: ``(kind, ...)``."""

from __future__ import annotations

from typing import Any

from ui_gym_phone.shell.awk.lexer import AwkSyntaxError, Token, tokens

MAX_DEPTH = 40
"""How deep expressions and statements may be nested."""

Node = tuple[Any, ...]

_COMPARE = ("<", "<=", "==", "!=", ">", ">=")
_ASSIGN = ("=", "+=", "-=", "*=", "/=", "%=", "^=", "**=")
_STARTS = frozenset(
    ("number", "string", "regex", "name", "call", "builtin", "$", "!", "(", "-", "+", "++", "--")
)
"""What an operand of a concatenation can begin with; ``+`` and ``-`` would be taken as sums."""


class ExpressionParser:
    """Reads tokens, and expressions of them."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = tokens(source)
        self.index = 0
        self.depth = 0
        self.arrays: set[str] = set()
        """Names that were used as arrays since a function began."""
        self.grouped = 0
        """Above 0 inside of brackets, where ``>`` is a comparison in `print` too."""
        self.printing = False
        self.heading = False
        """Whether ``in`` would end the expression: it is the head of a `for`."""

    # -- tokens --

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    def at(self, *kinds: str) -> bool:
        return self.tokens[self.index].kind in kinds

    def take(self) -> Token:
        token = self.tokens[self.index]
        self.index = min(self.index + 1, len(self.tokens) - 1)
        return token

    def accept(self, kind: str) -> bool:
        if self.at(kind):
            self.take()
            return True
        return False

    def expect(self, kind: str) -> Token:
        if not self.at(kind):
            raise self.fault()
        return self.take()

    def fault(self) -> AwkSyntaxError:
        line = self.source.count("\n", 0, self.token.position) + 1
        near = self.source[: self.token.position].rpartition("\n")[2]
        return AwkSyntaxError(
            f"syntax error at source line {line}\n context is\n\t{near} >>> {self.token.text} <<<"
        )

    def skip(self, *kinds: str) -> None:
        while self.at(*kinds):
            self.take()

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise AwkSyntaxError("program nested too deeply")

    def inside(self) -> Node:
        """An expression in brackets."""
        self.grouped += 1
        node = self.expression()
        self.grouped -= 1
        return node

    def list(self) -> list[Node]:
        found = [self.expression()]
        while self.accept(","):
            self.skip("newline")
            found.append(self.expression())
        return found

    # -- expressions --

    def expression(self) -> Node:
        self.deeper()
        node = self.ternary()
        if self.at(*_ASSIGN) and node[0] in ("variable", "element", "field"):
            operator = self.take().kind
            self.skip("newline")
            node = ("assign", operator[:-1].replace("**", "^"), node, self.expression())
        self.depth -= 1
        return node

    def ternary(self) -> Node:
        condition = self.either()
        if not self.accept("?"):
            return condition
        self.skip("newline")
        first = self.expression()
        self.skip("newline")
        self.expect(":")
        self.skip("newline")
        return ("choose", condition, first, self.expression())

    def either(self) -> Node:
        node = self.both()
        while self.accept("||"):
            self.skip("newline")
            node = ("or", node, self.both())
        return node

    def both(self) -> Node:
        node = self.membership()
        while self.accept("&&"):
            self.skip("newline")
            node = ("and", node, self.membership())
        return node

    def membership(self) -> Node:
        node = self.matching()
        while self.at("in"):
            self.take()
            name = self.expect("name").text
            self.arrays.add(name)
            node = ("in", node[1] if node[0] == "grouping" else (node,), name)
        return node

    def matching(self) -> Node:
        node = self.comparison()
        while self.at("~", "!~"):
            negated = self.take().kind == "!~"
            node = ("match", node, self.comparison(), negated)
        return node

    def comparison(self) -> Node:
        node = self.concatenation()
        while self.at(*_COMPARE) or (self.at("|") and self.follows("getline")):
            if self.at(">") and self.printing and not self.grouped:
                break
            operator = self.take().kind
            if operator == "|":
                self.take()
                node = ("getline", "|", node, self.target())
            else:
                node = ("compare", operator, node, self.concatenation())
        return node

    def follows(self, kind: str) -> bool:
        return self.tokens[min(self.index + 1, len(self.tokens) - 1)].kind == kind

    def concatenation(self, *, single: bool = False) -> Node:
        node = self.sum()
        while not single and self.at(*_STARTS) and not self.at("+", "-"):
            node = ("concatenate", node, self.sum())
        return node

    def sum(self) -> Node:
        node = self.product()
        while self.at("+", "-"):
            node = ("arithmetic", self.take().kind, node, self.product())
        return node

    def product(self) -> Node:
        node = self.sign()
        while self.at("*", "/", "%"):
            node = ("arithmetic", self.take().kind, node, self.sign())
        return node

    def sign(self) -> Node:
        if self.at("!", "-", "+"):
            self.deeper()
            kind = self.take().kind
            node = ("not", self.sign()) if kind == "!" else ("sign", kind, self.sign())
            self.depth -= 1
            return node
        return self.power()

    def power(self) -> Node:
        node = self.postfix()
        if self.at("^", "**"):
            self.take()
            self.deeper()
            right = ("sign", self.take().kind, self.power()) if self.at("-") else self.power()
            self.depth -= 1
            return ("arithmetic", "^", node, right)
        return node

    def postfix(self) -> Node:
        node = self.primary()
        if self.at("++", "--") and node[0] in ("variable", "element", "field"):
            return ("increment", 1 if self.take().kind == "++" else -1, node, False)
        return node

    def primary(self) -> Node:
        token = self.token
        self.deeper()
        try:
            if token.kind in ("++", "--"):
                self.take()
                node = self.primary()
                if node[0] not in ("variable", "element", "field"):
                    raise self.fault()
                return ("increment", 1 if token.kind == "++" else -1, node, True)
            if token.kind == "$":
                self.take()
                if self.at("-", "+", "!"):
                    return ("field", self.sign())
                return ("field", self.primary())
            if token.kind == "(":
                return self.grouping()
            return self.operand()
        finally:
            self.depth -= 1

    def grouping(self) -> Node:
        self.take()
        self.grouped += 1
        found = self.list()
        self.grouped -= 1
        self.expect(")")
        return ("grouping", tuple(found)) if len(found) > 1 else ("brackets", found[0])

    def operand(self) -> Node:
        token = self.take()
        if token.kind == "number":
            text = token.text
            return ("constant", float(int(text, 16)) if text[1:2] in "xX" and text[1:] else
                    float(text))  # fmt: skip
        if token.kind == "string":
            return ("constant", token.text)
        if token.kind == "regex":
            return ("regex", token.text)
        if token.kind == "builtin":
            return ("builtin", token.text, self.arguments(optional=token.text == "length"))
        if token.kind == "call":
            return ("call", token.text, self.arguments(optional=False))
        if token.kind == "getline":
            target = self.target()
            if self.accept("<"):
                return ("getline", "<", self.concatenation(single=True), target)
            return ("getline", "", None, target)
        if token.kind == "name":
            if self.at("["):
                self.arrays.add(token.text)
                return ("element", token.text, self.subscript())
            return ("variable", token.text)
        self.index -= token.kind != "end"
        raise self.fault()

    def target(self) -> Node | None:
        """The variable that `getline` sets."""
        return self.primary() if self.at("name", "$") else None

    def subscript(self) -> tuple[Node, ...]:
        self.expect("[")
        self.grouped += 1
        found = self.list()
        self.grouped -= 1
        self.expect("]")
        return tuple(found)

    def arguments(self, *, optional: bool) -> tuple[Node, ...]:
        if optional and not self.at("("):
            return ()
        self.expect("(")
        self.grouped += 1
        found = list[Node]()
        self.skip("newline")
        if not self.at(")"):
            found = self.list()
        self.grouped -= 1
        self.skip("newline")
        self.expect(")")
        return tuple(found)
