"""Makes pages of the site: one an environment, the public surface, and the READMEs around.

Nothing of it is kept in the repository; `conf.py` calls `write` at each build.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import os
import re
import shutil
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from ui_gym.contract import registry
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.suite import families
from ui_gym.tools.show import describe

ROOT = Path(__file__).resolve().parents[1]
MADE = "made"
"""The folder beside this file in which made pages lie."""
SEED = 7
"""Of the pictures and goals of the gallery."""

SUITES = {"browser": "Browser", "android": "Android", "desktop": "Desktop"}

READMES = {
    "README.md": "readme",
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
    "benchmarks/README.md": "benchmarks",
    "benchmarks/learning/README.md": "learning",
} | {f"plugins/{p.parent.name}/README.md": p.parent.name for p in ROOT.glob("plugins/*/README.md")}
"""Documents outside of docs/, and the names of their pages."""

SURFACES = ("ui_gym", "ui_gym_agents")
"""The packages whose `__all__` is the public surface."""

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|!?\[[^\]]*\](?:\([^)]*\))?)*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```(\w+) \S+$", re.MULTILINE)


def write(folder: Path) -> None:
    """Make all pages anew in `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "environments").mkdir(parents=True)
    for source, name in READMES.items():
        text = for_site((ROOT / source).read_text(), Path(source), f"{MADE}/{name}")
        (folder / f"{name}.md").write_text(text)
    for suite, title in SUITES.items():
        specs = [*_suite_itself(suite), *families(suite, extra=True)]
        for spec in specs:
            (folder / "environments" / f"{spec.name}.md").write_text(_environment(spec))
        pages = "\n".join(f"environments/{spec.name}" for spec in specs)
        (folder / f"{suite}.md").write_text(
            f"# {title}: every task\n\n```{{toctree}}\n:maxdepth: 1\n\n{pages}\n```\n"
        )
    for name in SURFACES:
        (folder / f"{name}.md").write_text(_surface(importlib.import_module(name)))


def for_site(text: str, source: Path, page: str) -> str:
    """A document of the repository as a page: its links lead to pages, its fences are plain.

    Args:
        text: The document, Markdown.
        source: Its path in the repository.
        page: The name of its page.
    """
    return _LINK.sub(lambda link: _relinked(link, source, page), _FENCE.sub(r"```\1", text))


def _relinked(link: re.Match[str], source: Path, page: str) -> str:
    mark, label, target = link.groups()
    if not mark and "](" in label:  # a picture that is a link
        label = for_site(label, source, page)
    if re.match(r"[a-z]+:|#", target):
        return f"{mark}[{label}]({target})"
    path, hash_mark, anchor = target.partition("#")
    wanted = os.path.normpath(source.parent / path)
    if wanted in READMES:
        wanted = f"docs/{MADE}/{READMES[wanted]}.md"
    if not wanted.startswith("docs/"):
        return label  # a file of the repository, and no page
    here = os.path.dirname(f"docs/{page}.md")
    return f"{mark}[{label}]({os.path.relpath(wanted, here)}{hash_mark}{anchor})"


# -- environments --


def _suite_itself(suite: str) -> list[TaskSpec]:
    return [spec for spec in registry.specs() if spec.suite == suite and "suite" in spec.tags]


def _environment(spec: TaskSpec) -> str:
    """The page of one environment: picture, docstring, facts, an example."""
    found = describe(spec.id, SEED, {})
    picture = Path(__file__).parent / "gallery" / f"{spec.name}.webp"
    shown = f"![The first screen of seed {SEED}](../../gallery/{picture.name})\n\n"
    facts = {
        "suite": found.suite,
        "category": found.category,
        "difficulty": found.difficulty,
        "steps": f"at most {found.max_steps}",
        "screen": "{} x {} pixels".format(*found.viewport),
        "arguments": ", ".join(f"`{name}={default}`" for name, default in found.arguments),
        "mistakes that its judge must see": ", ".join(found.mistakes),
    }
    rows = "".join(f"| {name} | {value} |\n" for name, value in facts.items() if value)
    return (
        f"# {spec.id}\n\n"
        f"{shown if picture.exists() else ''}"
        f"> {found.goal}\n\n"
        f"| | |\n|---|---|\n{rows}\n"
        f"```python\nimport gymnasium as gym\nimport ui_gym\n\n"
        f'env = gym.make("{spec.id}")\n'
        f"observation, info = env.reset(seed={SEED})\n```\n\n"
        f"{found.doc}\n"
    )


# -- the public surface --


def _surface(package: ModuleType) -> str:
    parts = [f"# {package.__name__}", inspect.getdoc(package) or ""]
    parts += [_entry(name, getattr(package, name)) for name in sorted(package.__all__)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _entry(name: str, value: object) -> str:
    """A class, function or value of the surface."""
    if not callable(value):
        return f"## {name}\n\n`{name} = {value!r}`" if isinstance(value, str) else f"## {name}"
    members = "\n\n".join(_members(value)) if inspect.isclass(value) else ""
    text = f"## {name}\n\n{_signature(name, value)}\n\n{_prose(value)}"
    return f"{text}\n\n{members}".rstrip()


def _signature(name: str, value: object) -> str:
    try:
        told = str(inspect.signature(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        told = "(...)"
    return f"```text\n{name}{re.sub(r' at 0x[0-9a-f]+', '', told)}\n```"


def _members(owner: type) -> Iterator[str]:
    """The methods and properties that a class itself documents."""
    for name, member in vars(owner).items():
        value = member.fget if isinstance(member, property) else member
        if name.startswith("_") or not inspect.isfunction(value) or not value.__doc__:
            continue
        head = name if isinstance(member, property) else _signature(name, value)
        shown = f"`{name}`" if isinstance(member, property) else head
        yield f"### {owner.__name__}.{name}\n\n{shown}\n\n{_prose(value)}"


_BLOCK = re.compile(r"^(Args|Raises|Returns|Yields):\n((?:[ \t]+.*\n?|\n)+)", re.MULTILINE)


def _prose(value: object) -> str:
    """A docstring as Markdown: its headings below ours, its Google blocks as lists."""
    if dataclasses.is_dataclass(value) and (value.__doc__ or "").startswith(f"{value.__name__}("):  # type: ignore[union-attr]
        return ""
    text = re.sub(r"^#+ (.*)$", r"**\1**", inspect.getdoc(value) or "", flags=re.MULTILINE)
    return _BLOCK.sub(_list, f"{text}\n").strip()


def _list(block: re.Match[str]) -> str:
    body = textwrap.dedent(block[2]).strip()
    items = re.split(r"\n(?=\S)", body)
    lines = [re.sub(r"^(\*?\w+):", r"`\1`:", " ".join(item.split())) for item in items]
    return f"**{block[1]}**\n\n" + "\n".join(f"- {line}" for line in lines) + "\n\n"
