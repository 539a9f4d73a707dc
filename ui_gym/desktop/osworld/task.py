"""OSWorld: a task file of OSWorld's as a task, on any desktop."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from ui_gym.contract.action import Action
from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.task import Brief, Judged, Split, Task, Verdict
from ui_gym.desktop.device import DesktopDevice, SessionSpec
from ui_gym.desktop.osworld import taskfile
from ui_gym.desktop.osworld.cache import FileCache, TaskFiles
from ui_gym.desktop.osworld.evaluate import evaluate
from ui_gym.desktop.osworld.pauses import rest
from ui_gym.desktop.osworld.placeholders import at_home
from ui_gym.desktop.osworld.registry import EvaluationContext
from ui_gym.desktop.osworld.setups import run_steps
from ui_gym.desktop.osworld.setups.commands import check_programs
from ui_gym.desktop.osworld.spec import OSWORLD
from ui_gym.errors import DeviceError, UserError

FOLDERS = (
    *("Desktop", "Documents", "Downloads", "Music"),
    *("Pictures", "Public", "Templates", "Videos"),
)
"""What a home folder of OSWorld's machines always has."""

ACCESSIBLE = frozenset({
    "accessibility_tree", "active_tab_html_parse", "active_tab_info", "active_tab_url_parse",
    "active_url_from_accessTree", "macys_product_url_parse", "url_dashPart", "url_path_parse",
    "vm_terminal_output",
})  # fmt: skip
"""Getters that ask applications what they show."""


@dataclass(frozen=True)
class OSWorldParams:
    """Which task it is: a file has one instance."""

    id: str
    domain: str


@dataclass
class _Episode:
    """What setup leaves to the judge. It must not hold the device, by which it is found."""

    folder: tempfile.TemporaryDirectory[str]
    memory: dict[str, Any] = field(default_factory=dict)


_EPISODES: weakref.WeakKeyDictionary[DesktopDevice, _Episode] = weakref.WeakKeyDictionary()
"""What is going on on each device. Not kept in the task, which several slots may share."""


def _prefer_libreoffice(device: DesktopDevice) -> None:
    """Let sheets be opened by Calc, as on OSWorld's machines, where Gnumeric would open them."""
    path, gnumeric = ".config/mimeapps.list", b"org.gnumeric.gnumeric.desktop"
    defaults = device.read(path) or b""
    if gnumeric in defaults:
        device.write(path, defaults.replace(gnumeric, b"libreoffice-calc.desktop;" + gnumeric))


class OSWorld(Task[OSWorldParams, DesktopDevice]):
    """A task file of OSWorld's.

    ## Description
    The file says how the desktop is prepared, what is to be done, and how that is judged. Its
    schema is OSWorld's, unchanged; ``ui-gym osworld coverage`` tells which files can be played.
    Files that it names by addresses come from a cache on this machine (``ui-gym osworld fetch``).

    ## Rewards
    OSWorld's score, in [0, 1], at the end of the episode. A task that cannot be done is worth 1 if
    the agent ends with ``finish("infeasible")``; ``info["details"]["infeasible"]`` tells which
    those are.

    ## Starting state
    What the steps of the file's ``config`` bring about. There is one instance of each task, which
    every seed and every split gives.

    ## Arguments
    | `task_file` | needed | the path of the file |
    | `cache` | `UI_GYM_OSWORLD_CACHE` | the folder of the file cache |
    | `password` | `"password"` | that of the machine's user, where steps ask for it |
    """

    spec: ClassVar[TaskSpec] = OSWORLD
    viewport = (1920, 1080)
    judged: ClassVar[Judged] = "end"
    examples: ClassVar[Path] = Path(__file__).with_name("test_all.json")
    """The meta file of task files that come with this package and need no network."""

    def __init__(
        self, *, task_file: str | Path, cache: str | Path | None = None, password: str = "password"
    ) -> None:
        """Read the file.

        Raises:
            UserError: it is damaged, or names what is not known here (`ui_gym.desktop.osworld
                .registry` says how to add it).
        """
        self.file = taskfile.read(task_file)
        lacking = taskfile.lacks(self.file)
        if lacking:
            raise UserError(f"{task_file} needs what is not there: {', '.join(lacking)}")
        folder = None if cache is None else Path(cache)
        self.files = TaskFiles(self.file.path.parent, FileCache(folder))
        self.max_steps = self.file.max_steps
        self.password = password

    def missing(self) -> list[str]:
        """The addresses of files that the task needs and that are not on this machine.

        Raises:
            UserError: the file names one outside its own folder.
        """
        return self.files.missing(self.file)

    def draw(self, seed: int, split: Split | None = None) -> OSWorldParams:
        return OSWorldParams(self.file.id, self.file.domain)

    def goal(self, params: OSWorldParams) -> str:
        return self.file.instruction

    def setup(self, device: DesktopDevice, params: OSWorldParams) -> None:
        for url in self.missing():
            self.files.get(url)  # says how to have it
        if before := _EPISODES.pop(device, None):
            before.folder.cleanup()
        device.renew(SessionSpec(accessible=self._reads_the_screen()))
        device.run(["mkdir", "-p", *FOLDERS], cwd=device.home)
        if any("libreoffice" in word for word in (self.file.domain, *self.file.related_apps)):
            _prefer_libreoffice(device)
        episode = _Episode(tempfile.TemporaryDirectory(prefix="ui-gym-osworld-"))
        _EPISODES[device] = episode
        context = self._context(device, episode)
        check_programs(context, self.file.apps)
        run_steps(context, self.file.config)
        rest(context)

    def brief(self, device: DesktopDevice, params: OSWorldParams) -> Brief:
        noted = self._context(device, _EPISODES[device]).notes
        return Brief(at_home(self.file.instruction, device.home), {"setup_notes": noted})

    def judge(
        self, device: DesktopDevice, params: OSWorldParams, history: Sequence[Action]
    ) -> Verdict:
        episode = _EPISODES.pop(device, None)
        if episode is None:
            raise DeviceError("this device was prepared for no task, or its task is judged already")
        with episode.folder:
            return evaluate(self._context(device, episode), self.file, history)

    def _reads_the_screen(self) -> bool:
        wanted = [config for check in self.file.checks for config in (check.result, check.expected)]
        return any(config is not None and config["type"] in ACCESSIBLE for config in wanted)

    def _context(self, device: DesktopDevice, episode: _Episode) -> EvaluationContext:
        return EvaluationContext(
            device=device,
            files=self.files,
            folder=Path(episode.folder.name),
            size=device.size,
            task=self.file.id,
            password=self.password,
            memory=episode.memory,
        )

    def pool(self, options: DeviceOptions) -> DevicePool:  # type: ignore[override]
        """The suite's devices; of the kind that the file is meant for, where none is asked for."""
        from ui_gym.desktop.pool import desktop_pool

        if options.kind == "auto" and self.file.device is not None:
            options = replace(options, kind=self.file.device)
        return desktop_pool(options)
