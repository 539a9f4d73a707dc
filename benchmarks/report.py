"""Writes benchmarks/README.md from the JSON files that pytest-benchmark left.

pytest benchmarks --benchmark-json=FILE && python benchmarks/report.py FILE [FILE ...]

Groups that these files do not measure stay as they are.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

README = Path(__file__).resolve().parent / "README.md"
OURS = "ui-gym"
PAIRED = "times_ui-gym"
"""What a benchmark says of itself that was timed in turns with ours."""
HEAD = """# Benchmarks

Medians; figures of one group come from one run, side by side, on the machine that it names, and
only their ratios travel to other machines. How each is taken stands in the test of its name. To
repeat it:

    tox -e bench

"""


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    sections = _written()
    for name in sys.argv[1:]:
        told = json.loads(Path(name).read_text())
        cpu = told["machine_info"]["cpu"]
        machine = f"{cpu['count']} cores of {cpu.get('brand_raw', 'a processor')}"
        groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for bench in told["benchmarks"]:
            groups[bench["group"] or bench["fullname"].split("::")[1].split("[")[0]].append(bench)
        for group, benches in groups.items():
            sections[group] = _section(group, benches, machine)
    README.write_text("\n".join([HEAD, *(text for _, text in sorted(sections.items()))]))
    return 0


def _written() -> dict[str, str]:
    """The sections that are there, by their groups."""
    parts = README.read_text().split("\n## ")[1:] if README.exists() else []
    return {part.partition("\n")[0]: f"## {part.rstrip()}\n" for part in parts}


def _section(name: str, benches: list[dict[str, Any]], machine: str) -> str:
    keys = list(dict.fromkeys(key for bench in benches for key in bench["extra_info"]))
    keys = [key for key in keys if key != PAIRED]
    ours = next((b["extra_info"]["per_second"] for b in benches if b["name"] == OURS), None)
    columns = ["", *(key.replace("_", " ") for key in keys)]
    columns += ["ui-gym is faster by"] if ours is not None else []
    lines = [f"## {name}", "", f"On {machine}.", "", _row(columns), _row(["---"] * len(columns))]
    for bench in benches:
        info = bench["extra_info"]
        row = [bench["name"].replace("|", "/"), *(str(info.get(key, "")) for key in keys)]
        if ours is not None:
            ratio = info.get(PAIRED, ours / info["per_second"])
            row.append("" if bench["name"] == OURS else f"{ratio:.1f}x")
        lines.append(_row(row))
    return "\n".join([*lines, ""])


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
