"""Brace expansion: ``a{b,c}`` is two words."""

from __future__ import annotations

from ui_gym_phone.shell.syntax import Literal, Part, ShellSyntaxError, Word, make_word

MAX_WORDS = 4096
"""The most words that one may become."""

Item = str | Part
"""An unquoted character, or a part that is taken as it is."""


def expand_braces(word: Word) -> list[Word]:
    """The words that a word stands for: itself, unless it has braces with a comma."""
    opens = any(
        isinstance(part, Literal) and not part.quoted and "{" in part.text for part in word.parts
    )
    if not opens:
        return [word]
    items = list[Item]()
    for part in word.parts:
        items += part.text if isinstance(part, Literal) and not part.quoted else [part]
    expanded = _expand(items)
    if len(expanded) == 1:
        return [word]
    return [make_word(_parts(items)) for items in expanded]


def _expand(items: list[Item]) -> list[list[Item]]:
    for start, item in enumerate(items):
        if item == "{" and (choices := _choices(items, start)) is not None:
            alternatives, end = choices
            before, after = items[:start], _expand(items[end:])
            result = [
                before + middle + rest
                for alternative in alternatives
                for middle in _expand(alternative)
                for rest in after
            ]
            if len(result) > MAX_WORDS:
                raise ShellSyntaxError("Argument list too long")
            return result
    return [items]


def _choices(items: list[Item], start: int) -> tuple[list[list[Item]], int] | None:
    """What is between the braces that open at `start`, and the index after them."""
    depth, found = 0, [list[Item]()]
    for index in range(start + 1, len(items)):
        item = items[index]
        if item == "}" and depth == 0:
            return (found, index + 1) if len(found) > 1 else None
        if item == "," and depth == 0:
            found.append([])
            continue
        depth += (item == "{") - (item == "}")
        found[-1].append(item)
    return None


def _parts(items: list[Item]) -> list[Part]:
    parts, text = list[Part](), ""
    for item in items:
        if isinstance(item, str):
            text += item
            continue
        if text:
            parts.append(Literal(text, False))
            text = ""
        parts.append(item)
    return [*parts, Literal(text, False)] if text else parts
