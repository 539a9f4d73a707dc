"""How alike two sounds are: their mel cepstra, aligned in time.

Written after librosa's documented defaults (22,050 Hz, 2,048 samples a window, 512 a step, 128
mel bands of Slaney's scale, 20 coefficients), which OSWorld uses; the alignment is exact, where
OSWorld's is an approximation.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ui_gym.desktop.osworld.metrics.reading import Broken
from ui_gym.errors import UserError

Values = NDArray[np.float64]

RATE = 22050
WINDOW, STEP = 2048, 512
BANDS, COEFFICIENTS = 128, 20
MAX_SECONDS = 600
"""What comes later is not heard."""
TIMEOUT = 60.0
"""Seconds for a program to decode a file."""
SOUND = re.compile(
    rb"RIFF....WAVE|FORM....AIF[FC]|ID3|\xff[\xe2-\xe5\xf0-\xf5\xf8-\xfd]|OggS|fLaC|....ftyp"
    rb"|\x1aE\xdf\xa3",
    re.S,
)
"""How the files begin that may hold sound: WAV, AIFF, MP3 or AAC, Ogg, FLAC, MP4, Matroska."""


def load(path: Path) -> Values:
    """The samples of a file in [-1, 1], one channel at 22,050 a second; none are `Broken`.

    WAV files are read here; for all others the program ``ffmpeg`` is needed (`UserError`).
    """
    samples = _load_wav(path)
    if samples is None:
        samples = _load_by_ffmpeg(path)
    if samples.size == 0:
        raise Broken(f"{path} holds no sound")
    return samples[: MAX_SECONDS * RATE]


def likeness(first: Values, second: Values) -> float:
    """exp(-d), d being the mean cosine distance of the two sounds' cepstra along the best
    alignment; 1 is the same."""
    distance, steps = _align(_cepstra(first), _cepstra(second))
    return float(np.exp(-distance / steps))


def _load_wav(path: Path) -> Values | None:
    """A WAV file of whole numbers; None where it is another."""
    try:
        with wave.open(str(path)) as file:
            width, rate, channels = file.getsampwidth(), file.getframerate(), file.getnchannels()
            raw = file.readframes(MAX_SECONDS * rate)
    except (wave.Error, EOFError, OSError, ValueError):
        return None
    if not rate or not channels or not 1 <= width <= 4:
        return None
    raw = raw[: len(raw) // (width * channels) * width * channels]
    whole = np.frombuffer(raw, np.uint8).reshape(-1, width)
    if width == 1:
        values = whole[:, 0].astype(np.float64) - 128
    else:
        # Little-endian of any width: the bytes become the upper ones of a 32-bit number.
        wide = np.zeros((len(whole), 4), np.uint8)
        wide[:, 4 - width :] = whole
        values = wide.view("<i4")[:, 0].astype(np.float64) / (1 << 8 * (4 - width))
    values = values.reshape(-1, channels).mean(axis=1) / (1 << 8 * width - 1)
    return _resampled(values, rate)


def _resampled(values: Values, rate: int) -> Values:
    """By the spectrum, which leaves out what the new rate cannot carry."""
    if rate == RATE or not values.size:
        return values
    length = max(round(values.size * RATE / rate), 1)
    spectrum = np.fft.rfft(values)[: length // 2 + 1]
    return np.asarray(np.fft.irfft(spectrum, length)) * (length / values.size)


def _load_by_ffmpeg(path: Path) -> Values:
    with path.open("rb") as file:
        if not SOUND.match(file.read(16)):
            raise Broken(f"{path} holds no sound")
    program = shutil.which("ffmpeg")
    if program is None:
        raise UserError(
            f"to hear {path.name} the program ffmpeg is needed, which is not installed: "
            "apt install ffmpeg"
        )
    command = [program, "-v", "error", "-nostdin", "-protocol_whitelist", "file", "-i", str(path)]
    command += ["-t", str(MAX_SECONDS), "-ac", "1", "-ar", str(RATE), "-f", "f32le", "-"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired as error:
        raise Broken(f"{path} took longer than {TIMEOUT:g} s to decode") from error
    whole = done.stdout[: len(done.stdout) // 4 * 4]
    return np.frombuffer(whole, "<f4").astype(np.float64)


def _cepstra(samples: Values) -> Values:
    """The mel cepstra, shape (frames, coefficients), each coefficient scaled to a peak of 1, each
    frame to a length of 1."""
    padded = np.pad(samples, WINDOW // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::STEP]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)
    bands = _mel_bands()
    blocks = [frames[at : at + 256] for at in range(0, len(frames), 256)]
    power = np.vstack([np.abs(np.fft.rfft(block * window)) ** 2 @ bands.T for block in blocks])
    decibels = 10 * np.log10(np.maximum(power, 1e-10))
    decibels = np.maximum(decibels, decibels.max() - 80)
    found = decibels @ _cosines().T
    peaks = np.abs(found).max(axis=0)
    found = found / np.where(peaks > 0, peaks, 1)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found / np.where(lengths > 0, lengths, 1))


def _mel_bands() -> Values:
    """Triangles over the spectrum, shape (bands, WINDOW / 2 + 1), each of area 1 in hertz."""
    edges = _hertz(np.linspace(0, _mel(RATE / 2), BANDS + 2))
    bins = np.linspace(0, RATE / 2, WINDOW // 2 + 1)
    low, centre, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising, falling = (bins - low) / (centre - low), (high - bins) / (high - centre)
    return np.asarray(np.maximum(0, np.minimum(rising, falling)) * 2 / (high - low))


def _mel(hertz: float) -> float:
    """Slaney's scale: linear to 1,000 Hz (15 mel), logarithmic above."""
    return float(15 + 27 * np.log(hertz / 1000) / np.log(6.4)) if hertz > 1000 else hertz * 0.015


def _hertz(mel: Values) -> Values:
    return np.where(mel < 15, mel / 0.015, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))


def _cosines() -> Values:
    """The orthonormal cosine transform, shape (coefficients, bands)."""
    step = np.arange(BANDS)
    rows = np.cos(np.pi * np.outer(np.arange(COEFFICIENTS), 2 * step + 1) / (2 * BANDS))
    rows *= np.sqrt(2 / BANDS)
    rows[0] /= np.sqrt(2)
    return rows


def _align(first: Values, second: Values) -> tuple[float, int]:
    """The least sum of cosine distances over a path through both from end to end, and its length
    in steps (dynamic time warping), one anti-diagonal after the other."""
    rows, columns = len(first), len(second)
    ours = np.ascontiguousarray(first.T, np.float32)
    theirs = np.ascontiguousarray(second[::-1].T, np.float32)
    # A diagonal's array has row i at index i + 1; index 0 stands for "before the first row".
    before, last = np.full(rows + 1, np.inf), np.full(rows + 1, np.inf)
    before[0] = 0.0
    steps_before, steps_last = np.zeros(rows + 1, np.int64), np.zeros(rows + 1, np.int64)
    for diagonal in range(rows + columns - 1):
        low, high = max(0, diagonal - columns + 1), min(rows, diagonal + 1)
        start = columns - 1 - diagonal + low
        both = ours[:, low:high], theirs[:, start : start + high - low]
        local = np.maximum(1 - np.einsum("ij,ij->j", *both), 0)
        above, left, up = slice(low, high), last[low:high], last[low + 1 : high + 1]
        straight = np.minimum(left, up)
        steps = np.where(left <= up, steps_last[above], steps_last[low + 1 : high + 1])
        cost, count = np.full(rows + 1, np.inf), np.zeros(rows + 1, np.int64)
        cost[low + 1 : high + 1] = np.minimum(before[above], straight) + local
        count[low + 1 : high + 1] = (
            np.where(before[above] <= straight, steps_before[above], steps) + 1
        )
        before, last, steps_before, steps_last = last, cost, steps_last, count
    return float(last[rows]), int(steps_last[rows])
