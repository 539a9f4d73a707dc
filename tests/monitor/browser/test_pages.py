"""The monitor's pages in Chromium: what they draw, and how they follow keys, hands and changes."""

from __future__ import annotations

import pytest
from all_views import NAMES, ask, only_run, views
from made_runs import POINT, SIZE, MadeRun
from waiting import eventually
from watched_page import WatchedPage

from ui_gym_agents import overrides
from ui_gym_agents.monitor.app import MonitorServer

COLOURS = """
(selector) => {
  const canvas = document.querySelector(selector);
  if (!canvas?.width) return 0;
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
}
"""
"""How many different pixels a canvas has."""

RING = """
() => {
  const middle = (box) => [box.x + box.width / 2, box.y + box.height / 2];
  const ring = document.querySelector(".screen svg .ink.done circle").getBoundingClientRect();
  const picture = document.querySelector(".screen canvas").getBoundingClientRect();
  return { ring: middle(ring), picture: [picture.x, picture.y, picture.width, picture.height] };
}
"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
FOCUSED = "document.activeElement.closest('tr')?.rowIndex ?? 0"
BACKGROUND = "getComputedStyle(document.documentElement).backgroundColor"


def _episode(server: MonitorServer, **filters: str) -> tuple[str, str]:
    """The hash of an episode's page, and its id."""
    run = only_run(server)
    found = ask(server, f"runs/{run}/episodes", **filters)["episodes"][0]
    return f"#/run/{run}/episode/{found['id']}", found["id"]


# -- all views --


@pytest.mark.parametrize("name", NAMES)
def test_a_view_is_there_without_fault_and_asks_nobody_else(
    page: WatchedPage, shown: MonitorServer, name: str
) -> None:
    hash, text = views(shown)[name]
    page.open(f"{shown.url}/{hash}")
    page.until_seen(text)
    assert page.console == []
    assert page.dialogs == []
    assert len(page.urls()) > 5
    assert [url for url in page.urls() if not url.startswith(f"{shown.url}/")] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_view_fits_a_phone_and_a_zoomed_window(
    page: WatchedPage, shown: MonitorServer, name: str
) -> None:
    hash, text = views(shown)[name]
    page.resize((390, 844))
    page.open(f"{shown.url}/{hash}")
    page.until_seen(text)
    assert page.js(OVERFLOW) <= 0
    for size, scale in (((1280, 800), 0.8), ((1280, 800), 2.0)):
        page.resize(size, scale=scale)
        page.until(f"innerWidth === {round(size[0] / scale)}")
        assert page.js(OVERFLOW) <= 0, scale
    assert page.console == []


# -- curves --


def test_curves_are_drawn(page: WatchedPage, shown: MonitorServer) -> None:
    page.open(f"{shown.url}/{views(shown)['run'][0]}")
    page.until("document.querySelectorAll('canvas').length > 3")
    page.until(f"({COLOURS})('canvas') > 3")


def test_a_step_that_ends_appears_by_itself(
    page: WatchedPage, live: MonitorServer, run: MadeRun
) -> None:
    page.open(f"{live.url}/#/run/{only_run(live)}")
    page.until_seen("2 of 2")
    page.js("window.same = true")
    run.step(3)
    page.until_seen("3 of 2")
    assert page.js("window.same")


def test_an_episode_that_ends_appears_on_top(
    page: WatchedPage, live: MonitorServer, run: MadeRun
) -> None:
    page.open(f"{live.url}/#/run/{only_run(live)}/episodes")
    page.until_seen("12 episodes")
    run.step(3, (True,), goal="Find the newest.")
    page.until_seen("13 episodes")
    assert page.seen("tbody a.row")[0] == "Find the newest."


# -- the player --


@pytest.mark.parametrize("size", [(1280, 800), (700, 900), (390, 844)])
def test_the_ring_is_where_the_agent_clicked(
    page: WatchedPage, shown: MonitorServer, size: tuple[int, int]
) -> None:
    page.resize(size)
    page.open(f"{shown.url}/{_episode(shown)[0]}")
    page.until("document.querySelector('.screen svg .ink.done circle') !== null")
    page.until(f"({COLOURS})('.screen canvas') > 1")
    found = page.js(f"({RING})()")
    left, top, width, height = found["picture"]
    high, wide = SIZE
    for at, begin, length, pixels, asked in zip(
        found["ring"], (left, top), (width, height), (wide, high), POINT, strict=True
    ):
        pixel = (at - begin) / length * pixels
        # A click at a whole number is on that pixel, from its edge to the next.
        assert asked - 0.5 <= pixel <= asked + 1


def test_arrows_go_through_the_turns_and_the_address_says_where(
    page: WatchedPage, shown: MonitorServer
) -> None:
    page.open(f"{shown.url}/{_episode(shown)[0]}")
    page.until_seen("turn 1 of 2")
    page.press("Right")
    page.until_seen("turn 2 of 2")
    page.until("location.hash.includes('turn=1')")  # turns are counted from 0 there
    page.press("Left")
    page.until_seen("turn 1 of 2")
    page.press("End")
    page.until_seen("the end")
    page.press("Home")
    page.until_seen("turn 1 of 2")


def test_j_and_k_go_to_the_neighbours_of_an_episode(
    page: WatchedPage, shown: MonitorServer
) -> None:
    hash, first = _episode(shown)
    page.open(f"{shown.url}/{hash}")
    page.until_seen("seed 103")
    page.press("j")
    page.until(f"!location.hash.includes('{first}')")
    page.until_seen("seed 102")
    page.press("k")
    page.until(f"location.hash.includes('{first}')")


def test_an_override_holds_after_the_page_is_loaded_anew(
    page: WatchedPage, live: MonitorServer, run: MadeRun
) -> None:
    page.open(f"{live.url}/{_episode(live, won='0')[0]}")
    # The tokens come last, and push the form down.
    page.until_seen("Nobody has overridden the judge.", "tokens, together")
    page.press("o")
    page.until("document.querySelector('form.override') !== null")
    page.click("form.override textarea")
    page.type("It says Iris")
    page.click("form.override input[type=text]")
    page.type("Ada")
    page.click("form.override button[type=submit]")
    page.until_seen("It says Iris")
    page.reload()
    page.until_seen("It says Iris", "Ada", "overridden")
    assert [one.reason for one in overrides.history(run.folder)] == ["It says Iris"]


# -- keys --


def test_j_and_k_move_through_rows_and_enter_opens(page: WatchedPage, shown: MonitorServer) -> None:
    page.open(f"{shown.url}/{views(shown)['episodes'][0]}")
    page.until_seen("12 episodes")
    for key, row in (("j", 1), ("j", 2), ("j", 3), ("k", 2)):
        page.press(key)
        assert page.js(FOCUSED) == row
    page.press("Enter")
    page.until("location.hash.includes('/episode/')")
    page.until_seen("turn 1 of 2")


def test_the_question_mark_shows_the_keys_and_escape_closes(
    page: WatchedPage, shown: MonitorServer
) -> None:
    page.open(f"{shown.url}/")
    page.until_seen("1 of 1 run")
    page.type("?")
    page.until("document.querySelector('dialog[open]') !== null")
    page.until_seen("Light or dark")
    page.press("Escape")
    page.until("document.querySelector('dialog[open]') === null")


def test_keys_that_are_typed_into_a_field_are_text(page: WatchedPage, shown: MonitorServer) -> None:
    page.open(f"{shown.url}/")
    page.until_seen("1 of 1 run")
    before = page.js(BACKGROUND)
    page.press("/")
    page.type("t?")
    assert page.js("document.activeElement.value") == "t?"
    assert page.js(BACKGROUND) == before
    page.until_seen("No run matches")


TYPED_AT_ONCE = """
new MutationObserver((changes, observer) => {
  const field = document.querySelector("input[type=search]");
  if (!field) return;
  observer.disconnect();
  const type = (text) => {
    field.value += text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };
  type("no");
  setTimeout(() => type("body"), 150);
}).observe(document, { childList: true, subtree: true });
"""


def test_what_is_typed_as_soon_as_there_is_a_field_stays(
    page: WatchedPage, shown: MonitorServer
) -> None:
    page.run(("Page.addScriptToEvaluateOnNewDocument", {"source": TYPED_AT_ONCE}))
    page.open(f"{shown.url}/")
    page.until_seen("No run matches")
    assert page.js("document.querySelector('input[type=search]').value") == "nobody"


# -- themes --


def test_t_changes_the_theme_and_it_stays(page: WatchedPage, shown: MonitorServer) -> None:
    page.prefer("light")
    page.open(f"{shown.url}/")
    page.until_seen("1 of 1 run")
    light = page.js(BACKGROUND)
    page.press("t")
    page.until(f"{BACKGROUND} !== '{light}'")
    dark = page.js(BACKGROUND)
    page.reload()
    page.until(f"{BACKGROUND} === '{dark}'")


def test_the_systems_theme_holds_where_none_was_chosen(
    page: WatchedPage, shown: MonitorServer
) -> None:
    page.prefer("light")
    page.open(f"{shown.url}/")
    page.until_seen("1 of 1 run")
    light = page.js(BACKGROUND)
    page.prefer("dark")
    assert eventually(lambda: page.js(BACKGROUND) != light)
