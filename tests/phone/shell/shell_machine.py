"""A machine for the shell: files and a clock, without the rest of the phone."""

from __future__ import annotations

from ui_gym_phone.state.clock import Clock
from ui_gym_phone.state.files import Files

TREE = {
    "notes.txt": "buy milk\nbuy bread\n\ncall mum  now\nall well\n",
    "table.txt": "apple 5\nbanana 12\ncherry 7\napple 1\n",
    "empty.txt": "",
    "Documents/todo.md": "- [ ] milk: 2/3\n- [x] bread: 1\n",
    "Download/report.pdf": "%PDF-1.4 report\n",
    "Download/photo.jpg": "\xff\xd8 not really\n",
    "Music/": "",
}
"""Files by their path; a path that ends with a slash is a folder."""


class Machine:
    """What a shell needs of a phone."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.files = Files(self.clock)


def machine_with(tree: dict[str, str], folder: str = "/sdcard") -> Machine:
    """A machine whose shared storage holds `tree` and nothing else."""
    machine = Machine()
    for name in machine.files.list(folder):
        machine.files.rmtree(f"{folder}/{name}")
    for path, text in tree.items():
        whole = f"{folder}/{path}"
        machine.files.mkdir(whole.rpartition("/")[0], parents=True)
        if not path.endswith("/"):
            machine.files.write(whole, text.encode())
            machine.files.chmod(whole, 0o644)
    return machine
