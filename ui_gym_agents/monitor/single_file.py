"""A run as one HTML file that opens anywhere: no server, no network, no folder beside it.

It is the monitor's own page, with its modules, its answers and its pictures inside. A module of a
page that was opened from a disk cannot load another file, so each is a ``data:`` address in an
import map, and modules name each other by the map's words instead of relative paths. What the API
would answer lies in a JSON element, which `static/api.js` looks into.

A run may have a million episodes and a file should be sent by mail: some episodes are chosen, the
final evaluation's first, and the page says what is not in it. Charts and figures are whole.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, urlencode

from ui_gym.errors import UIGymError
from ui_gym_agents.monitor.archive import FindPicture
from ui_gym_agents.monitor.choice import Get, chosen
from ui_gym_agents.pictures import decoded

STATIC = Path(__file__).parent / "static"

EPISODES = 24
"""Episodes in a page, unless told otherwise."""
MOST_BYTES = 40 << 20
"""Bytes of pictures in a page, at most, as they are written in it."""
LARGE = 150 << 10
"""Bytes of a picture's file above which it is coded anew, with some loss."""
QUALITY = 80
"""Of the pictures that are coded anew, as WebP has it."""

_PLAIN = "/-_.!~*'()"
"""What `encodeURIComponent` leaves as it is, and what parts a path."""
_CLASSIC = "vendor/uplot.js"
"""A script that is no module: it sets a global name, which `charts.js` looks for first."""
_SPECIFIER = re.compile(
    r"""(?P<before>\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)(?P<quote>["'])(?P<path>\.{1,2}/[^"'\s]+)"""
    r"(?P=quote)"
)
_SHEET = re.compile(r"""<link\b[^>]*\brel=["']stylesheet["'][^>]*>\s*""")
_DROPPED = re.compile(
    r"<script\b.*?</script>\s*|<link\b(?![^>]*href=.data:)[^>]*>\s*|<meta\b[^>]*\bhttp-equiv=[^>]*>\s*",
    re.DOTALL,
)


def page(
    get: Get,
    picture: FindPicture,
    run: str,
    *,
    episodes: int = EPISODES,
    episode: str = "",
    most_bytes: int = MOST_BYTES,
) -> Iterator[str]:
    """The page of a run, piece by piece; one picture is in memory at a time.

    Args:
        get: Gives what the API answers to a path below ``/api/`` and its parameters.
        picture: Gives the picture of a hash.
        run: The run's id.
        episodes: How many episodes to choose.
        episode: The id of the only episode to show, with its tokens.
        most_bytes: Episodes whose pictures would need more are left out.
    """
    base = f"runs/{run}"
    facts = {**get(base, {}), "control": False}
    facts["place"] = facts.get("name", "")  # where it lies here is nobody else's business
    rows = [] if episode else chosen(get, base, facts, episodes)
    ids = [episode] if episode else [row["id"] for row in rows]
    kept = _Kept(get, base, picture, most_bytes, tokens=bool(episode))
    start = f"#/run/{run}" + (f"/episode/{episode}" if episode else "")
    head, body = _shell(str(facts.get("name", run)), start)
    yield head
    yield '<script type="application/json" id="archive">{"pictures":{'
    for id in ids:
        yield from kept.add(id)
    yield '},"responses":'
    yield _json(kept.responses(facts))
    yield "}</script>\n"
    yield f'<p class="export-note">{html.escape(_note(facts, kept, bool(episode)))}</p>\n'
    yield body


@dataclass
class _Kept:
    """The episodes that are in the page, and the answers that tell of them."""

    get: Get
    base: str
    picture: FindPicture
    room: int
    tokens: bool = False
    details: dict[str, dict[str, Any]] = field(default_factory=dict)
    pictures: set[str] = field(default_factory=set)
    left_out: int = 0
    coded: bool = False
    """Whether a picture was coded anew."""
    _told: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def add(self, id: str) -> Iterator[str]:
        """Take an episode in, if there is room: its pictures as members of a JSON object."""
        detail = {**self.get(f"{self.base}/episodes/{id}", {}), "may_override": False}
        shown = [*(turn["picture"] for turn in detail["turns"]), detail["final"]]
        wanted = [key for key in dict.fromkeys(shown) if key and key not in self.pictures]
        members = []
        room = self.room
        for key in wanted:
            uri = self._uri(key)
            if uri is None:
                continue
            room -= len(uri)
            if room < 0:
                self.left_out += 1
                return
            members.append((key, uri))
        for key, uri in members:
            yield f"{',' if self.pictures else ''}{_json(key)}:{_json(uri)}"
            self.pictures.add(key)
        self.room = room
        self.details[id] = self._with_tokens(id, detail)

    def _uri(self, key: str) -> str | None:
        """A picture as a ``data:`` address; None where there is none."""
        try:
            found = self.picture(key)
            if found is None:
                return None
            media, data = found.media, found.data
            if len(data) > LARGE:
                made = io.BytesIO()
                decoded(data).save(made, "WEBP", quality=QUALITY, method=1)
                if made.tell() < len(data):
                    media, data, self.coded = "image/webp", made.getvalue(), True
        except (OSError, UIGymError):
            return None
        return f"data:{media};base64,{base64.b64encode(data).decode()}"

    def _with_tokens(self, id: str, detail: dict[str, Any]) -> dict[str, Any]:
        """An episode's answer; tokens, which are long, are there for a single one alone."""
        turns = []
        for turn in detail["turns"]:
            number = turn["number"]
            if turn.get("tokens") and self.tokens:
                path = f"{self.base}/episodes/{id}/turns/{number}/tokens"
                self._told[_key(path)] = self.get(path, {})
            turns.append({**turn, "tokens": bool(turn.get("tokens")) and self.tokens})
        return {**detail, "turns": turns}

    # -- answers --

    def responses(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """All answers of the page, by what it asks."""
        base = self.base
        run = {key: value for key, value in facts.items() if key not in ("config", "heat")}
        told: dict[str, Any] = dict(self._told)
        told[_key("runs")] = {"runs": [run], "folders": [], "control": False, "static": True}
        told[_key("compare/choices")] = {"choices": []}
        told[_key(base)] = facts
        for name in ("steps", "failures"):
            told[_key(f"{base}/{name}")] = self.get(f"{base}/{name}", {})
        told[_key(f"{base}/workers")] = {
            "at": None, "processes": [], "slots": [], "queue": {}, "policy": {}, "nodes": [],
            "note": "This page was exported: it does not know of workers.",
        }  # fmt: skip
        told |= self._lists() | self._groups() | self._through()
        ids = list(self.details)
        for before, id, after in zip([None, *ids], ids, [*ids[1:], None], strict=False):
            detail = {**self.details[id], "prev": before, "next": after}
            told[_key(f"{base}/episodes/{id}")] = detail
        return told

    def _rows(self) -> list[dict[str, Any]]:
        """The summaries of the episodes: what a list tells of them."""
        long = ("turns", "params", "terms", "judge", "overrides", "prev", "next")
        return [
            {k: v for k, v in detail.items() if k not in long} | {"turns": len(detail["turns"])}
            for detail in self.details.values()
        ]

    def _lists(self) -> dict[str, Any]:
        """The list of all: of others, `static/api.js` takes those that fit."""
        rows = self._rows()
        told = {"episodes": rows, "next": None, "total": len(rows)}
        return {_key(f"{self.base}/episodes"): told}

    def _groups(self) -> dict[str, Any]:
        """The groups whose episodes are all in the page."""
        path = f"{self.base}/groups"
        told: dict[str, Any] = {}
        shown = []
        of_rows = {(row["group"], row["step"]) for row in self._rows() if row["kind"] == "step"}
        for group, step in sorted(pair for pair in of_rows if pair[0]):
            found = self.get(f"{path}/{group}", {"step": str(step)})
            if any(row["id"] not in self.details for row in found["episodes"]):
                continue
            told[_key(f"{path}/{group}")] = found
            told[_key(f"{path}/{group}", {"step": step})] = found
            listed = self.get(path, {"step": str(step)})["groups"]
            shown += [row for row in listed if row["group"] == group]
        newest = max((row["step"] for row in shown), default=None)
        told[_key(path)] = {"step": newest, "groups": shown, "next": None}
        return told

    def _through(self) -> dict[str, Any]:
        """The instances that were played several times, as far as they are in the page."""
        path = f"{self.base}/through"
        plays: dict[tuple[str, int], list[dict[str, Any]]] = {}
        for row in sorted(self._rows(), key=_moment):
            if row["kind"] != "step":
                plays.setdefault((row["task"], row["seed"]), []).append(row)
        several = {at: rows for at, rows in plays.items() if len(rows) > 1}
        told: dict[str, Any] = {_key(path): {"plays": []}}
        told[_key(f"{self.base}/seeds")] = {
            "next": None,
            "seeds": [
                {
                    "task": task, "seed": seed, "n": len(rows),
                    "steps": sorted({row["step"] for row in rows}),
                    "successes": sum(bool(row["success"]) for row in rows),
                }
                for (task, seed), rows in several.items()
            ],
        }  # fmt: skip
        for (task, seed), rows in plays.items():
            told[_key(path, {"task": task, "seed": seed})] = {"plays": rows}
        return told


def _moment(row: Mapping[str, Any]) -> tuple[int, int, str]:
    rank = {"baseline": 0, "final": 2}.get(row["kind"], 1)
    return row["step"], rank, row["mode"]


def _note(facts: Mapping[str, Any], kept: _Kept, single: bool) -> str:
    """What is in the page and what is not."""
    count, total = len(kept.details), facts.get("episodes")
    said = f"Exported from the run {facts.get('name', '')}; it does not change any more. "
    if single:
        said += "It shows one episode of it."
    elif isinstance(total, int) and total > count:
        said += (
            f"Charts and figures are of the whole run; of its {total} episodes {count} are here, "
            "chosen by evaluation, the best and the worst: lists, searches and counts of episodes "
            "know only these."
        )
    else:
        said += f"All its episodes are here ({count})."
    if kept.left_out:
        said += f" {kept.left_out} more were left out, for their pictures are too large."
    if kept.coded:
        said += " Large pictures were coded anew, with some loss."
    if not single:
        said += " Tokens are left out."
    return said


def _key(path: str, params: Mapping[str, Any] | None = None) -> str:
    """What `static/api.js` looks an answer up by: the parameters sorted, as URLSearchParams say."""
    path, params = f"/api/{quote(path, safe=_PLAIN)}", params or {}
    pairs = sorted((k, str(v)) for k, v in params.items() if v is not None and v != "")
    text = urlencode(pairs, safe="*").replace("~", "%7E")
    return f"{path}?{text}" if text else path


def _json(value: Any) -> str:
    """JSON that cannot end the element it stands in."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


# -- the page around it --


def _shell(name: str, start: str) -> tuple[str, str]:
    """The page before and after what is in it; `start` is what it shows first."""
    source = (STATIC / "index.html").read_text(encoding="utf-8")
    title = f"<title>{html.escape(name)} – ui-gym</title>"
    source = re.sub(r"<title>.*?</title>", lambda _: title, source, flags=re.DOTALL)
    style = "\n".join(_sheet(path) for path in _sheets(source)) + _NOTE_STYLE
    source = _DROPPED.sub("", _SHEET.sub("", source))
    scripts = [
        ("", (STATIC / _CLASSIC).read_text(encoding="utf-8")),
        ("importmap", json.dumps({"imports": _modules()})),
        ("module", f'if (!location.hash) location.replace({_json(start)}); import("ui/main.js");'),
    ]
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {_hash(style)}; script-src data: {' '.join(_hash(code) for _, code in scripts)}"
    )
    rule = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    # Before whatever it is to hold for, and behind the encoding, which has to come first of all.
    source = re.sub(r"<meta charset=[^>]*>", lambda m: f"{m[0]}\n{rule}", source, count=1)
    source = source.replace("</head>", f"<style>{style}</style>\n</head>", 1)
    body = re.search(r"<body\b[^>]*>\n?", source)
    assert body is not None, "index.html has no body"
    code = "".join(_script(kind, text) for kind, text in scripts)
    after = source[body.end() :]
    return source[: body.end()], after.replace("</body>", f"{code}</body>", 1)


def _script(kind: str, code: str) -> str:
    assert "</script" not in code.lower(), "a script cannot hold its own end"
    opening = f'<script type="{kind}">' if kind else "<script>"
    return f"{opening}{code}</script>\n"


_NOTE_STYLE = """
.export-note { margin: 0; padding: 6px 16px; font: 13px/1.4 system-ui, sans-serif;
  border-bottom: 1px solid #8886; background: #fde68a55; }
"""


def _sheets(source: str) -> list[Path]:
    """The style sheets: those that the page names, and the charts', which comes with them."""
    addresses = re.compile(r"""\bhref=["'](?:\./)?(?:static/)?([^"']+)["']""")
    named = [addresses.search(link) for link in _SHEET.findall(source)]
    paths = [STATIC / match[1] for match in named if match]
    own = STATIC / "vendor" / "uplot.css"
    return [*paths, *([] if own in paths else [own])]


def _sheet(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    assert "</style" not in text.lower(), f"{path} cannot be inlined"
    return text


def _modules() -> dict[str, str]:
    """The import map: ``ui/views/run.js`` is a module's text, which names others so, too."""
    found = {}
    for path in sorted(STATIC.rglob("*.js")):
        name = path.relative_to(STATIC).as_posix()
        if name == _CLASSIC:
            continue
        code = bare(path.read_text(encoding="utf-8"), name).encode()
        found[f"ui/{name}"] = f"data:text/javascript;base64,{base64.b64encode(code).decode()}"
    return found


def bare(source: str, name: str) -> str:
    """The text of the module `name` with bare names for what it imports by relative paths."""

    def renamed(match: re.Match[str]) -> str:
        parts = list(PurePosixPath(name).parent.parts)
        for part in PurePosixPath(match["path"]).parts:
            if part == "..":
                parts.pop()
            elif part != ".":
                parts.append(part)
        return f"{match['before']}{match['quote']}ui/{'/'.join(parts)}{match['quote']}"

    return _SPECIFIER.sub(renamed, source)


def _hash(code: str) -> str:
    digest = hashlib.sha256(code.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
