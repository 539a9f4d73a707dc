"""Metrics of sounds and films."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ui_gym.desktop.osworld.metrics import sound
from ui_gym.desktop.osworld.metrics.id3 import read_tags
from ui_gym.desktop.osworld.metrics.pictures import perceptual_hash
from ui_gym.desktop.osworld.metrics.reading import (
    Broken,
    a_file,
    given,
    library,
    read_bytes,
    scored,
)
from ui_gym.desktop.osworld.metrics.rules import matches


@scored("check_mp3_meta")
def check_mp3_meta(result: object, rules: Mapping[str, Any]) -> float:
    """1 if each tag ("title", "artist", "album", ...) obeys its rule; several texts of one tag are
    joined by commas, a tag that is missing is an empty text."""
    tags = read_tags(read_bytes(result))
    if not tags:
        raise Broken(f"{result} has no tags")
    return float(all(matches(",".join(tags.get(k, [""])), rule) for k, rule in rules.items()))


@scored("compare_audios")
def compare_audios(result: object, expected: object) -> float:
    """How alike two sounds are, in (0, 1]; see `sound.likeness`.

    Files with the same bytes are the same, whether they can be decoded or not.
    """
    first, second = a_file(result), given(a_file, expected)
    if first.read_bytes() == second.read_bytes():
        return 1.0
    return sound.likeness(sound.load(first), given(sound.load, second))


@scored("compare_videos")
def compare_videos(
    result: object, expected: object, max_frames_to_check: int = 100, threshold: int = 5
) -> float:
    """1 if two films have the same first frames, and end together where they end before.

    Frames differ where more than `threshold` of the 64 bits of their perceptual hashes do; up to
    `threshold` frames may.
    """
    films = [_Film(a_file(result)), _Film(given(a_file, expected))]
    different = 0
    try:
        for _ in range(max_frames_to_check):
            hashes = [film.hash() for film in films]
            if hashes[0] is None or hashes[1] is None:
                return float(hashes[0] is hashes[1] and films[0].frames > 0)
            different += int((hashes[0] != hashes[1]).sum() > threshold)
            if different > threshold:
                return 0.0
    finally:
        for film in films:
            film.close()
    return 1.0


class _Film:
    """A film that is read frame by frame."""

    def __init__(self, path: Path) -> None:
        self._capture = library("cv2").VideoCapture(str(path))
        self.frames = 0

    def hash(self) -> np.ndarray[Any, Any] | None:
        """The perceptual hash of the next frame; None after the last."""
        from PIL import Image

        there, frame = self._capture.read()
        if not there:
            return None
        self.frames += 1
        return perceptual_hash(Image.fromarray(np.ascontiguousarray(frame[..., ::-1])))

    def close(self) -> None:
        self._capture.release()
