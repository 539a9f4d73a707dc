"""Runs Python where nothing is installed but some distributions and what they ask for.

``python only.py ROOT... -- CODE``: the modules of every other distribution cannot be imported. What
a distribution asks for is read from its metadata, so an extra that lacks something shows it here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from packaging.requirements import Requirement


def normal(name: str) -> str:
    """The normal form of a distribution's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(roots: Iterable[str]) -> set[str]:
    """The distributions that come with `roots`, such as ``ui-gym[browser]``."""
    waiting = [Requirement(root) for root in roots]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        asked = waiting.pop()
        key = (normal(asked.name), frozenset(asked.extras))
        if key in seen:
            continue
        seen.add(key)
        try:
            lines = metadata.requires(asked.name) or []
        except metadata.PackageNotFoundError:
            continue  # of another platform
        for needed in map(Requirement, lines):
            extras = {*asked.extras, ""}
            if not needed.marker or any(needed.marker.evaluate({"extra": e}) for e in extras):
                waiting.append(needed)
    return {name for name, _ in seen}


def hide_all_but(roots: Iterable[str]) -> None:
    """Make the modules of all other distributions impossible to import."""
    kept = closure(roots)
    providers = metadata.packages_distributions()
    hidden = {m for m, names in providers.items() if not kept & {normal(n) for n in names}}
    every = list(metadata.distributions())
    # Of what is installed for editing, the metadata do not name the modules.
    hidden |= {d.name.replace("-", "_") for d in every if normal(d.name) not in kept}
    metadata.distributions = lambda **_: [d for d in every if normal(d.name) in kept]  # type: ignore[assignment]

    class Finder(PathFinder):
        @classmethod
        def find_spec(
            cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
        ) -> ModuleSpec | None:
            if name.partition(".")[0] in hidden:
                return None
            return super().find_spec(name, path, target)

    sys.meta_path[:] = [Finder if f is PathFinder else f for f in sys.meta_path]
    for name in [n for n in sys.modules if n.partition(".")[0] in hidden]:
        del sys.modules[name]


if __name__ == "__main__":
    border = sys.argv.index("--")
    roots, code = sys.argv[1:border], sys.argv[border + 1]
    sys.argv[1:] = []
    hide_all_but(roots)
    exec(code, {"__name__": "__main__"})  # noqa: S102  the test's own
