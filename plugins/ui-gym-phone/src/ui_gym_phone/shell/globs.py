"""Patterns of the shell: what ``* ? [...]`` match, in texts and in paths."""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache

from ui_gym_phone.state.files import Files

_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z",
    "space": r" \t\n\r\f\v", "blank": r" \t", "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9a-fA-F",
    "cntrl": r"\x00-\x1f\x7f", "print": r"\x20-\x7e", "graph": r"\x21-\x7e",
}  # fmt: skip

_NEVER = re.compile(r"(?!)")


def escape(text: str) -> str:
    """A pattern that matches `text` alone."""
    return re.sub(r"([\\*?\[\]])", r"\\\1", text)


@lru_cache(maxsize=1024)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """A pattern for `fullmatch`.

    Every ``*`` takes as little as lets the piece up to the next one match, for good: that is
    enough for globs, and the time stays in the product of the lengths.
    """
    pieces, piece, position = list[str](), "", 0
    while position < len(pattern):
        char = pattern[position]
        position += 1
        if char == "*":
            pieces.append(piece)
            piece = ""
        elif char == "?":
            piece += "."
        elif char == "\\" and position < len(pattern):
            piece += re.escape(pattern[position])
            position += 1
        elif char == "[" and (bracket := bracket_class(pattern, position)) is not None:
            piece += bracket[0]
            position = bracket[1]
        else:
            piece += re.escape(char)
    pieces.append(piece)
    first, *middle = pieces
    source = first
    if middle:
        *between, last = middle
        source += "".join(f"(?>.*?{each})" for each in between if each) + f".*{last}"
    try:
        return re.compile(source, re.DOTALL)
    except re.error:  # a range such as [z-a]
        return _NEVER


def bracket_class(
    pattern: str, start: int, *, negations: str = "!^", escapes: bool = True
) -> tuple[str, int] | None:
    """The class whose inside begins at `start`, for `re`, and where it ends; None if it is open."""
    position = start
    negated = pattern[position : position + 1] in tuple(negations)
    position += negated
    inside, first, ranging = "", True, False
    while position < len(pattern):
        char = pattern[position]
        if char == "]" and not first:
            return ("[" + "^" * negated + inside + "]" if inside else "."), position + 1
        first = False
        named = re.compile(r"\[:(\w+):\]").match(pattern, position)
        if named and named[1] in _CLASSES:
            inside += _CLASSES[named[1]]
            position = named.end()
            continue
        if char == "\\" and escapes and position + 1 < len(pattern):
            position += 1
            char = pattern[position]
            inside += "\\" + char if not char.isalnum() else char
        elif (
            char == "-" and inside and not ranging and pattern[position + 1 :][:1] not in ("]", "")
        ):
            inside += "-"
            ranging = True
            position += 1
            continue
        else:
            inside += "\\" + char if char in "\\]^[-&~|" else char
        ranging = False
        position += 1
    return None


def has_glob(pattern: str) -> bool:
    """Whether there is anything in it that is not escaped."""
    return re.search(r"(?<!\\)(?:\\\\)*[*?\[]", pattern) is not None


def unescape(pattern: str) -> str:
    return re.sub(r"\\(.)", r"\1", pattern, flags=re.DOTALL)


def expand_path(files: Files, cwd: str, pattern: str, limit: int) -> list[str]:
    """The paths that match, sorted; none where there are none, and not more than `limit`.

    As `find`, a name that begins with a dot needs a pattern that does.
    """
    absolute = pattern.startswith("/")
    found = ["/" if absolute else ""]
    components = [part for part in pattern.split("/") if part]
    for number, component in enumerate(components):
        last = number == len(components) - 1
        matched = list[str]()
        for folder in found:
            if not has_glob(component):
                path = folder + unescape(component)
                if files.exists(_whole(cwd, path)):
                    matched.append(path)
                continue
            if not files.is_dir(_whole(cwd, folder)):
                continue
            regex = compile_glob(component)
            try:
                names = files.list(_whole(cwd, folder))
            except PermissionError:
                continue
            for name in names:
                if (name[0] != "." or component[0] == ".") and regex.fullmatch(name):
                    matched.append(folder + name)
                    if len(matched) >= limit:
                        break
        if last and not pattern.endswith("/"):
            return sorted(matched)
        found = [path + "/" for path in matched if files.is_dir(_whole(cwd, path))]
    return sorted(found)


def normal(cwd: str, path: str) -> str:
    """An absolute path without dots, as `cd` keeps it."""
    whole = posixpath.normpath(_whole(cwd, path))
    return whole[1:] if whole.startswith("//") else whole


def _whole(cwd: str, path: str) -> str:
    return path if path.startswith("/") else f"{cwd}/{path}"
