"""Every line of the table is answered as it says, on a fresh phone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from table_phone import folder_of, fresh_handset, table

from ui_gym_phone.handset import Handset
from ui_gym_phone.shell import ShellSession, registry, run
from ui_gym_phone.shell.registry import BUILTINS
from ui_gym_phone.shell.session import ROOT, SHELL

TABLE = table()


@pytest.fixture(scope="module")
def fresh() -> bytes:
    return fresh_handset().snapshot()


def wrong(handset: Handset, case: dict[str, Any], folder: str) -> str:
    """What is not as the table says; empty if all is."""
    session = ShellSession(folder, user=ROOT if case.get("root") else SHELL)
    result = run(handset, case["line"], session=session).result()
    out, err = result.stdout.decode("utf-8", "replace"), result.stderr.decode("utf-8", "replace")
    told = {
        "out": out[: len(case["begins"])] if "begins" in case else out,
        "err": err[: len(case["err_begins"])] if "err_begins" in case else err,
        "code": result.code,
    }
    wanted = {
        "out": case.get("begins", case.get("out", "")),
        "err": case.get("err_begins", case.get("err", "")),
        "code": case.get("code", 0),
    }
    return "" if told == wanted else f"{case['line']!r}:\n  told   {told}\n  wanted {wanted}"


@pytest.mark.parametrize("sender", list(TABLE))
def test_the_lines_of_a_sender_are_answered(sender: str, fresh: bytes) -> None:
    handset = Handset()
    faults = []
    for case in TABLE[sender]:
        handset.renew(fresh)
        faults.append(wrong(handset, case, folder_of(sender)))
    assert not any(faults), "\n".join(filter(None, faults))


def test_every_command_is_sent_by_somebody() -> None:
    words = {
        word.rpartition("/")[2]
        for cases in TABLE.values()
        for case in cases
        for word in re.findall(r"[\w./:\[-]+", case["line"])
    }
    assert {*registry.names(), *BUILTINS} <= words
