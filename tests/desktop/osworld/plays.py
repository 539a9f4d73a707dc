"""Published task files, each solved and nearly solved, with files of the same kind where the
originals lie in a cloud."""

from __future__ import annotations

from plays_gimp import GIMP, MULTI
from plays_mail import THUNDERBIRD
from plays_office import CALC, IMPRESS, WRITER
from plays_system import CHROME, OS, VLC

ALL = [*OS, *CHROME, *VLC, *GIMP, *MULTI, *THUNDERBIRD, *CALC, *WRITER, *IMPRESS]
