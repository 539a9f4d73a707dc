"""The tasks of the browser suite, a module each; importing this registers them and starts no
browser."""

from __future__ import annotations

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
