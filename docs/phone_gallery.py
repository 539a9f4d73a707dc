"""Writes docs/phone.md and its pictures: every screen of the built-in phone, light and dark; and
docs/phone.png, a few of them in a row.

Run with ``python docs/phone_gallery.py [APP ...]``. The scenes are those that the tests of the apps
look at, `SCENES` in ``tests/phone/apps/gallery_<app>.py``.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from PIL import Image, ImageDraw

from ui_gym_phone.factory import factory_phone
from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.painter import Painter
from ui_gym_phone.ui.screen import PhoneScreen

HERE = Path(__file__).resolve().parent
SCENES = HERE.parent / "tests" / "phone" / "apps"
SIZE = (360, 800)
COLUMNS = 6
GAP, CAPTION = 12, 22

ROW = (
    ("system", "home", False), ("system", "notifications", False), ("contacts", "contact", False),
    ("clock", "time", True), ("browser", "recipe", False), ("system", "quick settings", True),
)  # fmt: skip
"""(app, scene, dark) of the row."""

Scene = Callable[[Phone, PhoneScreen], None]


def main() -> None:
    """Draw a sheet for each app, or for those that are named."""
    (HERE / "phone").mkdir(exist_ok=True)
    lines = [
        "# The built-in phone, screen by screen",
        "",
        f"Drawn at {SIZE[0]}x{SIZE[1]} pixels, light above and dark below; written by "
        "`python docs/phone_gallery.py`.",
        "",
    ]
    for path in sorted(SCENES.glob("gallery_*.py")):
        app = path.stem.removeprefix("gallery_")
        if not sys.argv[1:] or app in sys.argv[1:]:
            sheet(list(scenes(path))).save(HERE / "phone" / f"{app}.webp", quality=80, method=6)
        lines += [f"## {app.capitalize()}", "", f"![{app}](phone/{app}.webp)", ""]
    if not sys.argv[1:]:
        row().save(HERE / "phone.png", optimize=True)
    (HERE / "phone.md").write_text("\n".join(lines))


def scenes(path: Path) -> Iterator[tuple[str, Image.Image, Image.Image]]:
    """The name of each scene of an app, and its light and its dark picture."""
    for name, bring in read(path).items():
        yield name, picture(bring, dark=False), picture(bring, dark=True)


def read(path: Path) -> dict[str, Scene]:
    """The scenes of a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    sys.path.insert(0, str(path.parent))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, Scene] = module.SCENES
    return found


def row() -> Image.Image:
    """The chosen scenes side by side."""
    width, height = SIZE[0] // 2, SIZE[1] // 2
    whole = Image.new("RGB", (len(ROW) * (width + GAP) - GAP, height), "#ffffff")
    for i, (app, name, dark) in enumerate(ROW):
        bring = read(SCENES / f"gallery_{app}.py")[name]
        drawn = picture(bring, dark=dark).resize((width, height), Image.Resampling.LANCZOS)
        whole.paste(drawn, (i * (width + GAP), 0))
    return whole


def picture(bring: Scene, *, dark: bool) -> Image.Image:
    """A scene as it is seen; one on its side is as wide as the others, and low."""
    phone = factory_phone()
    switches.set_dark(phone, dark)
    screen = PhoneScreen(phone)
    bring(phone, screen)
    screen.refresh()
    scale = SIZE[0] / phone.width
    size = round(screen.display.width * scale), round(screen.display.height * scale)
    drawn = Image.fromarray(screen.paint(Painter(*size, scale)))
    drawn.thumbnail(SIZE, Image.Resampling.LANCZOS)
    return drawn


def sheet(drawn: list[tuple[str, Image.Image, Image.Image]]) -> Image.Image:
    """All scenes of an app: their light pictures in a row, their dark ones below, and so on."""
    width, height = SIZE
    rows = -(-len(drawn) // COLUMNS)
    across = min(COLUMNS, len(drawn))
    whole = Image.new(
        "RGB",
        (across * (width + GAP) + GAP, rows * (2 * height + CAPTION + 2 * GAP) + GAP),
        "#c9ced6",
    )
    draw = ImageDraw.Draw(whole)
    for i, (name, light, dark) in enumerate(drawn):
        row, column = divmod(i, COLUMNS)
        x = GAP + column * (width + GAP)
        y = GAP + row * (2 * height + CAPTION + 2 * GAP)
        draw.text((x, y), name, fill="#202124", font_size=15)
        whole.paste(light, (x, y + CAPTION))
        whole.paste(dark, (x, y + CAPTION + height + GAP))
    return whole.resize((whole.width // 2, whole.height // 2), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main()
