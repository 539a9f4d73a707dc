"""The configuration loader: defaults < the plugin's < files < ``UI_GYM_*`` environment < flags.

It works on any tree of frozen pydantic models. A key is a path of field names (``run.seed``); it
is the same in a YAML file (nested), in the environment (``UI_GYM_RUN__SEED``) and as a flag
(``--run.seed 7``). Every mistake is found before any is reported, each with its source.

Text from flags and the environment goes to pydantic as it is, so that ``1e-5`` is a number where
a number is meant; lists and dicts are JSON (a list of words may also be ``a,b``).
"""

from __future__ import annotations

import difflib
import json
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from ui_gym.errors import UserError
from ui_gym_agents.training import yaml_text

ENV_PREFIX = "UI_GYM_"
M = TypeVar("M", bound=BaseModel)

_SEQUENCES = (list, tuple, set, frozenset)
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


class ConfigError(UserError):
    """Everything that is wrong with a configuration; `problems` has a line for each mistake."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


@dataclass(frozen=True)
class Read:
    """What a key of others means: a value of one of ours, a problem, or a remark for people."""

    key: str
    ours: str = ""
    value: Any = None
    problem: str = ""
    remark: str = ""


@dataclass(frozen=True)
class ForeignKeys:
    """Keys at the top of a file that are another program's.

    `knows` says of a key and its value whether it is one, and `read` what all of a file's mean.
    """

    knows: Callable[[str, Any], bool] = lambda key, value: False
    read: Callable[[Mapping[str, Any]], Iterable[Read]] = lambda values: ()


@dataclass
class Loaded(Generic[M]):
    """A configuration, and where each of its keys came from (a missing key: its default)."""

    config: M
    sources: dict[str, str]


@dataclass
class ConfigLoader(Generic[M]):
    """Collects values of keys, later ones replacing earlier ones, and validates them together."""

    model: type[M]
    values: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    foreign: ForeignKeys = ForeignKeys()
    """Keys of others that files may hold."""
    remarks: list[str] = field(default_factory=list)
    """What was read and means nothing, a line each."""

    def __post_init__(self) -> None:
        self.fields = leaves(self.model)
        self.sections = sections(self.model)

    # -- the layers, lowest first --

    def add_defaults(self, overrides: Mapping[str, Any], source: str) -> None:
        """Values by dotted key, such as a plugin's own defaults."""
        for key, value in overrides.items():
            self._set(key, value, source)

    def add_file(self, path: Path) -> None:
        """A YAML file. Its mistakes are named with the line."""
        try:
            node = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml_text.StrictLoader)
        except (OSError, UnicodeDecodeError) as error:
            self.problems.append(f"{path}: this file cannot be read: {error}")
            return
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            self.problems.append(f"{path}:{line}: this is not YAML: {error.problem}")
            return
        if node is not None:
            self._add_node(self._without_foreign(node, path), "", path)

    def add_environment(self, environment: Mapping[str, str]) -> None:
        """Variables such as ``UI_GYM_RUN__SEED``; those without ``__`` belong to others."""
        for name, text in sorted(environment.items()):
            if name.startswith(ENV_PREFIX) and ("__" in name or name == ENV_PREFIX + "PLUGIN"):
                key = name.removeprefix(ENV_PREFIX).lower().replace("__", ".")
                self._set_text(key, text, f"environment variable {name}")

    def add_flags(self, arguments: Sequence[str], aliases: Mapping[str, str] = {}) -> None:
        """Flags: ``--key value``, ``--key=value``, and ``--key`` or ``--no-key`` for a bool.

        `aliases` maps short flags without their dashes to keys (``resume`` to ``run.resume``).
        """
        rest = list(arguments)
        while rest:
            word = rest.pop(0)
            if not word.startswith("--"):
                self.problems.append(
                    f"unexpected argument {word!r}; settings are written as --section.key value"
                )
                continue
            flag, equals, text = word.partition("=")
            key = aliases.get(flag[2:], flag[2:].replace("-", "_"))
            positive = aliases.get(flag[5:], flag[5:].replace("-", "_"))
            if equals:
                self._set_text(key, text, f"flag {flag}")
            elif flag.startswith("--no-") and self._is_bool(positive):
                self._set(positive, False, f"flag {flag}")
            elif self._is_bool(key) and not (rest and rest[0].lower() in _TRUE + _FALSE):
                self._set(key, True, f"flag {flag}")
            elif rest and not rest[0].startswith("--"):
                self._set_text(key, rest.pop(0), f"flag {flag}")
            elif self._known(key):
                self.problems.append(f"flag {flag}: a value is missing")
            else:
                self._unknown(key, f"flag {flag}")

    def load(self) -> Loaded[M]:
        """The validated configuration.

        Raises:
            ConfigError: with every mistake of every layer.
        """
        nested: dict[str, Any] = {}
        for key, value in self.values.items():
            *path, name = key.split(".")
            inner = nested
            for section in path:
                inner = inner.setdefault(section, {})
            inner[name] = value
        config = None
        try:
            config = self.model.model_validate(nested)
        except ValidationError as error:
            self.problems += [self._explain(problem) for problem in error.errors()]
        if self.problems or config is None:
            raise ConfigError(self.problems)
        return Loaded(config, self.sources)

    # -- one value --

    def _set(self, key: str, value: Any, source: str) -> None:
        if key in self.fields:
            self.values[key] = value
            self.sources[key] = source
        elif owner := self._dict_of(key):
            # A key inside a field that is a dict, such as --tasks.arguments.rows, adds to it.
            below = self.values.get(owner)
            inner = {**below} if isinstance(below, Mapping) else {}
            self.values[owner] = {**inner, key[len(owner) + 1 :]: value}
            self.sources[owner] = source
        elif key in self.sections:
            self.problems.append(f"{source}: {key} is a section; set its keys, {self._some(key)}")
        else:
            self._unknown(key, source)

    def _set_text(self, key: str, text: str, source: str) -> None:
        info = self.fields.get(key)
        annotation = info.annotation if info else Any
        try:
            self._set(key, _from_text(text, annotation), source)
        except ValueError as error:
            self.problems.append(f"{source}: {error} (got {text!r})")

    def _without_foreign(self, node: yaml.Node, path: Path) -> yaml.Node:
        """The file without the keys that are another program's, whose meaning is taken over."""
        if not isinstance(node, yaml.MappingNode):
            return node
        theirs: dict[str, Any] = {}
        lines: dict[str, int] = {}
        kept = []
        for name, child in node.value:
            try:
                value = yaml_text.construct(child)
            except yaml.YAMLError:
                value = None  # it is told where the key is read
            if self.foreign.knows(str(name.value), value):
                theirs[str(name.value)] = value
                lines[str(name.value)] = name.start_mark.line + 1
            else:
                kept.append((name, child))
        for found in self.foreign.read(theirs):
            where = f"{path}:{lines[found.key]}"
            if found.problem:
                self.problems.append(f"{where}: {found.key}: {found.problem}")
            elif found.remark:
                self.remarks.append(f"{where}: {found.key} {found.remark}")
            else:
                self._set(found.ours, found.value, where)
        node.value = kept
        return node

    def _add_node(self, node: yaml.Node, prefix: str, path: Path) -> None:
        """Add a mapping of a YAML file; `prefix` is the section that it stands for."""
        where = f"{path}:{node.start_mark.line + 1}"
        if not isinstance(node, yaml.MappingNode):
            if prefix and isinstance(node, yaml.ScalarNode) and node.value in ("", "null", "~"):
                return
            what = f"the section {prefix}" if prefix else "the file"
            self.problems.append(f"{where}: {what} must hold keys and values")
            return
        seen: set[str] = set()
        for name, child in node.value:
            key = f"{prefix}.{name.value}" if prefix else str(name.value)
            where = f"{path}:{name.start_mark.line + 1}"
            if key in seen:
                self.problems.append(f"{where}: {key} is given twice")
            seen.add(key)
            if key in self.sections:
                self._add_node(child, key, path)
                continue
            try:
                self._set(key, yaml_text.construct(child), where)
            except yaml.YAMLError as error:
                self.problems.append(f"{where}: {key}: {error}")

    # -- what is known --

    def _known(self, key: str) -> bool:
        return key in self.fields or key in self.sections or bool(self._dict_of(key))

    def _dict_of(self, key: str) -> str | None:
        """The dict field that `key` lies in, if any."""
        parts = key.split(".")
        owners = (".".join(parts[:n]) for n in range(len(parts) - 1, 0, -1))
        return next(
            (o for o in owners if o in self.fields and dict in kinds(self.fields[o].annotation)),
            None,
        )

    def _is_bool(self, key: str) -> bool:
        return key in self.fields and bool in kinds(self.fields[key].annotation)

    def _some(self, section: str) -> str:
        inside = [key for key in self.fields if key.startswith(section + ".")]
        return "such as " + ", ".join(inside[:3])

    def _unknown(self, key: str, source: str) -> None:
        dash = "--" if source.startswith("flag") else ""
        close = near_keys(key, self.fields)
        if close:
            hint = "did you mean " + " or ".join(dash + name for name in close) + "?"
        else:
            hint = "known sections: " + ", ".join(sorted(self.sections))
        named = "" if source.endswith(key) else f"{key}: "
        self.problems.append(f"{source}: {named}unknown key; {hint}")

    def _explain(self, problem: Mapping[str, Any]) -> str:
        """One of pydantic's errors as a line that names key, source, value and rule."""
        path = [str(part) for part in problem["loc"]]
        keys = (".".join(path[:n]) for n in range(len(path), 0, -1))
        key = next((k for k in keys if k in self.fields or k in self.sections), ".".join(path))
        source = self.sources.get(key, "default")
        named = "" if source.endswith(key) else f"{key}: "
        if problem["type"] == "missing" and ".".join(path) == key:
            return f"{key}: a value is required; give --{key} or write it in the --config file"
        inside = ".".join(path)[len(key) + 1 :]
        within = f" in {inside}" if inside and key in self.fields else ""
        return f"{source}: {named}{problem['msg']}{within} (got {problem['input']!r})"


def near_keys(key: str, fields: Mapping[str, FieldInfo]) -> list[str]:
    """The keys, anywhere in a tree, that somebody may have meant who wrote `key`; best first.

    The right word in a wrong section or in none goes first (``--lr``, ``--traner.lr``), then a word
    that is nearly right, its initials, or what a key's description calls it
    (``--trainer.learning_rate`` for ``trainer.lr``). Of equals, those of the section that was
    named go first.
    """
    section, _, word = key.rpartition(".")

    def best(found: Iterable[str]) -> list[str]:
        def rank(name: str) -> tuple[float, int]:
            return -_likeness(name.rpartition(".")[0], section), name.count(".")

        ranked = sorted(found, key=rank)
        inside = [k for k in ranked if section and k.startswith(section + ".")]
        return (inside or ranked)[:3]

    last = {name: name.rpartition(".")[2] for name in fields}
    same = [name for name in fields if last[name] == word]
    alike = difflib.get_close_matches(word, set(last.values()), n=1, cutoff=0.7)
    inside = difflib.get_close_matches(
        word, [w for name, w in last.items() if name.startswith(section + ".")], n=1
    )
    whole = difflib.get_close_matches(key, fields, n=1, cutoff=0.8)
    return (
        best(same)
        or best(name for name in fields if last[name] in inside and name.startswith(section + "."))
        or whole
        or best(name for name in fields if _is_short(last[name], word))
        or best(name for name, info in fields.items() if _says(info.description, word))
        or best(name for name in fields if last[name] in alike)
        or difflib.get_close_matches(key, fields, n=1)
    )


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def _is_short(one: str, other: str) -> bool:
    """Whether one name is the initials of the other."""
    return any(
        "_" in long and short == "".join(part[:1] for part in long.split("_"))
        for short, long in ((one, other), (other, one))
    )


def _says(description: str | None, word: str) -> bool:
    """Whether a description begins with what a name says in full."""
    text = word.replace("_", " ")
    return len(text) > 3 and text in (description or "").lower().partition(".")[0]


def leaves(model: type[BaseModel], prefix: str = "") -> dict[str, FieldInfo]:
    """All fields of a tree of models that hold values, by dotted key, in order."""
    found: dict[str, FieldInfo] = {}
    for name, info in model.model_fields.items():
        inner = section_model(info)
        if inner is None:
            found[prefix + name] = info
        else:
            found.update(leaves(inner, f"{prefix}{name}."))
    return found


def sections(model: type[BaseModel], prefix: str = "") -> set[str]:
    """The dotted names of all sections in a tree of models."""
    found: set[str] = set()
    for name, info in model.model_fields.items():
        inner = section_model(info)
        if inner is not None:
            found |= {prefix + name} | sections(inner, f"{prefix}{name}.")
    return found


def section_model(info: FieldInfo) -> type[BaseModel] | None:
    """The model of a field that is a section of its own."""
    annotation = info.annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None


def kinds(annotation: Any) -> set[Any]:
    """The plain types that an annotation admits; a Literal's values stand for themselves."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return kinds(get_args(annotation)[0])
    if origin in (typing.Union, types.UnionType):
        return set().union(*(kinds(part) for part in get_args(annotation)))
    if origin is Literal:
        return set(get_args(annotation))
    return {origin or annotation}


def _from_text(text: str, annotation: Any) -> Any:
    """What a flag's or variable's text stands for; most of it is left to pydantic.

    Raises:
        ValueError: it is meant to be JSON, and is not.
    """
    admitted = kinds(annotation)
    if type(None) in admitted and text.lower() in ("null", "none"):
        return None
    if Any in admitted:
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            return text
    is_list = any(kind in _SEQUENCES for kind in admitted)
    is_model = any(isinstance(k, type) and issubclass(k, BaseModel) for k in admitted)
    if not (is_list or dict in admitted or is_model) or text in admitted:
        return text
    if text.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"this is not JSON ({error.msg} at column {error.colno})") from error
    if is_list:
        return [word.strip() for word in text.split(",") if word.strip()]
    if str in admitted:
        return text
    raise ValueError('this is written as JSON, such as {"name": 1}')
