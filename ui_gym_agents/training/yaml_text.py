"""YAML as people mean it: ``no`` is a word, and ``1e-5`` is a number (YAML 1.2's core schema)."""

from __future__ import annotations

import re
from typing import Any

import yaml

_FLOAT = "tag:yaml.org,2002:float"
_BOOL = "tag:yaml.org,2002:bool"
_NUMBER = re.compile(r"^[-+]?(\d+(\.\d*)?|\.\d+)[eE][-+]?\d+$")
_TRUE_FALSE = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")

Resolvers = dict[str, list[tuple[str, Any]]]


class StrictLoader(yaml.SafeLoader):
    """Reads the core schema. PyYAML alone would take ``no`` for False and ``1e-5`` for a word."""


class StrictDumper(yaml.SafeDumper):
    """Quotes every word that YAML 1.1 *or* 1.2 would read as something else."""


def construct(node: yaml.Node) -> Any:
    """The value of a node. Raises `yaml.YAMLError` for a tag that is not plain data."""
    loader = StrictLoader("")
    try:
        return loader.construct_document(node)
    finally:
        loader.dispose()


def dump(value: Any) -> str:
    """A value on one line of YAML that `StrictLoader` reads back as it was."""
    text = yaml.dump(value, Dumper=StrictDumper, default_flow_style=True, width=10**9)
    return text.removesuffix("...\n").strip()


def _with_numbers(known: Resolvers) -> Resolvers:
    resolvers = {first: list(rules) for first, rules in known.items()}
    for first in "+-.0123456789":
        resolvers.setdefault(first, []).append((_FLOAT, _NUMBER))
    return resolvers


def _core_schema(known: Resolvers) -> Resolvers:
    resolvers = {
        first: [(tag, rule) for tag, rule in rules if tag != _BOOL]
        for first, rules in _with_numbers(known).items()
    }
    for first in "tTfF":
        resolvers.setdefault(first, []).append((_BOOL, _TRUE_FALSE))
    return resolvers


StrictLoader.yaml_implicit_resolvers = _core_schema(yaml.SafeLoader.yaml_implicit_resolvers)
StrictDumper.yaml_implicit_resolvers = _with_numbers(yaml.SafeDumper.yaml_implicit_resolvers)
