"""Writes the Japanese faces of the pages' fonts: ``python docs/japanese_face.py FOLDER``.

FOLDER is ``files`` of the npm package ``@fontsource/noto-sans-jp`` (5.3.0: Noto Sans JP, SIL Open
Font License). The faces hold the letters of ``content/data/languages/ja.toml``, and all kana; run
it again when new ones are written there. It needs ``pip install fonttools brotli``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

BROWSER = Path(__file__).resolve().parents[1] / "ui_gym" / "browser"
TEXTS = BROWSER / "content" / "data" / "languages" / "ja.toml"
FONTS = BROWSER / "pages" / "fonts"
WEIGHTS = (400, 600)
FIRST = "\u3000"
"""The first letter that the other faces do not have."""
KANA = (range(0x3041, 0x3097), range(0x30A1, 0x30FD))


def main() -> None:
    folder = Path(sys.argv[1])
    wanted = {letter for letter in TEXTS.read_text("utf-8") if letter >= FIRST}
    wanted |= {chr(code) for kana in KANA for code in kana}
    for weight in WEIGHTS:
        font = TTFont(folder / f"noto-sans-jp-japanese-{weight}-normal.woff2")
        missing = sorted(wanted - set(map(chr, font.getBestCmap())))
        if missing:
            raise SystemExit(f"{folder} has no {''.join(missing)}")
        options = subset.Options(flavor="woff2", hinting=False, layout_features=["kern", "palt"])
        subsetter = subset.Subsetter(options)
        subsetter.populate(text="".join(sorted(wanted)))
        subsetter.subset(font)
        path = FONTS / f"noto-sans-jp-{weight}-normal.woff2"
        subset.save_font(font, str(path), options)
        print(f"{path.name}: {len(wanted)} letters, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
