"""Machine: runs a parsed awk program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ui_gym_phone.shell.awk import library
from ui_gym_phone.shell.awk.expression_parser import Node
from ui_gym_phone.shell.awk.expressions import Array, AwkFault, Expressions, Return
from ui_gym_phone.shell.awk.parser import Program
from ui_gym_phone.shell.awk.records import Record, split_records
from ui_gym_phone.shell.awk.streams import Streams
from ui_gym_phone.shell.awk.values import (
    UNSET,
    Value,
    outside,
    to_number,
    to_text,
    truth,
)
from ui_gym_phone.shell.registry import Context, decode


class Jump(Exception):
    """`break`, `continue`, `next`, `nextfile`: the argument says which."""


class Exit(Exception):
    """`exit`."""


class Machine(Expressions):
    """One run of a program."""

    def __init__(self, ctx: Context, program: Program, variables: dict[str, str]) -> None:
        self.ctx, self.program = ctx, program
        self.streams = Streams(ctx)
        self.record = Record(ctx.spend)
        self.globals: dict[str, Value | Array] = {
            "FS": " ", "OFS": " ", "ORS": "\n", "RS": "\n", "NR": 0.0, "FNR": 0.0,
            "SUBSEP": "\x1c", "CONVFMT": "%.6g", "OFMT": "%.6g", "RSTART": 0.0, "RLENGTH": -1.0,
            "FILENAME": "", "ENVIRON": {name: outside(text) for name, text in ctx.env.items()},
        }  # fmt: skip
        self.frames: list[dict[str, Any]] = []
        self.code = 0
        self.failed = False
        self.active: set[int] = set()
        """Rules in whose range the program is."""
        self.seed = 1.0
        self.random = library.random_of(1.0)
        self._input: Iterator[str] = iter(())
        self._run: dict[str, Callable[..., Any]] = {
            name[3:]: getattr(self, name) for name in dir(self) if name.startswith("do_")
        }
        for name, text in variables.items():
            self.set_variable(name, outside(text))

    # -- a run --

    def main(self, files: list[str]) -> int:
        """Run it over the files, or over the standard input; the exit code."""
        self.globals["ARGC"] = float(len(files) + 1)
        named: Array = {"0": "awk", **{str(i): name for i, name in enumerate(files, 1)}}
        self.globals["ARGV"] = named
        self._input = self._records(files)
        program = self.program
        try:
            for body in program.begin:
                self.execute(body)
            if program.rules or program.end:
                for line in self._input:
                    self._rules(line)
        except Exit:
            pass
        else:
            self._end()
            return self._finish()
        if not self.failed:
            self._end()
        return self._finish()

    def _end(self) -> None:
        try:
            for body in self.program.end:
                self.execute(body)
        except Exit:
            pass

    def _finish(self) -> int:
        self.streams.close_all()
        return self.code

    def _records(self, files: list[str]) -> Iterator[str]:
        """The main input; assignments among the file names are made on the way."""
        read = False
        for name in files:
            variable, equals, value = name.partition("=")
            if equals and variable.isidentifier():
                self.set_variable(variable, outside(value))
                continue
            read = True
            yield from self._file(name)
        if not read:
            yield from self._file("-")

    def _file(self, name: str) -> Iterator[str]:
        try:
            text = decode(self.ctx.read(name))
        except OSError:
            raise AwkFault(f"can't open file {name}\n source line number 1") from None
        self.globals["FILENAME"] = "" if name == "-" else name
        self.globals["FNR"] = 0.0
        for line in split_records(text, self.text_of("RS")):
            self.ctx.spend()
            for counter in ("NR", "FNR"):
                self.globals[counter] = to_number(self.scalar(counter)) + 1
            yield line

    def _rules(self, line: str) -> None:
        self.record.set(line, self.text_of("FS"))
        try:
            for number, (first, last, body) in enumerate(self.program.rules):
                if first is not None and not self._selected(number, first, last):
                    continue
                if body is None:
                    self._print(None, self.record.get(0, self.text_of("OFS")) + self.text_of("ORS"))
                else:
                    self.execute(body)
        except Jump as jump:
            if jump.args[0] not in ("next", "nextfile"):
                raise AwkFault(f"{jump.args[0]} outside of a loop") from None

    def _selected(self, number: int, first: Node, last: Node | None) -> bool:
        if last is None:
            return truth(self.value(first))
        if number not in self.active:
            if not truth(self.value(first)):
                return False
            self.active.add(number)
        if truth(self.value(last)):
            self.active.discard(number)
        return True

    # -- statements --

    def do_block(self, items: tuple[Node, ...]) -> None:
        for item in items:
            self.execute(item)

    def do_expression(self, node: Node) -> None:
        self.value(node)

    def do_delete(self, name: str, subscript: tuple[Node, ...] | None) -> None:
        if subscript is None:
            self.array(name).clear()
        else:
            self.array(name).pop(self.key(subscript), None)

    def do_if(self, condition: Node, body: Node, otherwise: Node | None) -> None:
        if truth(self.value(condition)):
            self.execute(body)
        elif otherwise is not None:
            self.execute(otherwise)

    def do_while(self, condition: Node, body: Node) -> None:
        while truth(self.value(condition)):
            if self._turn(body):
                break

    def do_do(self, body: Node, condition: Node) -> None:
        while not self._turn(body) and truth(self.value(condition)):
            pass

    def do_for(
        self, first: Node | None, condition: Node | None, step: Node | None, body: Node
    ) -> None:
        if first is not None:
            self.execute(first)
        while condition is None or truth(self.value(condition)):
            if self._turn(body):
                break
            if step is not None:
                self.execute(step)

    def do_each(self, variable: str, array: str, body: Node) -> None:
        found = self.array(array)
        for key in list(found):
            if key in found:
                self.set_variable(variable, outside(key))
                if self._turn(body):
                    break

    def _turn(self, body: Node) -> bool:
        """One turn of a loop; whether it was the last."""
        try:
            self.execute(body)
        except Jump as jump:
            if jump.args[0] not in ("break", "continue"):
                raise
            return bool(jump.args[0] == "break")
        return False

    def do_jump(self, kind: str) -> None:
        raise Jump(kind)

    def do_exit(self, node: Node | None) -> None:
        if node is not None:
            self.code = int(max(-1e9, min(1e9, self.number(node)))) & 255
        raise Exit

    def do_return(self, node: Node | None) -> None:
        if not self.frames:
            raise AwkFault("return not in function")
        raise Return(UNSET if node is None else self.value(node))

    def do_print(self, arguments: tuple[Node, ...], target: Node | None) -> None:
        form = self.text_of("OFMT")
        if arguments:
            texts = [to_text(self.value(each), form) for each in arguments]
        else:
            texts = [self.record.get(0, self.text_of("OFS"))]
        self._print(target, self.text_of("OFS").join(texts) + self.text_of("ORS"))

    def do_printf(self, arguments: tuple[Node, ...], target: Node | None) -> None:
        values = [self.value(each) for each in arguments]
        self._print(target, library.format_values(self, values))

    def _print(self, target: Node | None, text: str) -> None:
        if target is None:
            self.ctx.out(text)
        else:
            self.streams.write(target[0], self.text(target[1]), text)
