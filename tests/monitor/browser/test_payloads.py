"""The positive control of `test_pages_hostile`: set as markup, where no policy is, its payloads
do what they say."""

from __future__ import annotations

from pathlib import Path

from test_pages_hostile import PAYLOADS
from watched_page import WatchedPage, file_url


def test_set_as_markup_they_run(page: WatchedPage, tmp_path: Path) -> None:
    image, script = PAYLOADS[1], PAYLOADS[16]
    for text in (f"<p>{image}</p>", f"<script>const said = '{script}';</script>"):
        path = tmp_path / "page.html"
        path.write_text(f"<!doctype html><title>x</title><body>{text}")
        page.open(file_url(path))
        page.until("window.ran !== undefined")
