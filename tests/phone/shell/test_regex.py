"""Regular expressions: POSIX' rules, also where the pattern is run as an automaton."""

from __future__ import annotations

import re

import pytest

from ui_gym_phone.shell.regex import RegexFault, compile_regex


def spend(steps: int) -> None:
    """Nothing is counted here."""


def found(pattern: str, text: str, *, extended: bool = True) -> tuple[str, tuple[str, ...]] | None:
    match = compile_regex(pattern, extended=extended).search(text, 0, spend)
    return None if match is None else (text[match.start : match.end], match.groups)


@pytest.mark.parametrize(
    ("pattern", "text", "matched"),
    [
        ("a|ab|abc", "xabcd", "abc"),
        ("(a|ab)(c|bcd)", "abcd", "abcd"),
        ("x*", "aaa", ""),
        ("(fo|foo)*", "foofoo.", "foofoo"),
        ("b+|a+", "aab", "aa"),
    ],
)
def test_the_leftmost_match_is_the_longest(pattern: str, text: str, matched: str) -> None:
    assert found(pattern, text)[0] == matched


LONG = "key=" + "v" * 300 + "/" + "w" * 300 + " end"


@pytest.mark.parametrize(
    "pattern",
    [
        "(.*)/(.*) (.*)",
        "([a-z]*)=(v*)(v*)/",
        "^(.*)=(.*)/(.*)d$",
        "(([a-z]+)[=/ ])+",
        "(v{3}){2,}(v?)/",
        "=(v+)(v+)(v+)/.*w (e)",
    ],
)
def test_groups_are_those_of_a_greedy_match(pattern: str) -> None:
    expected = re.search(pattern, LONG)
    assert found(pattern, LONG) == (expected.group(), expected.groups())


@pytest.mark.parametrize(
    ("pattern", "text", "matched"),
    [
        (r"a\{2\}", "aaa", "aa"),
        (r"\(ab\)\1", "xabab", "abab"),
        ("a+b", "aab a+b", "a+b"),
        ("*a", "b*a", "*a"),
        ("a^b$c", "a^b$c", "a^b$c"),
        (r"a\|b", "b a|b", "a|b"),
        ("[]x]*", "]x]", "]x]"),
        ("[[:digit:].-]*", "1.5-2x", "1.5-2"),
        (r"\.[^.]*$", "a.b.txt", ".txt"),
    ],
)
def test_basic_patterns_have_their_own_signs(pattern: str, text: str, matched: str) -> None:
    assert found(pattern, text, extended=False)[0] == matched


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", r"Unmatched \( or"),
        ("[a", "Invalid regular expression"),
        ("[z-a]", "Invalid range end"),
        ("a{2,1}", "Invalid content of"),
        ("a\\", "Trailing backslash"),
        (r"\1(a)", "Invalid back reference"),
        ("((((a{200}){200}){200}){200}){200}|b", "too big|Invalid"),
    ],
)
def test_a_bad_pattern_says_what_is_wrong(pattern: str, message: str) -> None:
    with pytest.raises(RegexFault, match=message):
        compile_regex(pattern, extended=True).search("a" * 50, 0, spend)
