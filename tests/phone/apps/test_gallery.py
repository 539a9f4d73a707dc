"""Every scene of every gallery: no text lies over another, or is lost at the screen's edge."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest
from driving import flaws

from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

GALLERIES = {
    path.stem.removeprefix("gallery_"): importlib.import_module(path.stem).SCENES
    for path in sorted(Path(__file__).parent.glob("gallery_*.py"))
}
SCENES = {
    f"{app}: {name}": bring for app, made in GALLERIES.items() for name, bring in made.items()
}

Scene = Callable[[Phone, PhoneScreen], None]


def test_every_app_with_screens_has_a_gallery() -> None:
    from ui_gym_phone import apps

    names = {app.package.label.lower() for app in apps.built_in().values()}
    shown = {"dialer": "phone", "playstore": "play store", "system": "home"}
    assert names == {shown.get(name, name) for name in GALLERIES}


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("font_scale", ["1.0", "1.3"])
def test_no_screen_cuts_or_covers_its_texts(
    phone: Phone, screen: PhoneScreen, scene: str, font_scale: str
) -> None:
    phone.put("system", "font_scale", font_scale)
    SCENES[scene](phone, screen)
    assert flaws(screen) == []
