"""Parser: an awk program as rules and functions, whose code is nested tuples.

A node is ``(kind, ...)``; `runtime.Machine` has a method for every kind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from ui_gym_phone.shell.awk.expression_parser import ExpressionParser, Node


@dataclass
class Function:
    """A function: its parameters, those that are arrays, and its body."""

    params: list[str]
    body: Node
    arrays: set[str] = field(default_factory=set)


@dataclass
class Program:
    """A parsed program. A rule is (pattern or None, end of a range or None, body or None)."""

    begin: list[Node] = field(default_factory=list)
    end: list[Node] = field(default_factory=list)
    rules: list[tuple[Node | None, Node | None, Node | None]] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)


@lru_cache(maxsize=256)
def parse(source: str) -> Program:
    """A program. AwkSyntaxError where it is none."""
    return _Parser(source).program()


class _Parser(ExpressionParser):
    """Parses rules, functions and statements."""

    # -- the program --

    def program(self) -> Program:
        result = Program()
        self.skip("newline", ";")
        while not self.at("end"):
            self.item(result)
            self.skip("newline", ";")
        return result

    def item(self, result: Program) -> None:
        if self.at("BEGIN", "END"):
            rules = result.begin if self.take().kind == "BEGIN" else result.end
            rules.append(self.block())
        elif self.at("function", "func"):
            self.take()
            self.function(result)
        elif self.at("{"):
            result.rules.append((None, None, self.block()))
        else:
            first, last = self.expression(), None
            if self.accept(","):
                self.skip("newline")
                last = self.expression()
            body = self.block() if self.at("{") else None
            if body is None and not self.at("newline", ";", "end"):
                raise self.fault()
            result.rules.append((first, last, body))

    def function(self, result: Program) -> None:
        if not self.at("name", "call"):
            raise self.fault()
        name, params = self.take().text, list[str]()
        self.expect("(")
        while not self.accept(")"):
            params.append(self.expect("name").text)
            if not self.accept(","):
                self.expect(")")
                break
        self.skip("newline")
        self.arrays = set()
        function = result.functions[name] = Function(params, ())
        function.body = self.block()
        function.arrays = self.arrays & set(params)

    # -- statements --

    def block(self) -> Node:
        self.expect("{")
        items = list[Node]()
        self.skip("newline", ";")
        while not self.accept("}"):
            if self.at("end"):
                raise self.fault()
            items.append(self.statement())
            self.skip("newline", ";")
        return ("block", tuple(items))

    def statement(self) -> Node:
        self.deeper()
        kind = self.token.kind
        reader = getattr(self, "read_" + kind, None) if kind.isalpha() else None
        if kind == "{":
            node = self.block()
        elif reader is not None:
            self.take()
            node = reader()
        else:
            node = self.simple()
            self.terminate()
        self.depth -= 1
        return node

    def terminate(self) -> None:
        if not self.at("}", "end") and not self.accept(";"):
            self.expect("newline")

    def simple(self) -> Node:
        """A statement that may stand in the head of a `for`."""
        if self.accept("delete"):
            name = self.expect("name").text
            self.arrays.add(name)
            return ("delete", name, self.subscript() if self.at("[") else None)
        if self.at("print", "printf"):
            return self.output()
        return ("expression", self.expression())

    def body(self) -> Node:
        self.skip("newline")
        if self.accept(";"):
            return ("block", ())
        return self.statement()

    def read_if(self) -> Node:
        condition = self.condition()
        body, mark = self.body(), self.index
        self.skip("newline", ";")
        if self.accept("else"):
            return ("if", condition, body, self.body())
        self.index = mark
        return ("if", condition, body, None)

    def read_while(self) -> Node:
        condition = self.condition()
        return ("while", condition, self.body())

    def read_do(self) -> Node:
        body = self.body()
        self.skip("newline", ";")
        self.expect("while")
        condition = self.condition()
        self.terminate()
        return ("do", body, condition)

    def read_for(self) -> Node:
        self.expect("(")
        names = [token.kind for token in self.tokens[self.index : self.index + 4]]
        if names == ["name", "in", "name", ")"]:
            variable, _, array, _ = (self.take().text for _ in range(4))
            self.arrays.add(array)
            return ("each", variable, array, self.body())
        first = None if self.at(";") else self.simple()
        self.expect(";")
        self.skip("newline")
        condition = None if self.at(";") else self.expression()
        self.expect(";")
        self.skip("newline")
        step = None if self.at(")") else self.simple()
        self.expect(")")
        return ("for", first, condition, step, self.body())

    def condition(self) -> Node:
        self.expect("(")
        node = self.inside()
        self.expect(")")
        return node

    def jump(self, kind: str) -> Node:
        self.terminate()
        return ("jump", kind)

    def read_break(self) -> Node:
        return self.jump("break")

    def read_continue(self) -> Node:
        return self.jump("continue")

    def read_next(self) -> Node:
        return self.jump("next")

    def read_nextfile(self) -> Node:
        return self.jump("nextfile")

    def read_exit(self) -> Node:
        return self.leave("exit")

    def read_return(self) -> Node:
        return self.leave("return")

    def leave(self, kind: str) -> Node:
        value = None if self.at(";", "newline", "}", "end") else self.expression()
        self.terminate()
        return (kind, value)

    def output(self) -> Node:
        """`print` or `printf`, with where it goes."""
        kind, arguments = self.take().kind, list[Node]()
        self.printing = True
        if not self.at(";", "newline", "}", ">", ">>", "|", "end"):
            arguments = self.list()
            if len(arguments) == 1 and arguments[0][0] == "grouping":
                arguments = list(arguments[0][1])
        self.printing = False
        target = None
        if self.at(">", ">>", "|"):
            operator = self.take().kind
            target = (operator, self.concatenation(single=True))
        if kind == "printf" and not arguments:
            raise self.fault()
        return (kind, tuple(arguments), target)
