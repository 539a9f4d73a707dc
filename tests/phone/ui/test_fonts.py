"""Texts are as wide when they are drawn as they were when they were laid out."""

from __future__ import annotations

import pytest

from ui_gym_phone.ui import fonts

LINE = "Met at the engine's unveiling. Prefers letters"


@pytest.mark.parametrize("scale", [1.0, 0.5, 1 / 3])
@pytest.mark.parametrize("size", [33, 42, 48, 66])
@pytest.mark.parametrize("face", ["regular", "medium"])
def test_a_line_is_drawn_as_wide_as_it_was_measured(scale: float, size: int, face: str) -> None:
    mask, left, _ = fonts.text_mask(LINE, face, size, scale)
    begin, _, end, _ = mask.getbbox()
    measured = fonts.text_width(LINE, face, size) * scale
    assert 0 <= begin + left <= size * scale / 4
    assert measured - size * scale / 4 <= end + left <= measured + 1
