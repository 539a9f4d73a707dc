"""What a catalogue knows of OSWorld's task files, before anything is imported."""

from __future__ import annotations

from ui_gym.contract.spec import TaskSpec

COLLECTION = "osworld"

OSWORLD = TaskSpec(
    name="OSWorld",
    suite="desktop",
    entry_point="ui_gym.desktop.osworld.task:OSWorld",
    category=COLLECTION,
    difficulty="hard",
    max_steps=15,
    tags=(COLLECTION,),
    summary="A task file of OSWorld's, named by the argument task_file.",
    collection=COLLECTION,
)
