"""The file cache: kept by address, whole or not at all, filled from the web, read without it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import inspect
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import QuietHandler, serving

from ui_gym.desktop.osworld import cache as caches
from ui_gym.desktop.osworld.cache import FileCache, TaskFiles
from ui_gym.desktop.osworld.fetching import Fetched, fetch
from ui_gym.errors import UserError

BODY = bytes(range(256)) * 512


class Web(QuietHandler):
    """Serves `BODY`; how badly, its path says."""

    asked: list[tuple[str, str | None]] = []

    def answer(self) -> None:
        wanted = self.headers.get("Range")
        Web.asked.append((self.path, wanted))
        tries = sum(path == self.path for path, _ in Web.asked)
        kind = self.path.strip("/").partition("-")[0]
        if kind == "absent":
            self.send_error(404)
        elif kind == "busy" and tries < 3:
            self.send_error(503)
        elif wanted and kind == "cut":
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            self._send(206, BODY[start:])
        elif (kind in ("cut", "restart") and tries == 1) or kind == "broken":
            self._send(200, BODY[:1000], length=len(BODY))
        else:
            self._send(200, BODY)

    def _send(self, status: int, body: bytes, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def web() -> Iterator[str]:
    Web.asked = []
    with serving(Web) as server:
        yield f"http://127.0.0.1:{server.server_port}"


@pytest.fixture
def cache(tmp_path: Path) -> FileCache:
    return FileCache(tmp_path / "cache")


def bring(cache: FileCache, *urls: str) -> list[Fetched]:
    return list(fetch(urls, cache, timeout=5, pauses=(0.0, 0.0)))


@contextlib.contextmanager
def cache_locked(cache: FileCache, url: str) -> Iterator[list[object]]:
    """As while another process fetches that address."""
    cache.folder.mkdir(parents=True, exist_ok=True)
    with cache.part(url).with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield []


def test_what_was_fetched_is_there_without_a_network(cache: FileCache, web: str) -> None:
    url = f"{web}/file"
    assert bring(cache, url) == [Fetched(url)]
    path = FileCache(cache.folder).get(url)
    assert path.read_bytes() == BODY
    assert path.name == hashlib.sha256(url.encode()).hexdigest()
    index = json.loads((cache.folder / "index.json").read_text())
    assert index[path.name] == {
        "url": url, "size": len(BODY), "sha256": hashlib.sha256(BODY).hexdigest(),
    }  # fmt: skip
    assert bring(cache, url) == []
    assert len(Web.asked) == 1


def test_an_interrupted_transfer_is_continued(cache: FileCache, web: str) -> None:
    url = f"{web}/cut"
    assert bring(cache, url) == [Fetched(url)]
    assert cache.get(url).read_bytes() == BODY
    assert Web.asked == [("/cut", None), ("/cut", "bytes=1000-")]


def test_a_server_that_cannot_continue_sends_it_again(cache: FileCache, web: str) -> None:
    url = f"{web}/restart"
    assert bring(cache, url) == [Fetched(url)]
    assert cache.get(url).read_bytes() == BODY


def test_a_busy_server_is_asked_again_and_an_absent_file_is_not(cache: FileCache, web: str) -> None:
    assert bring(cache, f"{web}/busy") == [Fetched(f"{web}/busy")]
    (absent,) = bring(cache, f"{web}/absent")
    assert "404" in absent.problem
    assert [path for path, _ in Web.asked].count("/absent") == 1


def test_half_a_file_is_never_taken_for_the_whole(cache: FileCache, web: str) -> None:
    url = f"{web}/broken"
    # Each try continues the part, which the server sends from the start again.
    (found,) = bring(cache, url)
    assert "broke off after 1000 of" in found.problem
    assert cache.find(url) is None
    with pytest.raises(UserError, match="is not in the file cache"):
        cache.get(url)


def test_many_are_fetched_at_once_and_counted(cache: FileCache, web: str) -> None:
    urls = [f"{web}/many-{n}" for n in range(12)]
    grown: dict[str, int] = {}
    found = list(fetch(urls, cache, lambda url, done, total: grown.update({url: done})))
    assert {one.url for one in found} == set(urls)
    assert set(grown.values()) == {len(BODY)}
    assert len(json.loads((cache.folder / "index.json").read_text())) == 12


def test_addresses_may_hold_any_character(cache: FileCache, web: str) -> None:
    url = f"{web}/file-ü a%20b?c=d&e"
    assert bring(cache, url) == [Fetched(url)]
    assert Web.asked == [("/file-%C3%BC%20a%20b?c=d&e", None)]
    assert cache.get(url).read_bytes() == BODY


def test_two_fetches_at_once_bring_a_file_once(cache: FileCache, web: str) -> None:
    url = f"{web}/file"
    with cache_locked(cache, url) as entered:
        second = threading.Thread(target=lambda: entered.append(bring(cache, url)))
        second.start()
        cache.part(url).write_bytes(BODY)
        FileCache(cache.folder).add(url, cache.part(url))
    second.join(30)
    assert entered == [[Fetched(url)]]
    assert Web.asked == []


def test_a_file_that_cannot_be_kept_is_a_problem_of_its_own(
    cache: FileCache, web: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache, "add", full)
    (found,) = bring(cache, f"{web}/file")
    assert "No space left on device" in found.problem


def test_only_addresses_of_the_web_are_fetched(cache: FileCache) -> None:
    (found,) = bring(cache, "ftp://a.example/b")
    assert found.problem == "only http and https addresses are fetched"


def test_a_file_that_was_cut_short_later_counts_as_missing(cache: FileCache, web: str) -> None:
    url = f"{web}/file"
    bring(cache, url)
    cache.get(url).write_bytes(BODY[:-1])
    assert cache.find(url) is None
    assert bring(cache, url) == [Fetched(url)]
    assert cache.get(url).read_bytes() == BODY


def test_a_missing_file_is_named_with_the_command(cache: FileCache) -> None:
    with pytest.raises(UserError, match=r"^https://a.example/b is not .*`ui-gym osworld fetch"):
        cache.get("https://a.example/b")


def test_a_damaged_index_is_named(cache: FileCache) -> None:
    cache.folder.mkdir()
    (cache.folder / "index.json").write_text("{")
    with pytest.raises(UserError, match=r"index.json of the file cache is damaged"):
        cache.find("https://a.example/b")


def test_the_environment_names_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UI_GYM_OSWORLD_CACHE", str(tmp_path / "here"))
    assert FileCache().folder == tmp_path / "here"
    monkeypatch.delenv("UI_GYM_OSWORLD_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert caches.default_folder() == tmp_path / "ui-gym" / "osworld"


def test_files_beside_the_task_file_need_no_cache(cache: FileCache, tmp_path: Path) -> None:
    (tmp_path / "a seed.txt").write_text("x")
    files = TaskFiles(tmp_path, cache)
    assert files.get("file:a%20seed.txt").read_text() == "x"
    assert files.get(f"file://{tmp_path}/a%20seed.txt").read_text() == "x"
    with pytest.raises(UserError, match=r"other.txt, which is not there"):
        files.get("file:other.txt")


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "file:../secret", "file:link", "file:%2e%2e/secret"]
)
def test_no_file_outside_the_task_files_folder_is_had(
    cache: FileCache, tmp_path: Path, url: str
) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(UserError, match="is outside"):
        TaskFiles(tmp_path / "task", cache).get(url)


@pytest.mark.parametrize("url", ["file://[x", "file:%00"])
def test_what_is_no_address_of_a_file_is_named(cache: FileCache, tmp_path: Path, url: str) -> None:
    with pytest.raises(UserError, match="is no address of a file"):
        TaskFiles(tmp_path, cache).get(url)


def test_a_transfer_may_be_silent_for_a_minute_and_no_longer() -> None:
    assert inspect.signature(fetch).parameters["timeout"].default == 60
