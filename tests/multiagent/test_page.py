"""The examples of docs/multiagent.md, run as they stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "multiagent.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("number", range(2))
def test_examples_run(number: int) -> None:
    assert len(EXAMPLES) == 2
    run = subprocess.run(
        [sys.executable, "-c", EXAMPLES[number]], capture_output=True, text=True, timeout=240
    )
    assert run.returncode == 0, run.stderr
