"""Documents of which a part is written by a command: what stands between two marks."""

from __future__ import annotations

from ui_gym.errors import UserError


def put_between(document: str, begin: str, end: str, text: str) -> str:
    """A document with `text` between its two marks, and all else as it is.

    Raises:
        UserError: it has not each of the marks once, in order.
    """
    once = document.count(begin) == document.count(end) == 1
    if not once or document.index(begin) > document.index(end):
        raise UserError(
            f"the document needs a line {begin.strip()} and, below it, a line {end.strip()}, each "
            "once: what is written goes in between"
        )
    before, _, rest = document.partition(begin)
    return f"{before}{begin}{text}{end}{rest.partition(end)[2]}"
