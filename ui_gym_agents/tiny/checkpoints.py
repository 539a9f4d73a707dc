"""Where the shipped checkpoints lie, and how a name becomes a folder."""

from __future__ import annotations

from pathlib import Path

from ui_gym.errors import UserError, nearest

SHIPPED = ("tiny-eyes", "tiny-clerk", "tiny-thumb")
"""`tiny-eyes` reads the data-entry page; `tiny-clerk` also works, with a clumsy clerk's habits;
`tiny-thumb` turns the quick settings of a phone, and often touches the tile above."""

FOLDER = Path(__file__).parent / "checkpoints"


def resolve(name_or_path: str | Path) -> Path:
    """The folder of a model: a shipped name, or any local folder that holds a ``config.json``.

    Raises:
        UserError: it is neither; the message names what is near.
    """
    if str(name_or_path) in SHIPPED:
        folder = FOLDER / str(name_or_path)
        if not (folder / "config.json").is_file():
            raise UserError(
                f"the shipped model {str(name_or_path)!r} is not in {folder}; reinstall"
            )
        return folder
    folder = Path(name_or_path).expanduser()
    if (folder / "config.json").is_file():
        return folder
    if folder.is_dir():
        raise UserError(f"{folder} is no model folder: it holds no config.json")
    raise UserError(
        f"there is no model {str(name_or_path)!r}, neither shipped nor as a folder. "
        f"{nearest(str(name_or_path), SHIPPED)}"
    )
