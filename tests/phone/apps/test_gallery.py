"""Every scene of every gallery: no text lies over another, or is lost at the screen's edge."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from driving import flaws

from ui_gym_phone.factory import factory_phone
from ui_gym_phone.ui.screen import PhoneScreen

GALLERIES = {
    path.stem.removeprefix("gallery_"): importlib.import_module(path.stem).SCENES
    for path in sorted(Path(__file__).parent.glob("gallery_*.py"))
}


def test_every_app_with_screens_has_a_gallery():
    from ui_gym_phone import apps

    names = {app.package.label.lower() for app in apps.built_in().values()}
    shown = {"dialer": "phone", "playstore": "play store", "system": "home"}
    assert names == {shown.get(name, name) for name in GALLERIES}


@pytest.mark.parametrize("gallery", GALLERIES)
@pytest.mark.parametrize("font_scale", ["1.3", pytest.param("1.0", marks=pytest.mark.nightly)])
def test_no_screen_cuts_or_covers_its_texts(gallery, font_scale):
    found = {}
    for name, bring in GALLERIES[gallery].items():
        phone = factory_phone()
        screen = PhoneScreen(phone)
        phone.put("system", "font_scale", font_scale)
        bring(phone, screen)
        found[name] = flaws(screen)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
