"""Sounds are alike where one could be taken for the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cases_media import tone

from ui_gym.desktop.osworld.metrics import sound
from ui_gym.desktop.osworld.registry import METRICS
from ui_gym.errors import UserError

TUNE = [440.0, 660.0, 880.0]


def likeness(first: str, second: str) -> float:
    return METRICS["compare_audios"](first, second)


@pytest.mark.parametrize(
    ("rate", "width", "channels"),
    [(22050, 2, 2), (44100, 2, 1), (22050, 3, 1), (22050, 4, 1), (48000, 1, 2)],
)
def test_a_tune_is_the_same_in_every_form_of_wav_file(
    rate: int, width: int, channels: int, tmp_path: Path
) -> None:
    plain = sound.load(Path(tone(TUNE)(tmp_path / "plain.wav")))
    other = sound.load(Path(tone(TUNE, rate, width, channels)(tmp_path / "other.wav")))
    assert abs(len(plain) - len(other)) <= 2
    middle = slice(2000, 10000)
    assert np.abs(plain[middle] - other[middle]).max() < 0.02


def test_a_tune_is_more_like_itself_at_another_speed_than_like_another(tmp_path: Path) -> None:
    tune = tone(TUNE)(tmp_path / "tune.wav")
    slower = tone([f for f in TUNE for _ in range(2)])(tmp_path / "slower.wav")
    other = tone([200.0, 3000.0, 90.0])(tmp_path / "other.wav")
    assert likeness(slower, tune) > 0.9
    assert likeness(other, tune) < 0.8


def test_likeness_needs_no_same_length(tmp_path: Path) -> None:
    short = sound.load(Path(tone(TUNE[:1])(tmp_path / "short.wav")))
    long = sound.load(Path(tone(TUNE)(tmp_path / "long.wav")))
    assert 0 < sound.likeness(short, long) < 1
    assert sound.likeness(short, long) == pytest.approx(sound.likeness(long, short))


def test_other_files_than_wav_need_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    song, gold = tmp_path / "a.mp3", tmp_path / "gold.mp3"
    song.write_bytes(b"ID3 one")
    gold.write_bytes(b"ID3 other")
    with pytest.raises(UserError, match="apt install ffmpeg"):
        likeness(str(song), str(gold))


def test_files_of_the_same_bytes_are_the_same_sound(tmp_path: Path) -> None:
    song, gold = tmp_path / "a.mp3", tmp_path / "gold.mp3"
    song.write_bytes(b"ID3 one")
    gold.write_bytes(b"ID3 one")
    assert likeness(str(song), str(gold)) == 1.0
