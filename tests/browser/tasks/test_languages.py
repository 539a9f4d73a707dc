"""Languages: each family that speaks one shows and asks for the same, and is judged alike."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_helpers import HANGING

from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.content.data import table
from ui_gym.browser.documents import document
from ui_gym.browser.family import Family
from ui_gym.browser.languages import LANGUAGES, TRANSLATED, drawn, language_of
from ui_gym.browser.suite import Browser
from ui_gym.contract.arguments import make_task
from ui_gym.contract.device import DeviceOptions
from ui_gym.contract.suite import families
from ui_gym.errors import UserError

TEXTS = """
[...document.querySelectorAll("body *:not(script)")].flatMap((node) => [
  ...[...node.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data),
  ...["aria-label", "placeholder"].map((name) => node.getAttribute(name)),
]).filter(Boolean)
"""
"""Gives all that a page says."""

SPEAKING = [spec for spec in families("browser") if spec.takes("language")]
SEED = 3


@pytest.fixture(scope="module")
def screen() -> Iterator[ChromiumDevice]:
    with contextlib.closing(ChromiumDevice(DeviceOptions(size=(1280, 800)))) as device:
        device.start()
        yield device


def pairs() -> list[Any]:
    """Every family in a language of its own by day, in the others at night."""
    found = []
    for number, spec in enumerate(SPEAKING):
        for place, language in enumerate(TRANSLATED):
            marks = [] if number % len(TRANSLATED) == place else [pytest.mark.nightly]
            found.append(
                pytest.param(spec.name, language, id=f"{spec.name}-{language}", marks=marks)
            )
    return found


def made(name: str, **arguments: Any) -> Family[Any]:
    task = make_task(f"UI/{name}-v0", arguments)
    assert isinstance(task, Family)
    return task


def solve(task: Family[Any], device: ChromiumDevice, params: Any) -> Iterator[list[str]]:
    """Plays the oracle, which must succeed, and gives what each screen says."""
    task.setup(device, params)
    yield device.evaluate(TEXTS)
    for demo in task.demonstrate(device, params):
        device.perform(demo.action)
        yield device.evaluate(TEXTS)
    verdict = task.judge(device, params, ())
    assert verdict.success, verdict.notes


@pytest.mark.parametrize(("name", "language"), pairs())
def test_a_family_is_all_in_the_language_and_judged_alike(
    name: str, language: str, screen: ChromiumDevice
) -> None:
    english, task = made(name), made(name, language=language)
    params = english.draw(SEED)
    assert params == task.draw(SEED)
    english.setup(screen, params)
    known = {what.partition(":")[0] for what in screen.evaluate(HANGING)}
    picture = screen.capture().image.copy()
    assert screen.evaluate("document.documentElement.lang") == "en"
    for _ in solve(english, screen, params):
        pass
    events = list(screen.events)

    task.setup(screen, params)
    assert screen.evaluate("document.documentElement.lang") == language
    assert {what.partition(":")[0] for what in screen.evaluate(HANGING)} <= known
    assert np.any(screen.capture().image != picture)
    say = task.speak(params)
    for texts in solve(task, screen, params):
        assert [text for text in texts if say(text) != text] == []
    assert list(screen.events) == events
    assert task.goal(params) != english.goal(params)
    assert not re.search(r"\{\w*\}", task.goal(params))


@pytest.mark.parametrize("name", [spec.name for spec in SPEAKING])
def test_english_is_as_without_the_argument(name: str) -> None:
    class Loaded:
        """Keeps what a page is given."""

        def load(self, page: str, params: dict[str, Any], *, seed: int) -> None:
            self.given = (page, dict(params), seed)

    plain, told = made(name), made(name, language="en")
    shown = []
    for task in (plain, told):
        device: Any = Loaded()
        task.setup(device, task.draw(SEED))
        shown.append((device.given, task.goal(task.draw(SEED))))
    assert shown[0] == shown[1]
    assert "language" not in shown[0][0][1]


@pytest.mark.parametrize("name", [spec.name for spec in SPEAKING])
def test_varied_draws_every_language_whatever_is_mistaken(name: str) -> None:
    task, english = made(name, language="varied"), made(name)
    heard = set()
    for seed in range(25):
        params = task.draw(seed)
        assert params == english.draw(seed)
        said = task.speak(params).name
        heard.add(said)
        assert task.goal(params) == made(name, language=said).goal(params)
        for mistake in task.mistakes:
            taken = task.misread(params, mistake, np.random.default_rng(seed))
            assert task.speak(taken).name == said
    assert heard == set(LANGUAGES)


def test_a_note_is_typed_in_its_language(screen: ChromiumDevice) -> None:
    task = made("ModalNoise", language="ja")
    params = next(p for p in map(task.draw, range(50)) if p.base == "note")
    for _ in solve(task, screen, params):
        pass
    typed = screen.events[-1].data["item"]
    assert typed in task.goal(params)
    assert not typed.isascii()


def test_lists_are_in_the_order_of_the_language(screen: ChromiumDevice) -> None:
    task = made("Registration", language="de", level="hard")
    task.setup(screen, task.draw(SEED))
    screen.evaluate("document.getElementById('country').click()")
    shown = screen.evaluate("[...document.querySelectorAll('.option')].map((o) => o.textContent)")
    assert shown.index("Armenien") < shown.index("Österreich") < shown.index("Panama")


# -- the catalogues --


def test_all_languages_say_all() -> None:
    english, *others = (table(f"languages/{name}") for name in LANGUAGES)
    for other in others:
        assert other["writing"].keys() == english["writing"].keys()
        assert other.keys() == others[0].keys()
        assert all(other[name].keys() == others[0][name].keys() for name in other)


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("spec", SPEAKING, ids=lambda spec: spec.name)
def test_no_translation_is_translated_again_or_asks_for_more(spec: Any, language: str) -> None:
    say = language_of(language, spec.load().translated)
    assert len(say.texts) > 50
    for text, said in say.texts.items():
        assert say(said) == said, text
        assert said.strip(), text
        if text != "for {nights} from {when}":  # some count the nights otherwise
            assert set(re.findall(r"\{\w*\}", said)) == set(re.findall(r"\{\w*\}", text)), text


@pytest.mark.parametrize("face", ["Inter", "Gazette"])
@pytest.mark.parametrize("language", TRANSLATED)
def test_every_letter_is_in_a_shipped_font(
    language: str, face: str, screen: ChromiumDevice, tmp_path: Path
) -> None:
    written = table(f"languages/{language}")
    texts = [text for one in written.values() for text in one.values()]
    letters = "".join(sorted(set(re.sub(r"\s", "", str(texts)))))
    page = tmp_path / "letters.html"
    page.write_text('<html lang="en"><head><!-- ui-gym --></head><body></body></html>')
    task = made("Login", language=language)
    screen.load(page, task.speak(task.draw(0)).on_page({}))
    for weight in (400, 600):
        styled = f"{face}, 'Noto Sans JP subset'"
        screen.evaluate(
            f'void (document.body.innerHTML = `<p style="font: {weight} 14px {styled}"></p>`)'
        )
        screen.evaluate(f"void (document.querySelector('p').textContent = {letters!r})")
        screen.capture()  # before it is drawn, it has no fonts
        screen.page.run([("DOM.enable", {}), ("CSS.enable", {}), ("DOM.getDocument", {})])
        one = ("Runtime.evaluate", {"expression": "document.querySelector('p')"})
        where = {"objectId": screen.page.run([one])[0]["result"]["objectId"]}
        (found,) = screen.page.run([("DOM.requestNode", where)])
        (used,) = screen.page.run([("CSS.getPlatformFontsForNode", {"nodeId": found["nodeId"]})])
        assert used["fonts"]
        assert [font for font in used["fonts"] if not font["isCustomFont"]] == []


# -- what is refused, and who takes it --


def test_what_cannot_be_said_is_refused() -> None:
    with pytest.raises(UserError, match="language is 'en', 'de', 'es', 'ja' or 'varied', not 'fr'"):
        made("Login", language="fr")
    with pytest.raises(UserError, match="Login: the compact page is in English alone"):
        made("Login", compact=True, language="de")
    silent = next(spec for spec in families("browser") if not spec.takes("language"))
    with pytest.raises(UserError, match=f"{silent.id} takes no argument 'language'"):
        made(silent.name, language="de")
    with pytest.raises(UserError, match=f"{silent.name} is in English alone, not in 'de'"):
        silent.load()(language="de")


def test_a_suite_gives_it_to_those_who_take_it() -> None:
    suite = Browser(arguments={"language": "de"})
    spoken = {
        spec.name: getattr(suite.members[spec.id], "language", "en") for spec in families("browser")
    }
    assert {name for name, language in spoken.items() if language == "de"} == {
        spec.name for spec in SPEAKING
    }
    assert len(SPEAKING) >= 10


def test_each_episode_has_one_language() -> None:
    assert {drawn("varied", digest) for digest in range(40)} == set(LANGUAGES)
    assert drawn("varied", 7) == drawn("varied", 7)
    assert drawn("ja", 7) == "ja"


def test_a_param_language_of_an_authors_own_page_is_the_authors(tmp_path: Path) -> None:
    page = tmp_path / "own.html"
    page.write_text('<html lang="en"><head><!-- ui-gym --></head><body></body></html>')
    shown = document(page, {"language": "de"}, 0)
    assert shown == document(page, {"language": "x"}, 0).replace('"x"', '"de"')
