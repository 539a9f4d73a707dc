"""Somebody else's pages: served from a folder, shown in a fresh realm, and walled in."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browser_helpers import SIZE, Listener, MakeDevice, WritePage
from waiting import eventually

from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.chromium.wall import Traffic
from ui_gym.browser.documents import ORIGIN
from ui_gym.browser.site import Site
from ui_gym.contract import action as act
from ui_gym.contract.device import DeviceOptions
from ui_gym.errors import DeviceStartError, DeviceTimeout, TaskError

RED = base64.b64decode(  # a red pixel
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
)

FILES: dict[str, str | bytes] = {
    "index.html": """<!doctype html><title>site</title>
<link rel=stylesheet href="style.css"><script src="../lib/lib.js"></script>
<p id=home>home</p><a id=link href="other.html">other</a><div id=picture></div>
<button id=show onclick="document.getElementById('picture').className = 'red'">show</button>
<iframe id=frame src="frame.html"></iframe>
<script>window.loaded = [typeof library, getComputedStyle(home).color]</script>""",
    "style.css": "#home { color: rgb(1, 2, 3) } body { margin: 0 } "
    "#picture { width: 40px; height: 40px } #picture.red { background: url(red.png) }",
    "other.html": "<!doctype html><p id=other>other",
    "frame.html": "<!doctype html><p id=inner>inner",
    "red.png": RED,
    "../lib/lib.js": "var library = {};",
    "../secret.txt": "secret",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of web pages, with a folder beside it."""
    root = tmp_path_factory.mktemp("site")
    for name, content in FILES.items():
        path = root / "site" / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    (root / "outside.txt").write_text("outside")
    (root / "site" / "out").symlink_to(root / "outside.txt")
    return root / "site"


@pytest.fixture
def site(folder: Path) -> Site:
    return Site(folder)


# -- files --


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/pages/index.html", "pages/index.html"),
        ("/pages/style.css?v=2#top", "pages/style.css"),
        ("/pages/%69ndex.html", "pages/index.html"),
        ("/pages/../lib/lib.js", "lib/lib.js"),
        ("/pages", None),
        ("/", None),
        ("/none.html", None),
        ("/../outside.txt", None),
        ("/pages/../../outside.txt", None),
        ("/%2e%2e/outside.txt", None),
        ("/..%2foutside.txt", None),
        ("//outside.txt", None),
        ("/out", None),
        ("/pages/index.html%00", None),
    ],
)
def test_an_address_is_a_file_of_the_folder_or_nothing(
    site: Site, folder: Path, path: str, found: str | None
) -> None:
    assert site.file(ORIGIN + path) == (None if found is None else (folder / found).resolve())


def test_an_absolute_path_is_none_of_the_folder(site: Site, folder: Path) -> None:
    assert site.file(f"{ORIGIN}/{folder.parent / 'outside.txt'}") is None
    assert site.file((folder / "pages/index.html").as_uri()) is None
    assert site.file("https://elsewhere.test/pages/index.html") is None
    assert site.file(ORIGIN + ".elsewhere.test/pages/index.html") is None


def test_an_answer_says_what_it_is(site: Site) -> None:
    def told(path: str) -> tuple[int, dict[str, str], bytes]:
        answer = site.answer(site.url(path))
        headers = {header["name"]: header["value"] for header in answer["responseHeaders"]}
        return answer["responseCode"], headers, base64.b64decode(answer["body"])

    code, headers, body = told("pages/index.html")
    assert (code, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert headers["Content-Security-Policy"] == site.policy
    assert body.startswith(b"<!doctype html>")
    assert told("pages/red.png")[1]["Content-Type"] == "image/png"
    assert told("lib/lib.js")[1]["Content-Type"] == "text/javascript; charset=utf-8"
    assert told("none.js")[0] == 404


def test_traffic_is_settled_when_every_file_has_come() -> None:
    traffic = Traffic()
    traffic.settle(0)
    for number, url in (("1", "https://a.test/a.png"), ("2", "data:image/png;base64,")):
        told = {"requestId": number, "request": {"url": url}}
        traffic.note("Network.requestWillBeSent", told)
    with pytest.raises(DeviceTimeout, match=r"still loads https://a\.test/a\.png after 0\.01 s"):
        traffic.settle(0.01)
    traffic.note("Network.loadingFailed", {"requestId": "1"})
    traffic.settle(0)


# -- pages --


@pytest.fixture(scope="module", params=["beginframe", "screenshot"])
def device(request: pytest.FixtureRequest) -> Iterator[ChromiumDevice]:
    made = ChromiumDevice(DeviceOptions(f"chromium:{request.param}", size=SIZE))
    made.start()
    yield made
    made.close()


def test_a_page_has_its_scripts_styles_and_frames(device: ChromiumDevice, site: Site) -> None:
    device.visit(site, "pages/index.html")
    assert device.evaluate("loaded") == ["object", "rgb(1, 2, 3)"]
    assert device.evaluate("frames[0].document.body.textContent").strip() == "inner"
    assert device.evaluate("location.href") == ORIGIN + "/pages/index.html"


def test_a_page_that_is_not_there_is_named(device: ChromiumDevice, site: Site) -> None:
    with pytest.raises(TaskError, match=r"site has no file 'pages/none\.html'"):
        device.visit(site, "pages/none.html")


def test_each_visit_has_a_realm_of_its_own(device: ChromiumDevice, site: Site) -> None:
    device.visit(site, "pages/index.html")
    first = device.capture().image
    device.evaluate("void (window.left = 1, Array.prototype.odd = 1, uiGym.log('said'))")
    device.perform(act.Click(*device.center("#show")))
    device.perform(act.Wait(2))
    device.visit(site, "pages/index.html")
    assert device.evaluate("[typeof left, typeof [].odd]") == ["undefined", "undefined"]
    assert device.evaluate("Date.now() - Date.UTC(2026, 0, 15, 9)") == 0
    assert device.events == ()
    assert np.array_equal(device.capture().image, first)


def test_pages_of_ours_and_sites_take_turns(
    device: ChromiumDevice, site: Site, page: WritePage
) -> None:
    ours = page("<p id=ours>ours</p>")
    for _ in range(2):
        device.load(ours, {})
        assert device.evaluate("document.querySelector('#ours').textContent") == "ours"
        assert device.evaluate("innerWidth") == SIZE[0]
        device.visit(site, "pages/other.html")
        assert device.evaluate("document.querySelector('#other').textContent") == "other"


def test_a_picture_is_taken_when_its_files_have_come(
    device: ChromiumDevice, site: Site, make_device: MakeDevice
) -> None:
    fresh = make_device()  # with nothing in its memory
    for each in (fresh, device):
        each.visit(site, "pages/index.html")
        left, top, _, _ = each.box("#picture")
        each.perform(act.Click(*each.center("#show")))
        assert each.capture().image[top + 5, left + 5].tolist() == [255, 0, 0]


def test_an_action_takes_the_page_time_that_the_site_wants(
    device: ChromiumDevice, folder: Path
) -> None:
    device.visit(Site(folder, rest=0.7), "pages/other.html")
    device.perform(act.Click(5, 5))
    device.perform(act.Wait(1))
    assert device.evaluate("performance.now()") == pytest.approx(2400)


def test_a_script_runs_before_those_of_every_document(device: ChromiumDevice, folder: Path) -> None:
    script = "window.early = [document.body === null, typeof uiGym.tick];"
    device.visit(Site(folder, script), "pages/index.html")
    assert device.evaluate("early") == [True, "function"]
    assert device.evaluate("frames[0].early") == [True, "function"]


def test_a_page_may_be_larger_than_what_is_seen(device: ChromiumDevice, folder: Path) -> None:
    device.visit(Site(folder, viewport=(900, 700)), "pages/index.html")
    assert device.evaluate("[innerWidth, innerHeight]") == [900, 700]
    device.evaluate("void (document.body.style.background = 'linear-gradient(90deg, red, blue)')")
    picture = device.capture().image
    assert picture.shape == (SIZE[1], SIZE[0], 3)
    assert abs(int(picture[-5, -5, 2]) - 255 * SIZE[0] / 900) < 4


def test_a_framebuffer_shows_no_sites(site: Site) -> None:
    device = ChromiumDevice(DeviceOptions(size=SIZE))
    device._capture.framed = True
    with pytest.raises(DeviceStartError, match="ask for chromium:beginframe"):
        device.visit(site, "pages/index.html")


# -- walls --


WAYS_OUT = """((url) => {
  fetch(url + "fetch").catch(() => {});
  new Image().src = url + "image";
  document.body.append(Object.assign(document.createElement("script"), { src: url + "script" }));
  document.querySelector("iframe").src = url + "frame";
  const link = Object.assign(document.createElement("a"), { href: url + "link" });
  document.body.append(link);
  link.click();
})"""


@pytest.mark.parametrize("policy", [None, "default-src * 'unsafe-inline'"])
def test_nothing_comes_out(
    device: ChromiumDevice, folder: Path, listener: Listener, policy: str | None
) -> None:
    """Without the site's own policy the other walls stand. (test_isolation has the control.)"""
    device.visit(
        Site(folder) if policy is None else Site(folder, policy=policy), "pages/index.html"
    )
    device.evaluate(f"{WAYS_OUT}({listener.url('')!r})")
    device.perform(act.Wait(1))
    assert not eventually(lambda: listener.heard, 0.5)
    assert device.evaluate("document.querySelector('#home') !== null")


@pytest.mark.parametrize("target", ["other.html", "none.html", "/", "https://elsewhere.test/"])
def test_a_page_does_not_leave(device: ChromiumDevice, site: Site, target: str) -> None:
    device.visit(site, "pages/index.html")
    device.evaluate(f"void (document.querySelector('#link').href = {target!r})")
    device.perform(act.Click(*device.center("#link")))
    device.evaluate(f"void setTimeout(() => location = {target!r})")
    device.perform(act.Wait(1))
    device.capture()
    assert device.evaluate("document.querySelector('#home') !== null")


def test_a_frame_may_go_on_within_the_site(device: ChromiumDevice, site: Site) -> None:
    device.visit(site, "pages/index.html")
    device.evaluate("void (document.querySelector('#frame').src = 'other.html')")
    assert eventually(
        lambda: "other" in device.evaluate("frames[0].document.body?.textContent ?? ''")
    )


# -- lists and pickers --

LISTS = """<!doctype html><style>body { margin: 4px; font: 14px sans-serif }</style>
<select id=fruit><option>apple<option>banana<option disabled>cherry<optgroup label=More>
<option value=d>date</option></optgroup></select>
<select id=low style="position: absolute; left: 250px; top: 230px"><option>first<option>second
<option>third<option>fourth</select><input id=day type=date><input id=hue type=color>
<script>var said = []; for (const type of ["input", "change", "click", "mousedown"])
document.addEventListener(type, (event) => said.push(type + " " + event.target.id));</script>"""


@pytest.fixture
def lists(device: ChromiumDevice, tmp_path: Path) -> ChromiumDevice:
    (tmp_path / "lists.html").write_text(LISTS)
    device.visit(Site(tmp_path), "lists.html")
    return device


def options(device: ChromiumDevice) -> dict[str, tuple[int, int]]:
    """The rows that can be seen of an open list, and where they are."""
    elements = device.capture(elements=True).elements
    return {element.name: element.center for element in elements if element.role == "option"}


def test_a_list_opens_in_the_page_and_an_option_is_clicked(lists: ChromiumDevice) -> None:
    assert options(lists) == {}
    closed = lists.capture().image
    lists.perform(act.Click(*lists.center("#fruit")))
    rows = options(lists)
    assert list(rows) == ["apple", "banana", "cherry", "date"]
    assert not np.array_equal(lists.capture().image, closed)
    lists.evaluate("void (said.length = 0)")
    lists.perform(act.Click(*rows["cherry"]))
    assert lists.evaluate("[fruit.value, said]") == ["apple", []]
    lists.perform(act.Click(*rows["date"]))
    assert lists.evaluate("[fruit.value, said]") == ["d", ["input fruit", "change fruit"]]
    assert options(lists) == {}
    assert lists.evaluate("document.activeElement.id") == "fruit"


@pytest.mark.parametrize("way", ["click", "space", "alt+down", "f4", "enter"])
def test_a_list_is_used_by_keys(lists: ChromiumDevice, way: str) -> None:
    lists.perform(act.Click(*lists.center("#fruit")) if way == "click" else act.Press("tab"))
    if way != "click":
        lists.perform(act.Press(way))
    assert len(options(lists)) == 4
    lists.perform(act.Press("down"))
    lists.perform(act.Press("down"))
    assert len(options(lists)) == 4
    lists.perform(act.Press("enter"))
    assert options(lists) == {}
    assert lists.evaluate("fruit.value") == "d"
    lists.perform(act.Type("ba"))
    assert lists.evaluate("fruit.value") == "banana"


def test_a_list_stays_in_sight_and_closes_beside_it(lists: ChromiumDevice) -> None:
    lists.perform(act.Click(*lists.center("#low")))
    rows = options(lists)
    assert list(rows) == ["first", "second", "third", "fourth"]
    assert all(0 < x < SIZE[0] and 0 < y < 230 for x, y in rows.values())
    lists.perform(act.Click(20, 150))
    assert options(lists) == {}
    assert lists.evaluate("low.value") == "first"


def test_pickers_stay_closed_and_their_fields_take_keys(lists: ChromiumDevice) -> None:
    left, top, width, height = lists.box("#day")
    for x in range(left + 4, left + width, 6):
        lists.perform(act.Click(x, top + height // 2))
    lists.perform(act.Press("alt+down"))
    lists.perform(act.Click(*lists.center("#hue")))
    lists.perform(act.Press("space"))
    lists.capture()
    lists.perform(act.Click(left + 6, top + height // 2))
    lists.perform(act.Type("01152026"))
    assert lists.evaluate("day.value") == "2026-01-15"
