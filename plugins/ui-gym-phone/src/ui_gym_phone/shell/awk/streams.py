"""Where an awk program reads and writes besides its main input."""

from __future__ import annotations

from ui_gym_phone.shell.registry import Context, decode, encode


class Streams:
    """Files and commands that are open, by name."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._outputs: dict[str, tuple[str, list[str]]] = {}
        self._inputs: dict[str, list[str]] = {}

    def write(self, operator: str, name: str, text: str) -> None:
        """Write to a file (``>``, ``>>``) or into a command (``|``)."""
        if name in ("/dev/stdout", "/dev/stderr", "-"):
            (self._ctx.err if name == "/dev/stderr" else self._ctx.out)(text)
            return
        if name not in self._outputs:
            if operator == ">":
                self._ctx.write(name, b"")
            self._outputs[name] = (operator, [])
        self._ctx.runner.budget.wrote(len(text))
        self._outputs[name][1].append(text)

    def line(self, operator: str, name: str) -> str | None:
        """The next line of a file or of what a command writes; None at the end.

        Raises:
            OSError: the file cannot be read.
        """
        if name not in self._inputs:
            self.flush()
            if operator == "|":
                data = self._ctx.capture(name)[1]
            else:
                data = self._ctx.read(name)
            lines = decode(data.removesuffix(b"\n")).split("\n") if data else []
            self._inputs[name] = lines[::-1]
        lines = self._inputs[name]
        return lines.pop() if lines else None

    def close(self, name: str) -> float:
        """Close it; the exit code of a command, or -1 where nothing was open."""
        known = self._inputs.pop(name, None) is not None
        if name in self._outputs:
            operator, texts = self._outputs.pop(name)
            return float(self._deliver(operator, name, texts))
        return 0.0 if known else -1.0

    def flush(self) -> None:
        """Bring what was written to files into them."""
        for name, (operator, texts) in self._outputs.items():
            if operator != "|" and texts:
                self._deliver(">>", name, texts)
                texts.clear()

    def close_all(self) -> None:
        for name in list(self._outputs):
            self.close(name)

    def _deliver(self, operator: str, name: str, texts: list[str]) -> int:
        data = encode("".join(texts))
        if operator == "|":
            return self._ctx.shell(name, stdin=data)
        path = self._ctx.path(name)
        old = self._ctx.files.read(path) if self._ctx.files.exists(path) else b""
        self._ctx.write(name, old + data)
        return 0
