"""The getters: what a task file's ``result`` and ``expected`` may name. Each module registers its
own."""

from ui_gym.desktop.osworld.getters import (
    files,
    machine,
    pages,
    profile,
    programs,
    rules,
    slides,
    tabs,
)

__all__ = ["files", "machine", "pages", "profile", "programs", "rules", "slides", "tabs"]
