"""What a run runs on: versions, the state of the code, the command. For whoever reads of it later.

Nothing is imported for it, and nothing that is missing is an error. Settings hold no secrets, and
what a command line may hold of them is left out.
"""

from __future__ import annotations

import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ui_gym_agents.training.plugin import installed

PACKAGES = ("ui-gym", "torch", "transformers", "gymnasium")

GIT_SECONDS = 3.0
"""How long git may take, where the folder is slow to look through."""

SECRET = re.compile("(token|key|password|secret)(?![a-z])", re.IGNORECASE)
"""In the name of a flag: its value is nobody's business. A number of tokens is no secret."""

HIDDEN = "..."


def facts(plugin: str = "") -> dict[str, Any]:
    """Versions, git revision and command line of this process, as plain JSON values.

    The version of the distribution that brings the trainer `plugin` is among them.
    """
    entry = installed().get(plugin)
    own = entry.dist.name if entry is not None and entry.dist is not None else ""
    return {
        "python": platform.python_version(),
        "versions": dict(_versions((*PACKAGES, own))),
        "revision": revision(),
        "command": shlex.join(without_secrets([Path(sys.argv[0]).name, *sys.argv[1:]])),
    }


def _versions(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    for name in filter(None, names):
        with suppress(PackageNotFoundError):
            yield name, version(name)


def revision() -> str | None:
    """The commit of the working directory, with ``-dirty`` if files differ from it; None where it
    is no repository, or there is no git."""
    commit = _git("rev-parse", "HEAD")
    if not commit:
        return None
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return commit + ("-dirty" if changed else "")


def _git(*words: str) -> str | None:
    # It must not write, as refreshing its index would.
    command = ["git", "--no-optional-locks", *words]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True,
            errors="replace", timeout=GIT_SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def without_secrets(words: Sequence[str]) -> list[str]:
    """Words of a command without the values of flags that name a secret, and without what an
    address says before its ``@``."""
    found: list[str] = []
    hide = False
    for word in words:
        name, equals, _ = word.partition("=")
        flag = word.startswith("-")
        if hide and not flag:
            found.append(HIDDEN)
        elif flag and equals and SECRET.search(name):
            found.append(f"{name}={HIDDEN}")
        else:
            found.append(re.sub(r"://[^/@\s]*@", f"://{HIDDEN}@", word))
        hide = flag and not equals and bool(SECRET.search(name))
    return found
