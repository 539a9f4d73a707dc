"""Secrets that a training and an evaluation are given are in nothing that these leave or show.

Files, archives, tables, the shared database, what was printed, and command lines are searched, for
a secret in any form in which it may be written; each search finds one that was put there.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import pytest
from serving import QuietHandler, serving
from waiting import eventually

from tests.distributions import install
from tests.records.postgres_server import PASSWORD, Server, running
from ui_gym_agents.evaluation import cli as eval_cli
from ui_gym_agents.records import cli as records_cli
from ui_gym_agents.training import cli

KEY = "sk-key/of+the=served-model"
PROXY = "of/the+proxy"
SECRETS = {"the key": KEY, "the database's password": PASSWORD, "the proxy's password": PROXY}

VARIABLES = (
    "UI_GYM_SERVER_TOKEN", "UI_GYM_OSWORLD_TOKEN", "UI_GYM_MONITOR_TOKEN", "UI_GYM_OPENENV_TOKEN",
    "UI_GYM_UI_VERIFIERS_TOKEN", "UI_GYM_POLICY_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY", "GOOGLE_API_KEY", "HF_TOKEN", "WANDB_API_KEY", "PGPASSWORD", "TINKER_API_KEY",
)  # fmt: skip
"""Variables that hold what is nobody else's business."""

CANARY = "canary-in-a-setting"
"""A word that a run is to write down: whoever finds it finds the others."""

Train = Callable[..., tuple[int, str, str]]

Pieces = Iterator[tuple[str, bytes]]
"""What is searched: where it is, and what is there."""

ASKER = '''
import paint
from ui_gym_agents.agents import make_agent
from ui_gym_toy import Toy

class Asker(Toy):
    """Has a served model, `words[0]`, play boxes of the paint suite."""
    keeps_pictures = True
    defaults = {"tasks.ids": ["PaintClick"], "env.dialect": "canonical", "env.num_envs": 2,
                "run.steps": 2, "run.save_every": 1, "run.eval_every": 1,
                "evaluation.episodes": 2, "evaluation.quick_episodes": 2}

    def __init__(self, config, context):
        super().__init__(config, context)
        context.evaluator = None
        context.player = make_agent(config.words[0], context.envs.single_action_space)

    def step(self):
        self.context.collector.collect(self.context.requests(self.context.step, 2, 2))
        return super().step()
'''


# -- where a secret may be --


def forms(secret: str) -> dict[str, bytes]:
    """How a secret may be written."""
    return {
        "as it is": secret.encode(),
        "in a URL": quote(secret, safe="").encode(),
        "in JSON": json.dumps(secret)[1:-1].replace("/", "\\/").encode(),
        "in a proxy's header": base64.b64encode(f"me:{secret}".encode()),
        "in base64": base64.b64encode(secret.encode()),
        "in UTF-16": secret.encode("utf-16-le"),
    }


def found(pieces: Pieces) -> list[str]:
    """Each secret that is somewhere, and where."""
    known = [(n, how, data) for n, s in SECRETS.items() for how, data in forms(s).items()]
    return [
        f"{name}, {how}, is in {place}"
        for place, content in pieces
        for name, how, data in known
        if data in content
    ]


def in_files(folder: Path) -> Pieces:
    """All files below a folder, their names, and what is packed in them or lies in their tables."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield from in_file(str(path), path.read_bytes())


def in_file(place: str, content: bytes) -> Pieces:
    yield place, place.encode() + b"\n" + content
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            for name in packed.namelist():
                yield from in_file(f"{place}/{name}", packed.read(name))
    if content.startswith(b"SQLite format 3"):  # a long text is cut into pages
        with tempfile.NamedTemporaryFile(suffix=".sqlite") as copy:
            copy.write(content)
            copy.flush()
            with contextlib.closing(sqlite3.connect(copy.name)) as connection:
                yield f"a table of {place}", "\n".join(connection.iterdump()).encode()


def in_database(url: str) -> Pieces:
    """All rows of all tables, and what the server tells of its clients."""
    import psycopg

    with psycopg.connect(url) as connection:
        names = connection.execute(
            "SELECT quote_ident(table_name) FROM information_schema.tables "
            "WHERE table_schema = 'public'"
        ).fetchall()
        for (name,) in [*names, ("pg_stat_activity",)]:
            rows = connection.execute(f"SELECT t::text FROM {name} t").fetchall()
            yield f"the table {name}", "\n".join(row[0] for row in rows).encode()


class Lookout:
    """Reads, while it is open, the command lines of all processes below this one."""

    def __init__(self) -> None:
        self.lines: set[str] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Lookout:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def pieces(self) -> Pieces:
        for line in self.lines:
            yield f"the command line {line[:60]!r}", line.encode("utf-8", "surrogateescape")

    def _look(self) -> None:
        while not self._over.wait(0.1):
            for process in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    self.lines.add("\n".join([process.name(), *process.cmdline()]))


# -- who is told secrets --


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as made:
        yield made


@pytest.fixture
def model() -> Iterator[str]:
    """The address of a served model, which refuses a question now and then, and repeats its key."""
    count = 0

    class Handler(QuietHandler):
        def answer(self) -> None:
            nonlocal count
            count += 1
            self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers["Authorization"] != f"Bearer {KEY}":
                self.say(b"no such key", 401)
            elif count % 5 == 1:
                refused = {"error": {"message": f"{KEY} is over its quota", "headers": [KEY]}}
                self.say(json.dumps(refused).encode(), (400, 429, 500)[count // 5 % 3])
            else:
                said = {"choices": [{"message": {"content": f"click({count % 96}, 20)"}}]}
                self.say(json.dumps(said).encode())

    with serving(Handler) as http:
        yield f"http://127.0.0.1:{http.server_port}/v1"


@pytest.fixture
def told(work: Path, site: Path, server: Server) -> Mapping[str, str]:
    """An environment that holds all secrets, with no way around the proxies."""
    trainers = "[ui_gym.trainers]\nasker = ui_gym_asker:Asker\n"
    tasks = "[ui_gym.tasks]\nPaintClick = paint:PaintClick\n"
    install(work, "ui-gym-asker", "1.0", trainers + tasks, ui_gym_asker=ASKER)
    root = Path(cli.__file__).parents[2]
    proxy = f"http://me:{quote(PROXY, safe='')}@127.0.0.1:9"
    names = ("http_proxy", "https_proxy", "all_proxy")
    kept = {k: v for k, v in os.environ.items() if k.lower() not in (*names, "no_proxy")}
    return {
        **kept,
        **dict.fromkeys((*names, *map(str.upper, names)), proxy),
        "PYTHONPATH": os.pathsep.join(map(str, (work, site, root / "tests", root))),
        "OPENAI_API_KEY": KEY,
        "UI_GYM_DATABASE_URL": server.url("postgres"),
        "XDG_CACHE_HOME": str(work / "cache"),
        "TMPDIR": str(work),
    }


Command = Callable[..., str]


@pytest.fixture
def command(told: Mapping[str, str], work: Path) -> Command:
    """A command in that environment, called once or more, which must end well; what it printed."""

    def run(module: Any, *each: Sequence[str]) -> str:
        script = f"import json, sys\nfrom {module.__name__} import main\n"
        script += "for words in map(json.loads, sys.argv[1:]):\n"
        script += "    sys.argv[1:] = words\n    assert main() == 0, words\n"
        done = subprocess.run(
            [sys.executable, "-c", script, *map(json.dumps, each)], env=told, cwd=work, text=True,
            timeout=250, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout

    return run


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_no_secret_is_in_anything_that_a_training_and_an_evaluation_leave_or_show(
    command: Command, model: str, server: Server, work: Path
) -> None:
    pytest.importorskip("jinja2")
    agent = f"openai:m@{model}"
    training = (
        "--plugin", "asker", "--run.directory", "run", "--monitor=0",
        "--trainer.words", json.dumps([agent]), "--run.log_level", "debug",
        "--run.on_end", f"{sys.executable} -c pass {{status}} {{directory}}",
    )  # fmt: skip
    evaluation = (
        "--task", "PaintClick", "--episodes", "3", "--agent", agent, "--out", "evaluated",
        "--monitor",
    )  # fmt: skip
    records = (
        ("ls",), ("show", "run"), ("show", "run", "--json"), ("compare", "run", "run"),
        ("export", "run", "run.jsonl"), ("export", "run", "run.zip"), ("rebuild", "run"),
        ("flush", "run"), ("du", "--runs", "."), ("upgrade",),
    )  # fmt: skip
    with Lookout() as lookout:
        shown = [
            command(cli, training), command(eval_cli, evaluation), command(records_cli, *records)
        ]  # fmt: skip

    # All of it was there to be searched, and the server did repeat its key.
    assert any("ui_gym_agents.monitor" in line for line in lookout.lines)
    assert {path.name for path in work.rglob("*")} >= {
        "result.json", "events.jsonl", "episodes.jsonl", "config.yaml", "lock", "workers.json",
        "log.txt", "report.html", "evaluation.json", "run.jsonl", "run.zip",
    }  # fmt: skip
    assert list((work / "cache").rglob("*.sqlite")), "the monitor's index"
    assert "over its quota" in (work / "run" / "log.txt").read_text()
    tables = dict(in_database(server.url("postgres")))
    assert b"PaintClick" in tables["the table task"]

    assert found(in_files(work)) == []
    assert found(iter(tables.items())) == []
    assert found((f"output {n}", text.encode()) for n, text in enumerate(shown)) == []
    assert found(lookout.pieces()) == []


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("event", ["", "raise"])
def test_no_secret_of_the_environment_is_written_or_said(
    train: Train, work: Path, monkeypatch: pytest.MonkeyPatch, event: str, form: str
) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, f"hush-{name}-hush")
    status, output, errors = train(
        "--plugin", "toy", "--run.directory", "run", "--run.log_format", form,
        "--trainer.event", event, "--trainer.at", "3", "--trainer.words", f'["{CANARY}"]',
    )  # fmt: skip
    assert status == (1 if event else 0), errors
    assert [place for place, content in in_files(work) if b"hush-" in content] == []
    assert "hush-" not in output + errors
    written = {Path(place).name for place, content in in_files(work) if CANARY.encode() in content}
    assert {"config.yaml", "events.jsonl", "records.sqlite"} <= written


# -- that a secret would be found --


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("form", forms(""))
def test_a_secret_in_a_file_is_found(form: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "log.txt").write_bytes(b"x" + forms(SECRETS[name])[form] + b"x")
    assert any(line.startswith(name) for line in found(in_files(tmp_path)))


def test_a_secret_in_the_name_of_a_file_is_found(tmp_path: Path) -> None:
    (tmp_path / quote(KEY, safe="")).touch()
    assert len(found(in_files(tmp_path))) == 1


def test_a_secret_in_a_packed_file_is_found(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "run.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("config.yaml", f"key: {KEY}\n" * 9)
    assert found(in_files(tmp_path)) == [f"the key, as it is, is in {tmp_path}/run.zip/config.yaml"]


def test_a_secret_in_a_table_is_found(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "records.sqlite")) as connection:
        connection.execute("CREATE TABLE training (config)")
        long = "x" * 4080 + PROXY + "x" * 9000  # cut by the end of a page
        connection.executemany("INSERT INTO training VALUES (?)", [(long[n:],) for n in range(9)])
        connection.commit()
    (line, *_) = found(in_files(tmp_path))
    assert line.startswith("the proxy's password, as it is, is in ")


def test_a_secret_in_the_shared_database_is_found(server: Server) -> None:
    import psycopg

    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE planted")
    url = server.url("planted")
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE training (config jsonb)")
        connection.execute("INSERT INTO training VALUES (%s)", [json.dumps({"url": url})])
    assert found(in_database(url)) == [
        "the database's password, in a URL, is in the table training"
    ]


def test_a_secret_in_a_command_line_is_found() -> None:
    words = [sys.executable, "-c", "import sys; sys.stdin.read()", f"--key={KEY}"]
    with Lookout() as lookout, subprocess.Popen(words, stdin=subprocess.PIPE):
        assert eventually(lambda: any(KEY in line for line in set(lookout.lines)))
    assert any(line.startswith("the key, as it is, ") for line in found(lookout.pieces()))
