"""Cases of metrics of pictures, sounds and films."""

from __future__ import annotations

import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from metric_case import Case, Cases
from PIL import Image, ImageDraw, ImageEnhance, ImageOps


def scene(width: int = 96, height: int = 64) -> Image.Image:
    """A picture with edges, colours and areas, the same each time."""
    picture = Image.new("RGB", (width, height), (210, 160, 90))
    draw = ImageDraw.Draw(picture)
    draw.ellipse((10, 8, 50, 48), fill=(60, 120, 160))
    draw.rectangle((60, 20, 90, 60), fill=(150, 60, 70))
    draw.line((0, 63, 95, 0), fill=(20, 20, 20), width=3)
    return picture


class Album:
    """Pictures in a folder, by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, name: str, picture: Image.Image, **options: Any) -> str:
        path = self.folder / (name if "." in name else f"{name}.png")
        picture.save(path, **options)
        return str(path)


def other_scene() -> Image.Image:
    picture = Image.new("RGB", (96, 64), (20, 30, 40))
    ImageDraw.Draw(picture).polygon(((5, 60), (48, 5), (90, 60)), fill=(200, 220, 240))
    return picture


def compared(folder: Path) -> Iterator[Case]:
    save = Album(folder)
    same, other = save("same", scene()), save("other", other_scene())
    yield Case(1, same, save("expected", scene()))
    yield Case(1, same, save("again", scene()), reference_base_result=0.5)
    yield Case(0, other, same, reference_base_result=0.5)
    small = save("small", Image.new("RGB", (4, 4)))
    yield Case(0, small, same)


def listed(folder: Path) -> Iterator[Case]:
    save = Album(folder)
    first, second = save("a", scene()), save("b", other_scene())
    golds = [save("c", scene()), save("d", other_scene())]
    yield Case(1, [first, second], golds)
    yield Case(0, [second, first], golds)
    yield Case(0, [first, None], golds)
    yield Case(1, first, golds[0])
    touched = scene()
    touched.putpixel((0, 0), (211, 160, 90))
    yield Case(0, save("touched", touched), golds[0])


def alike(folder: Path) -> Iterator[Case]:
    save = Album(folder)
    gold = save("gold", scene())
    yield Case(1, save("result.jpg", scene(), quality=95), gold)
    yield Case(0, save("other", other_scene()), gold)
    yield Case(0, save("larger", scene().resize((192, 128))), gold)


def resized(folder: Path) -> Iterator[Case]:
    save = Album(folder)
    gold = save("gold", scene())
    yield Case(1, save("larger", scene().resize((192, 128), Image.Resampling.NEAREST)), gold)
    framed = Image.new("RGBA", (200, 200), (0, 0, 0, 0))
    framed.paste(scene(), (30, 40))
    yield Case(1, save("framed", framed), gold)
    yield Case(0, save("empty", Image.new("RGBA", (200, 200), (0, 0, 0, 0))), gold)
    yield Case(0, save("other", other_scene()), gold)


def mirrored(folder: Path) -> Iterator[Case]:
    save = Album(folder)
    gold = save("gold", scene())
    yield Case(1, save("mirrored", ImageOps.mirror(scene())), gold)
    yield Case(0, save("same", scene()), gold)
    yield Case(0, save("flipped", ImageOps.flip(scene())), gold)


def darker(folder: Path) -> Iterator[Case]:
    save = Album(folder)
    gold = save("gold", scene())
    yield Case(1, save("darker", ImageEnhance.Brightness(scene()).enhance(0.6)), gold)
    yield Case(0, save("brighter", ImageEnhance.Brightness(scene()).enhance(1.2)), gold)
    yield Case(0, save("other", other_scene()), gold)
    yield Case(0, save("dark.png", ImageEnhance.Brightness(scene()).enhance(0.6)), gold,
               threshold=0.0)  # fmt: skip


def more_saturated(folder: Path) -> Iterator[Case]:
    save = Album(folder)
    # Its hues and values stay as they are: saturation alone is scaled.
    hsv = np.asarray(scene().convert("HSV")).copy()
    hsv[..., 1] = np.minimum(hsv[..., 1] * 1.3, 255)
    more = Image.fromarray(hsv, "HSV").convert("RGB")
    gold = save("gold", scene())
    yield Case(1, save("more", more), gold)
    yield Case(0, save("grey", scene().convert("L").convert("RGB")), gold)
    yield Case(0, save("same", scene()), gold)


def more_contrast(folder: Path) -> Iterator[Case]:
    save = Album(folder)
    gold = save("gold", scene())
    yield Case(1, save("more", ImageEnhance.Contrast(scene()).enhance(1.3)), gold)
    yield Case(0, save("less", ImageEnhance.Contrast(scene()).enhance(0.7)), gold)
    yield Case(0, save("noise", Image.effect_noise((96, 64), 200).convert("RGB")), gold)


def with_palette(folder: Path) -> Iterator[Case]:
    save = Album(folder)
    gold = save("gold", scene())
    yield Case(1, save("palette", scene().quantize(64)), gold)
    yield Case(0, save("same", scene()), gold)
    yield Case(0, save("other", other_scene().quantize(64)), gold)


def sharper(folder: Path) -> Iterator[Case]:
    save = Album(folder)
    blurred = scene().resize((24, 16)).resize((96, 64))
    sharp, blur = save("sharp", scene()), save("blur", blurred)
    yield Case(1, sharp, blur)
    yield Case(0, blur, save("gold", scene()))


def first_less(folder: Path) -> Iterator[Case]:
    save = Album(folder)
    less, more = (save(f"{f}.png", ImageEnhance.Color(scene()).enhance(f)) for f in (0.5, 1.5))
    yield Case(1, less, more)
    yield Case(0, save("again", ImageEnhance.Color(scene()).enhance(1.5)), less)


def first_brighter(folder: Path) -> Iterator[Case]:
    save = Album(folder)
    dark = save("dark", ImageEnhance.Brightness(scene()).enhance(0.5))
    yield Case(1, save("bright", scene()), dark)
    yield Case(0, dark, save("gold", scene()))


def triangles(folder: Path) -> Iterator[Case]:
    save = Album(folder)
    for score, left in ((1, 40), (0, 10)):
        picture = Image.new("RGB", (100, 100), "white")
        draw = ImageDraw.Draw(picture)
        corners = ((left, 60), (left + 10, 33), (left + 20, 60))
        draw.polygon(corners, fill="yellow")
        yield Case(score, save(f"two colours {score}", picture))
        draw.point((0, 0), fill="red")
        yield Case(score, save(f"three colours {score}", picture))
    yield Case(0, save("empty", Image.new("RGB", (100, 100))))


def text_boxes(folder: Path) -> Iterator[Case]:
    save = Album(folder)
    for score, left in ((1, 4), (0, 5), (0, 60)):
        picture = Image.new("RGB", (100, 50), "white")
        ImageDraw.Draw(picture).rectangle((left, 10, left + 20, 20), fill="black")
        yield Case(score, save(str(left), picture))
    yield Case(0, save("white", Image.new("RGB", (100, 50), "white")))


def green_screens(folder: Path) -> Iterator[Case]:
    save = Album(folder)

    def person(background: str, body: str = "black") -> Image.Image:
        picture = Image.new("RGB", (60, 40), background)
        ImageDraw.Draw(picture).ellipse((20, 10, 40, 30), fill=body)
        return picture

    gold = save("gold", person("white"))
    yield Case(1, save("green", person("green", "red")), gold)
    yield Case(0, save("blue", person("blue")), gold)
    yield Case(0, save("size", person("green").resize((40, 60))), gold)


def sizes(folder: Path) -> Iterator[Case]:
    save = Album(folder)
    file = save("plain", Image.new("RGB", (30, 20)))
    yield Case(1, file, {"width": 30, "height": 20})
    yield Case(1, file, {"height": 20})
    yield Case(0, file, {"height": 30})
    framed = Image.new("RGBA", (50, 50), (0, 0, 0, 0))
    framed.paste((1, 2, 3, 255), (10, 10, 40, 30))
    file = save("framed", framed)
    yield Case(1, file, {"width": 30, "height": 20, "ignore_transparent": True})
    yield Case(0, file, {"width": 30, "height": 20})


def file_sizes(folder: Path) -> Iterator[Case]:
    file = folder / "file"
    file.write_bytes(bytes(500))
    yield Case(1, str(file), {"max_size": 501})
    yield Case(0, str(file), {"max_size": 500})


def synchsafe(size: int) -> bytes:
    return bytes(size >> shift & 0x7F for shift in (21, 14, 7, 0))


def tagged(version: int, **frames: bytes) -> bytes:
    """An MP3 file's beginning with these text frames."""
    body = b""
    for name, text in frames.items():
        size = len(text)
        if version == 2:
            body += name.encode() + size.to_bytes(3, "big") + text
        else:
            packed = synchsafe(size) if version == 4 else size.to_bytes(4, "big")
            body += name.encode() + packed + bytes(2) + text
    body += bytes(20)
    return b"ID3" + bytes([version, 0, 0]) + synchsafe(len(body)) + body + b"\xff\xfb" + bytes(64)


def songs(folder: Path) -> Iterator[Case]:
    rules = {
        "title": {"method": "eq", "ref": "Missing You"},
        "artist": {"method": "re.I", "ref": "^cheng"},
    }
    utf16 = b"\x01" + "Missing You".encode("utf-16") + b"\0\0"
    version_1 = b"TAG" + b"Missing You".ljust(30, b"\0") + b"Cheng Xiang".ljust(30) + bytes(65)
    files = (
        (1, tagged(4, TIT2=b"\x03Missing You", TPE1=b"\x03Cheng Xiang\0Other")),
        (1, tagged(3, TIT2=utf16, TPE1=b"\x00Cheng Xiang", COMM=b"\x00" + b"x" * 300)),
        (1, tagged(2, TT2=b"\x00Missing You\0", TP1=b"\x00Cheng Xiang")),
        (1, b"\xff\xfb" + bytes(500) + version_1),
        (0, tagged(4, TIT2=b"\x03Missing Me", TPE1=b"\x03Cheng Xiang")),
        (0, tagged(4, TIT2=b"\x03Missing You")),
        (0, b"\xff\xfb" + bytes(500)),
        (0, b"ID3\x04\x00"),
    )
    for number, (score, data) in enumerate(files):
        file = folder / f"{number}.mp3"
        file.write_bytes(data)
        yield Case(score, str(file), rules)


def tone(
    path: Path, hertz: list[float], rate: int = 22050, width: int = 2, channels: int = 1
) -> str:
    """A WAV file with half a second of each tone."""
    time = np.arange(rate // 2) / rate
    wave_form = np.concatenate([0.5 * np.sin(2 * np.pi * f * time) for f in hertz])
    values = np.repeat(np.round(wave_form * (2 ** (8 * width - 1) - 1)).astype("<i8"), channels)
    if width == 1:
        values = values + 128
    raw = values.astype("<i8").view(np.uint8).reshape(-1, 8)[:, :width].tobytes()
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(raw)
    return str(path)


def sounds(folder: Path) -> Iterator[Case]:
    gold = tone(folder / "gold.wav", [440, 880, 660])
    yield Case(1, tone(folder / "same.wav", [440, 880, 660]), gold)
    silent = folder / "empty.wav"
    with wave.open(str(silent), "wb") as file:
        file.setparams((1, 2, 22050, 0, "NONE", ""))
    yield Case(0, str(silent), gold)


def film(path: Path, pictures: list[Image.Image]) -> str:
    # Motion JPEG in AVI, which OpenCV brings its own code for.
    codec = cv2.VideoWriter_fourcc(*"MJPG")
    writer = cv2.VideoWriter(str(path), codec, 10, pictures[0].size)
    for picture in pictures:
        writer.write(np.asarray(picture)[..., ::-1].copy())
    writer.release()
    return str(path)


def films(folder: Path) -> Iterator[Case]:
    frames = [scene()] * 8
    gold = film(folder / "gold.avi", frames)
    brighter = [ImageEnhance.Brightness(scene()).enhance(1.1)] * 8
    yield Case(1, film(folder / "same.avi", brighter), gold)
    yield Case(0, film(folder / "other.avi", [ImageOps.mirror(scene())] * 8), gold)
    yield Case(0, film(folder / "shorter.avi", frames[:5]), gold)
    yield Case(1, film(folder / "start.avi", frames[:5]), gold, max_frames_to_check=5)


CASES: Cases = {
    "compare_images": compared,
    "compare_image_list": listed,
    "check_structure_sim": alike,
    "check_file_exists_and_structure_sim": alike,
    "check_structure_sim_resized": resized,
    "check_image_mirror": mirrored,
    "check_image_size": sizes,
    "check_image_file_size": file_sizes,
    "check_brightness_decrease_and_structure_sim": darker,
    "check_saturation_increase_and_structure_sim": more_saturated,
    "check_contrast_increase_and_structure_sim": more_contrast,
    "check_palette_and_structure_sim": with_palette,
    "check_sharper": sharper,
    "increase_saturation": first_less,
    "decrease_brightness": first_brighter,
    "check_triangle_position": triangles,
    "check_textbox_on_leftside": text_boxes,
    "check_green_background": green_screens,
    "check_mp3_meta": songs,
    "compare_audios": sounds,
    "compare_videos": films,
}
