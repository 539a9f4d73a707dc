"""Fuzzing. Outside of pytest, too, it finds what the tests share."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
