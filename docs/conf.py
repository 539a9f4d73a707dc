"""The documentation as a site: `./bootstrap docs`, or sphinx-build -W docs docs/_build/html.

Pages of environments, of the public surface and of the READMEs are made from the code by
`site_pages.py` before Sphinx reads them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import site_pages  # noqa: E402

import ui_gym  # noqa: E402

project = "ui-gym"
author = "The ui-gym authors"
copyright = author
version = release = ui_gym.__version__

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
# A fence of the documents may name the file that it is written to, for the tests.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = f"ui-gym {release}"
html_show_sphinx = False


def setup(app: Any) -> None:
    site_pages.write(HERE / site_pages.MADE)
    app.connect("source-read", lambda _, page, source: source.__setitem__(0, read(page, source[0])))


def read(page: str, text: str) -> str:
    """A page as Sphinx is to see it."""
    if page.startswith(f"{site_pages.MADE}/"):
        return text  # written for the site
    return site_pages.for_site(text, Path("docs") / f"{page}.md", page)
