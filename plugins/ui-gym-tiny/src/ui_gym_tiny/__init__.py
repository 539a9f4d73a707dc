"""The tiny models: a real Qwen3-VL class of one million parameters, its weights and its recipe.

`TINY_EYES` reads the data-entry page; `TINY_CLERK` also works, with a clumsy clerk's habits;
`TINY_THUMB` turns the quick settings of a phone, and often touches the tile above; `TINY_HANDS`
knows the parts of a job, and no job; `TINY_FILER` does the parts of a desktop's job in any order;
`TINY_READER` does parts of jobs on the compact pages of all families. Each is the folder of a
checkpoint, with its card. `pretrain` makes them, from what `model.build` writes.
"""

from pathlib import Path

FOLDER = Path(__file__).parent / "checkpoints"

TINY_CLERK = FOLDER / "tiny-clerk"
TINY_EYES = FOLDER / "tiny-eyes"
TINY_FILER = FOLDER / "tiny-filer"
TINY_HANDS = FOLDER / "tiny-hands"
TINY_READER = FOLDER / "tiny-reader"
TINY_THUMB = FOLDER / "tiny-thumb"
