"""The tasks of the desktop suite; importing this registers them and starts no desktop."""

from __future__ import annotations

import importlib
import pkgutil

import ui_gym.desktop.osworld.spec  # noqa: F401  OSWorld's task files are an env, too

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
