from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ui_gym.contract.action import Click, Drag
from ui_gym.contract.device import Image as Frame
from ui_gym.errors import UserError
from ui_gym.tools.film import ROW, animation, film_strip, mark

RED = (230, 57, 70)


def frame(shade: int = 200, size: tuple[int, int] = (320, 256)) -> Frame:
    return np.full((size[1], size[0], 3), shade, np.uint8)


def reds(picture: Frame) -> np.ndarray:
    """(x, y) of the pixels in the color of the ring."""
    ys, xs = np.nonzero((np.abs(picture.astype(int) - RED) < 12).all(axis=2))
    return np.stack([xs, ys], axis=1)


def test_frames_wrap_into_rows_that_are_never_too_wide() -> None:
    four, five = film_strip([frame()] * 4, ["wait(1)"] * 4), film_strip([frame()] * 5, ["x"] * 5)
    assert four.width == five.width <= ROW
    assert five.height > 1.9 * four.height


def test_a_large_screenshot_is_made_smaller_and_a_small_one_stays() -> None:
    large = film_strip([frame(size=(1280, 800))], ["x"])
    assert 440 < large.width < 480
    small = film_strip([frame(size=(100, 80))], ["x"])
    assert 100 < small.width < 140


def test_a_ring_marks_the_point_of_a_click() -> None:
    marked = reds(mark(frame(), [Click(100, 60)]))
    assert len(marked) > 20
    assert np.abs(marked - (100, 60)).max() <= 12
    assert np.abs(marked.mean(axis=0) - (100, 60)).max() < 1


def test_an_arrow_marks_both_ends_of_a_drag() -> None:
    marked = reds(mark(frame(), [Drag(20, 30, 200, 150)]))
    for point in ((20, 30), (110, 90), (195, 147)):
        assert np.abs(marked - point).max(axis=1).min() <= 3


def test_marking_leaves_the_frame_itself_alone() -> None:
    before = frame()
    mark(before, [Click(5, 5)])
    assert (before == 200).all()


def test_points_are_read_from_captions_that_are_actions() -> None:
    strip = film_strip([frame(), frame()], ["click(100, 60)", "not an action"])
    assert len(reds(np.asarray(strip))) > 20
    assert len(reds(np.asarray(film_strip([frame()], ["click"])))) == 0


def test_given_actions_are_marked_at_their_scaled_place() -> None:
    strip = film_strip([frame(size=(880, 600))], ["a click"], actions=[[Click(400, 300)]])
    marked = reds(np.asarray(strip))
    plain = np.asarray(film_strip([frame(size=(880, 600))], ["a click"]))
    ys, xs = np.nonzero((plain == 200).all(axis=2))  # where the screenshot lies in the strip
    assert np.abs(marked.mean(axis=0) - (xs.min() + 200, ys.min() + 150)).max() < 2


def test_captions_and_title_show_and_long_ones_are_cut() -> None:
    def ink(strip: Image.Image) -> int:
        return int((np.asarray(strip.convert("L")) < 100).sum())

    blank = film_strip([frame()], [""])
    short = film_strip([frame()], ['type("Ann")'])
    long, longer = (film_strip([frame()], ["word " * n]) for n in (100, 1000))
    assert ink(blank) < ink(short) < ink(long)
    assert long.size == longer.size
    assert film_strip([frame()], [""], title="A goal").height > blank.height


@pytest.mark.parametrize("caption", ["", "\n", "中文 🙂", "x" * 500, "\x00"])
def test_any_caption_can_be_drawn(caption: str) -> None:
    film_strip([frame()], [caption])


def test_the_last_frame_needs_no_caption() -> None:
    film_strip([frame(), frame()], ["click(1, 2)"])
    with pytest.raises(UserError, match="1 frames but 2 captions"):
        film_strip([frame()], ["a", "b"])
    with pytest.raises(UserError, match="3 frames but 1 captions"):
        film_strip([frame()] * 3, ["a"])
    with pytest.raises(UserError, match="at least one frame"):
        film_strip([], [])
    with pytest.raises(UserError, match="1 captions but 2 lists of actions"):
        film_strip([frame()], ["a"], actions=[[], []])


@pytest.mark.parametrize("suffix", [".webp", ".gif"])
def test_an_animation_holds_every_frame(tmp_path: Path, suffix: str) -> None:
    shades = (10, 120, 240)
    path = animation([frame(shade) for shade in shades], tmp_path / "new" / f"film{suffix}")
    with Image.open(path) as film:
        assert film.n_frames == 3  # type: ignore[attr-defined]
        for index, shade in enumerate(shades):
            film.seek(index)
            assert abs(int(np.asarray(film.convert("RGB")).mean()) - shade) <= 2


def test_an_animation_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"film\.png: an animation is a \.webp or a \.gif file"):
        animation([frame()], tmp_path / "film.png")
    with pytest.raises(UserError, match="at least one frame"):
        animation([], tmp_path / "film.gif")
