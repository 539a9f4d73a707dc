"""Budget: what one line may use. Nothing that is typed can hang the phone or fill the memory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of one line, all its commands together."""

    steps: int = 1_000_000
    """Commands, loop turns, expansions, and what the commands count as work."""
    output: int = 64 << 20
    """Bytes written, to files and between commands too."""
    text: int = 4 << 20
    """Characters of one variable or word."""
    depth: int = 40
    """Functions, shells and substitutions that run inside each other."""
    matches: int = 10_000
    """Paths that one pattern may match."""
    seconds: float = 86_400 * 366
    """Virtual seconds that may be slept."""


class Exhausted(Exception):
    """A bound was reached; the message says which. The line ends, the phone goes on."""


class Budget:
    """Counts down what is left of the limits."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._depth = 0
        self.renew()

    def renew(self) -> None:
        """Begin anew with all that the limits allow."""
        self._steps = self.limits.steps
        self._output = self.limits.output
        self._seconds = self.limits.seconds

    def spend(self, steps: int = 1) -> None:
        """Count work. One step is about a microsecond or more."""
        self._steps -= steps
        if self._steps < 0:
            raise Exhausted(f"stopped after {self.limits.steps} steps")

    def wrote(self, size: int) -> None:
        """Count `size` bytes of output."""
        self._output -= size
        if self._output < 0:
            raise Exhausted(f"stopped after {self.limits.output} bytes of output")

    def check_text(self, size: int) -> None:
        """Count a text of `size` characters, and refuse one that is too long."""
        if size > self.limits.text:
            raise Exhausted(f"stopped at a text of {size} characters")
        if size > 4096:
            self.spend(size >> 8)

    def slept(self, seconds: float) -> None:
        self._seconds -= seconds
        if self._seconds < 0:
            raise Exhausted(f"stopped after {self.limits.seconds:.0f} seconds of sleep")

    def enter(self) -> None:
        """Note that a shell begins inside of another; `leave` that it ended."""
        self._depth += 1
        if self._depth > self.limits.depth:
            raise Exhausted(f"stopped at {self.limits.depth} shells inside each other")

    def leave(self) -> None:
        self._depth -= 1
