"""Flow: what leaves a loop, a function or a shell before its end."""

from __future__ import annotations


class Leave(Exception):
    """`exit`, or a command that failed under `set -e`."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code & 255


class Jump(Exception):
    """Goes to an outer construct of the same shell."""

    def passes_on(self) -> bool:
        """Whether the loop that caught it must raise it again."""
        return True


class Break(Jump):
    """`break`: ends as many loops as `levels` says."""

    def __init__(self, levels: int) -> None:
        super().__init__(levels)
        self.levels = levels

    def passes_on(self) -> bool:
        self.levels -= 1
        return self.levels > 0


class Continue(Break):
    """`continue`: goes on with the next turn of the loop that is `levels` further out."""


class Return(Jump):
    """`return` from a function or a sourced script."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code & 255
