"""sed, as far as it is used: ``s/.../.../``, ``p`` and ``d``, on all lines or on some."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ui_gym_phone.shell.regex import Regex, RegexFault, compile_regex
from ui_gym_phone.shell.registry import CommandContext, lines_of, toybox

_COMMAND = re.compile(r"\s*(\d{1,9}|\$|/(?:[^/\\]|\\.)*/|)(?:([pd])|s(.)(.*))\s*", re.DOTALL)


@dataclass(frozen=True)
class _SedCommand:
    """``s``, ``p`` or ``d`` with the lines that it is for: a number, ``$``, or a pattern."""

    verb: str
    number: str
    lines: Regex | None
    pattern: Regex | None = None
    text: str = ""
    flags: str = ""


@toybox("sed", flags="nEre:")
def _sed(ctx: CommandContext) -> None:
    scripts = ctx.options.get("e") or [ctx.words.pop(0) for _ in ctx.words[:1]]
    if not scripts:
        raise ctx.fault("no pattern")
    try:
        commands = [_parsed(script, ctx.given("Er")) for script in scripts]
    except RegexFault as fault:
        raise ctx.fault(f"bad pattern '{' '.join(scripts)}'@0 ({fault})") from None
    lines = [line for _, data in ctx.read_each(ctx.words) for line in lines_of(data)]
    for number, line in enumerate(lines, 1):
        ctx.spend(1 + (len(line) >> 6))
        printed = "n" not in ctx.options
        for each in commands:
            last = each.number == "$" and number == len(lines)
            if each.number and each.number != str(number) and not last:
                continue
            if each.lines is not None and not each.lines.test(line, ctx.spend):
                continue
            changed = True
            if each.pattern is not None:
                line, changed = _substituted(ctx, each, each.pattern, line)
            if each.verb == "d":
                printed = False
                break
            if changed and (each.verb == "p" or "p" in each.flags):
                ctx.out(line + "\n")
        if printed:
            ctx.out(line + "\n")


def _parsed(script: str, extended: bool) -> _SedCommand:
    """One command. Raises `RegexFault` where it is none, or more than this `sed` does."""
    found = _COMMAND.fullmatch(script)
    if found is None:
        raise RegexFault("not a command that is known here")
    address, verb, sign, rest = found.groups()
    lines = compile_regex(address[1:-1], extended=extended) if address[:1] == "/" else None
    number = "" if lines else address
    if verb:
        return _SedCommand(verb, number, lines)
    parts = re.split(rf"(?<!\\){re.escape(sign)}", rest)
    if len(parts) != 3 or not set(parts[2].strip()) <= set("gp"):
        raise RegexFault("not a substitution")
    if re.search(r"\\[1-9]", parts[1]):
        raise RegexFault("groups are not known here")
    pattern, text = (part.replace("\\" + sign, sign) for part in parts[:2])
    regex = compile_regex(pattern, extended=extended)
    return _SedCommand("s", number, lines, regex, text, parts[2])


def _substituted(
    ctx: CommandContext, each: _SedCommand, pattern: Regex, line: str
) -> tuple[str, bool]:
    """A line with its matches replaced, and whether there were any."""
    result, position, start = "", 0, 0
    while start <= len(line) and (found := pattern.search(line, start, ctx.spend)):
        match = line[found.start : found.end]
        text = re.sub(r"\\&|&", lambda sign: "&" if sign[0] != "&" else match, each.text)  # noqa: B023
        ctx.shell.budget.check_text(len(result) + len(text))
        result += line[position : found.start] + text
        position, start = found.end, max(found.end, found.start + 1)
        if "g" not in each.flags:
            break
    return result + line[position:], start > 0
