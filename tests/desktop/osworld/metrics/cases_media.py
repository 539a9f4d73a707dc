"""Cases of metrics of pictures, sounds and films."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from metric_case import Case, Cases, Made, against, alone, text
from PIL import Image, ImageDraw, ImageEnhance, ImageOps

CLEAR = (0, 0, 0, 0)


def scene(width: int = 96, height: int = 64) -> Image.Image:
    """A picture with edges, colours and areas, the same each time."""
    picture = Image.new("RGB", (width, height), (210, 160, 90))
    draw = ImageDraw.Draw(picture)
    draw.ellipse((10, 8, 50, 48), fill=(60, 120, 160))
    draw.rectangle((60, 20, 90, 60), fill=(150, 60, 70))
    draw.line((0, 63, 95, 0), fill=(20, 20, 20), width=3)
    return picture


def other_scene() -> Image.Image:
    picture = Image.new("RGB", (96, 64), (20, 30, 40))
    ImageDraw.Draw(picture).polygon(((5, 60), (48, 5), (90, 60)), fill=(200, 220, 240))
    return picture


def saved(picture: Image.Image, ending: str = "png", **options: Any) -> Made:
    return Made(ending, lambda path: picture.save(path, **options))


def brighter(by: float) -> Made:
    return saved(ImageEnhance.Brightness(scene()).enhance(by))


def with_contrast(by: float) -> Made:
    return saved(ImageEnhance.Contrast(scene()).enhance(by))


def coloured(by: float) -> Made:
    return saved(ImageEnhance.Color(scene()).enhance(by))


def touched() -> Image.Image:
    picture = scene()
    picture.putpixel((0, 0), (211, 160, 90))
    return picture


def framed(inside: Image.Image | tuple[int, ...], box: tuple[int, ...], side: int) -> Made:
    """A transparent picture with something in it."""
    picture = Image.new("RGBA", (side, side), CLEAR)
    picture.paste(inside, box)
    return saved(picture)


def more_saturated() -> Made:
    """The scene with its hues and values as they are: saturation alone is scaled."""
    hsv = np.asarray(scene().convert("HSV")).copy()
    hsv[..., 1] = np.minimum(hsv[..., 1] * 1.3, 255)
    return saved(Image.fromarray(hsv, "HSV").convert("RGB"))


def triangle(left: int, *, dotted: bool = False) -> Made:
    """A triangle on white; a dot is a third colour."""
    picture = Image.new("RGB", (100, 100), "white")
    draw = ImageDraw.Draw(picture)
    draw.polygon(((left, 60), (left + 10, 33), (left + 20, 60)), fill="yellow")
    if dotted:
        draw.point((0, 0), fill="red")
    return saved(picture)


def text_box(left: int) -> Made:
    picture = Image.new("RGB", (100, 50), "white")
    ImageDraw.Draw(picture).rectangle((left, 10, left + 20, 20), fill="black")
    return saved(picture)


def person(background: str, body: str = "black", size: tuple[int, int] = (60, 40)) -> Made:
    picture = Image.new("RGB", (60, 40), background)
    ImageDraw.Draw(picture).ellipse((20, 10, 40, 30), fill=body)
    return saved(picture.resize(size))


def synchsafe(size: int) -> bytes:
    return bytes(size >> shift & 0x7F for shift in (21, 14, 7, 0))


def tagged(version: int, **frames: bytes) -> bytes:
    """An MP3 file's beginning with these text frames."""
    body = b""
    for name, content in frames.items():
        size = len(content)
        if version == 2:
            body += name.encode() + size.to_bytes(3, "big") + content
        else:
            packed = synchsafe(size) if version == 4 else size.to_bytes(4, "big")
            body += name.encode() + packed + bytes(2) + content
    body += bytes(20)
    return b"ID3" + bytes([version, 0, 0]) + synchsafe(len(body)) + body + b"\xff\xfb" + bytes(64)


def tone(hertz: list[float], rate: int = 22050, width: int = 2, channels: int = 1) -> Made:
    """A WAV file with half a second of each tone."""
    time = np.arange(rate // 2) / rate
    wave_form = np.concatenate([0.5 * np.sin(2 * np.pi * f * time) for f in hertz])
    values = np.repeat(np.round(wave_form * (2 ** (8 * width - 1) - 1)).astype("<i8"), channels)
    if width == 1:
        values = values + 128
    raw = values.astype("<i8").view(np.uint8).reshape(-1, 8)[:, :width].tobytes()
    return sound(raw, rate, width, channels)


def sound(raw: bytes, rate: int = 22050, width: int = 2, channels: int = 1) -> Made:
    def write(path: Path) -> None:
        with wave.open(str(path), "wb") as file:
            file.setparams((channels, width, rate, 0, "NONE", ""))
            file.writeframes(raw)

    return Made("wav", write)


def film(picture: Image.Image, frames: int = 8) -> Made:
    def write(path: Path) -> None:
        # Motion JPEG in AVI, which OpenCV brings its own code for.
        writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 10, picture.size)
        for _ in range(frames):
            writer.write(np.asarray(picture)[..., ::-1].copy())
        writer.release()

    return Made("avi", write)


GOLD, SAME, OTHER = saved(scene()), saved(scene()), saved(other_scene())
LARGER = scene().resize((192, 128), Image.Resampling.NEAREST)
BLURRED = saved(scene().resize((24, 16)).resize((96, 64)))
NOISE = saved(Image.effect_noise((96, 64), 200).convert("RGB"))
GREY = saved(scene().convert("L").convert("RGB"))
PLAIN, FRAMED = saved(Image.new("RGB", (30, 20))), framed((1, 2, 3, 255), (10, 10, 40, 30), 50)
HALF_AS_LARGE = {"width": 30, "height": 20}
ALIKE = against(
    GOLD,
    (1, saved(scene(), "jpg", quality=95)),
    (0, OTHER),
    (0, saved(scene().resize((192, 128)))),
)
SONG = {
    "title": {"method": "eq", "ref": "Missing You"},
    "artist": {"method": "re.I", "ref": "^cheng"},
}
UTF_16 = b"\x01" + "Missing You".encode("utf-16") + b"\0\0"
VERSION_1 = b"TAG" + b"Missing You".ljust(30, b"\0") + b"Cheng Xiang".ljust(30) + bytes(65)
TUNE = [440.0, 880.0, 660.0]

CASES: Cases = {
    "compare_images": [
        Case(1, GOLD, SAME),
        Case(1, GOLD, SAME, reference_base_result=0.5),
        Case(0, OTHER, SAME, reference_base_result=0.5),
        Case(0, saved(Image.new("RGB", (4, 4))), SAME),
    ],
    "compare_image_list": [
        Case(1, [GOLD, OTHER], [SAME, saved(other_scene())]),
        Case(0, [OTHER, GOLD], [SAME, saved(other_scene())]),
        Case(0, [GOLD, None], [SAME, saved(other_scene())]),
        Case(1, GOLD, SAME),
        Case(0, saved(touched()), SAME),
    ],
    "check_structure_sim": ALIKE,
    "check_file_exists_and_structure_sim": ALIKE,
    "check_structure_sim_resized": against(
        GOLD,
        (1, saved(LARGER)),
        (1, framed(scene(), (30, 40), 200)),
        (0, saved(Image.new("RGBA", (200, 200), CLEAR))),
        (0, OTHER),
    ),
    "check_image_mirror": against(
        GOLD,
        (1, saved(ImageOps.mirror(scene()))),
        (0, SAME),
        (0, saved(ImageOps.flip(scene()))),
    ),
    "check_image_size": alone(
        (1, PLAIN, HALF_AS_LARGE),
        (1, PLAIN, {"height": 20}),
        (0, PLAIN, {"height": 30}),
        (1, FRAMED, HALF_AS_LARGE | {"ignore_transparent": True}),
        (0, FRAMED, HALF_AS_LARGE),
    ),
    "check_image_file_size": alone(
        (1, text(bytes(500)), {"max_size": 501}), (0, text(bytes(500)), {"max_size": 500})
    ),
    "check_brightness_decrease_and_structure_sim": against(
        GOLD,
        (1, brighter(0.6)),
        (0, brighter(1.2)),
        (0, OTHER),
        (0, brighter(0.6), {"threshold": 0.0}),
    ),
    "check_saturation_increase_and_structure_sim": against(
        GOLD, (1, more_saturated()), (0, GREY), (0, SAME)
    ),
    "check_contrast_increase_and_structure_sim": against(
        GOLD, (1, with_contrast(1.3)), (0, with_contrast(0.7)), (0, NOISE)
    ),
    "check_palette_and_structure_sim": against(
        GOLD, (1, saved(scene().quantize(64))), (0, SAME), (0, saved(other_scene().quantize(64)))
    ),
    "check_sharper": alone((1, SAME, BLURRED), (0, BLURRED, GOLD)),
    "increase_saturation": alone(
        (1, coloured(0.5), coloured(1.5)), (0, coloured(1.5), coloured(0.5))
    ),
    "decrease_brightness": alone((1, SAME, brighter(0.5)), (0, brighter(0.5), SAME)),
    "check_triangle_position": alone(
        (1, triangle(40)),
        (1, triangle(40, dotted=True)),
        (0, triangle(10)),
        (0, triangle(10, dotted=True)),
        (0, saved(Image.new("RGB", (100, 100)))),
    ),
    "check_textbox_on_leftside": alone(
        (1, text_box(4)),
        (0, text_box(5)),
        (0, text_box(60)),
        (0, saved(Image.new("RGB", (100, 50), "white"))),
    ),
    "check_green_background": against(
        person("white"),
        (1, person("green", "red")),
        (0, person("blue")),
        (0, person("green", size=(40, 60))),
    ),
    "check_mp3_meta": [
        Case(score, text(data, "mp3"), SONG)
        for score, data in (
            (1, tagged(4, TIT2=b"\x03Missing You", TPE1=b"\x03Cheng Xiang\0Other")),
            (1, tagged(3, TIT2=UTF_16, TPE1=b"\x00Cheng Xiang", COMM=b"\x00" + b"x" * 300)),
            (1, tagged(2, TT2=b"\x00Missing You\0", TP1=b"\x00Cheng Xiang")),
            (1, b"\xff\xfb" + bytes(500) + VERSION_1),
            (0, tagged(4, TIT2=b"\x03Missing Me", TPE1=b"\x03Cheng Xiang")),
            (0, tagged(4, TIT2=b"\x03Missing You")),
            (0, b"\xff\xfb" + bytes(500)),
            (0, b"ID3\x04\x00"),
        )
    ],
    "compare_audios": against(tone(TUNE), (1, tone(TUNE)), (0, sound(b""))),
    "compare_videos": against(
        film(scene()),
        (1, film(ImageEnhance.Brightness(scene()).enhance(1.1))),
        (0, film(ImageOps.mirror(scene()))),
        (0, film(scene(), frames=5)),
        (1, film(scene(), frames=5), {"max_frames_to_check": 5}),
    ),
}
