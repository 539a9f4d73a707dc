"""What is repainted in part is what would be painted anew."""

from __future__ import annotations

import numpy as np
import pytest

from ui_gym_phone.factory import factory_phone
from ui_gym_phone.ui.painter import Painter
from ui_gym_phone.ui.scene import PhoneScene, meet
from ui_gym_phone.ui.screen import PhoneScreen
from ui_gym_phone.ui.theme import Theme

SIZES = ((540, 1200), (360, 800), (1080, 2400), (433, 961))


def wander(screen: PhoneScreen, rng: np.random.Generator) -> None:
    """Do something or other."""
    width, height = screen.phone.width, screen.phone.height
    x, y, x2, y2 = (int(rng.integers(side)) for side in (width, height, width, height))
    kind = rng.choice(["tap", "tap", "tap", "tap", "swipe", "text", "key", "open", "hold"])
    if kind == "tap":
        targets = [t for t in screen.scene.targets if t.tap]
        if targets and rng.random() < 0.8:
            left, top, right, bottom = targets[int(rng.integers(len(targets)))].box
            x, y = (left + right) // 2, (top + bottom) // 2
        screen.tap(x, y)
    elif kind == "swipe":
        screen.swipe(x, y, x2, y2, 300)
    elif kind == "hold":
        screen.long_press(x, y)
    elif kind == "text":
        screen.text("Ab 12")
    elif kind == "key":
        screen.key(int(rng.choice([4, 3, 187, 66, 67, 61, 21, 82])))
    else:
        apps = screen.phone.packages.launchable
        screen.phone.launch(apps[int(rng.integers(len(apps)))].name)
    screen.phone.clock.advance(1)
    screen.refresh()


@pytest.mark.parametrize("size", SIZES)
def test_the_picture_does_not_depend_on_how_it_came_about(size):
    screen = PhoneScreen(factory_phone())
    rng = np.random.default_rng(7)
    kept = Painter(*size, size[0] / 1080)
    for _ in range(60):
        wander(screen, rng)
        partly = screen.paint(kept)
        anew = screen.paint(Painter(*size, size[0] / 1080))
        assert np.array_equal(partly, anew)


def test_nothing_is_painted_outside_of_its_clip():
    scene = PhoneScene(Theme(), 300, 300)
    with scene.clipped((100, 100, 150, 150)):
        scene.rect((0, 0, 300, 300), "#ff0000", 40)
        scene.text(90, 110, "Wide and wild", "regular", 48, "#00ff00", 300)
        scene.icon(80, 80, 90, "cog", "#0000ff")
    picture = Painter(300, 300, 1.0).paint(scene.ops).copy()
    assert picture[100:150, 100:150].any()
    picture[100:150, 100:150] = 0
    assert not picture.any()


def test_a_rounded_rectangle_leaves_its_corners_free():
    scene = PhoneScene(Theme(), 100, 100)
    scene.rect((10, 10, 90, 90), "#ffffff", 30)
    picture = Painter(100, 100, 1.0).paint(scene.ops)
    assert not picture[10, 10].any()
    assert not picture[89, 89].any()
    assert picture[50, 11].all()
    assert picture[10, 50].all()
    assert not picture[50, 9].any()


@pytest.mark.parametrize(
    ("a", "b", "shared"),
    [
        ((0, 0, 10, 10), (5, 5, 20, 20), (5, 5, 10, 10)),
        ((0, 0, 10, 10), (10, 0, 20, 10), None),
        ((0, 0, 10, 10), (2, 2, 3, 3), (2, 2, 3, 3)),
    ],
)
def test_boxes_meet(a, b, shared):
    assert meet(a, b) == shared
    assert meet(b, a) == shared
