"""File transfer: attach the right file to a request, from the home or downloaded before."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import transfers
from ui_gym.browser.content.choices import lookalike
from ui_gym.browser.content.filetree import name, parent
from ui_gym.browser.content.transfers import SCENES, Drawer, HomeFile
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, whole
from ui_gym.browser.moves import click, reveal
from ui_gym.contract.action import Type
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

ASKS = ("named", "newest", "download", "fitting")
"""A file by its name and folder; the newest of a sort; one of the page's documents; the version
that the page takes."""
AGAIN = re.compile(r" \(\d+\)(?=\.|$)")
"""What a browser puts behind the name of a download that is there already."""
ORDERS = ("name", "modified", "size")
"""By what the chooser sorts files."""
DOCUMENTS = 4
"""That the page offers."""
COMPACT_DOCUMENTS = 2
VERSIONS = ("-small", "-web", "-full", "-scan", "-print")
"""Behind the name of another version, which may be the smaller or the larger one."""
THEMES = 6
MISNAMED = 0.5
"""The score of the right file under another name than the asked one."""

GOALS = (
    "Finish the {thing}: {what}. Then send it.{rename}",
    "The {thing} lacks a file: {what}, nothing else, and send it.{rename}",
    "Please {what}, as the {thing} needs it, and send that.{rename}",
)
WHATS = {
    "named": 'attach "{name}" from the folder {folder}',
    "newest": 'attach the newest of the files in {folder} whose names begin with "{stem}"',
    "download": 'download "{name}" from the documents and attach that',
    "fitting": 'attach "{stem}" from {folder} in the form that the page takes',
}
RENAME = ' If its name is refused, name it "{sent_as}".'
COMPACT_GOALS = {
    "named": ("Send {name} of {folder}.", "Choose {name} of {folder}. Send."),
    "newest": ("Send the newest of {folder}.", "Choose the newest of {folder}. Send."),
    "download": ("Get {name} and send it.", "Get {name}. Choose it. Send."),
}


@dataclass(frozen=True)
class FileTransferParams:
    """All that varies between episodes."""

    scene: int
    ask: str
    home: tuple[HomeFile, ...]
    documents: tuple[HomeFile, ...]
    """What the page offers for download."""
    target: int
    """The asked file: of the home, and behind that of the documents."""
    sort: str
    """How the names of the asked sort begin."""
    kinds: tuple[str, ...]
    """The types that the page takes; none: any."""
    kilobytes: int
    """How large a file may be, in kilobytes."""
    number: int
    """Of the request."""
    sent_as: str
    """The name under which it is to be sent; empty: its own."""
    start: str
    """The folder that the chooser shows at first."""
    order: str
    place: int
    theme: int
    phrasing: int

    @property
    def file(self) -> HomeFile:
        return (*self.home, *self.documents)[self.target]

    @property
    def is_download(self) -> bool:
        return self.target >= len(self.home)


@register("FileTransfer", suite="browser", category="files", difficulty="medium", max_steps=30)
class FileTransfer(Family[FileTransferParams]):
    """Attach the right file of a home to a request, some of them downloaded before, and send it.

    ## Description
    A request that lacks a file, with documents to download beside it. "Choose a file" opens the
    page's own chooser: the folders and files of a made-up home, with days and sizes. The goal names
    a file by its name and folder, asks for the newest of a sort, for one of the documents (which a
    download puts into the folder of downloads, with a number behind its name where that is taken),
    or for the version that fits what the page takes, by type and size. Other folders and other
    versions have files of the same or like names. At "hard" the page wants the request's number in
    front of the name. What is chosen is a real `File` in the page's `<input type="file">`, and a
    download a real link, which the browser refuses to write to the disk. The compact page asks for
    no versions, and in its chooser a click is enough.

    ## Action space
    Clicks do all; a double click opens folders and files, as "Open" does; a name is typed.

    ## Rewards
    1 if Send is pressed with the asked file attached, by size and checksum of its bytes, under the
    asked name; 0.5 under another name; else 0.

    ## Starting state
    Nothing attached, no download, the chooser closed.

    ## Episode end
    Termination: Send was pressed with a file. `max_steps` is about twice what the longest way
    needs.

    ## Arguments
    | `asks` | easy 2, medium 4, hard 4 (compact: 3) | how many ways of asking, 1 to 4 |
    | `folders` | easy 2, medium 4, hard 6 (compact: 1) | beside the downloads, 2 to 6; compact: 1 |
    | `files` | easy 3, medium 5, hard 7 (compact: 3) | in each folder, 3 to 7; compact: 3 |
    | `rename` | False, at hard True | the page refuses the file's own name |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "file_transfer.html"
    ends, waiting = "sent", "not sent yet"
    mistakes = ("lookalike", "neighbour")
    asks: int = whole(1, len(ASKS), easy=2, medium=4, hard=4)
    folders: int = whole(1, 6, easy=2, medium=4, hard=6)
    files: int = whole(3, 7, easy=3, medium=5, hard=7)
    rename: bool = flag(easy=False, medium=False, hard=True)
    compact_values = {"asks": 3, "folders": 1, "files": 3, "rename": False}

    def prepare(self) -> None:
        self.downloads = f"{transfers.COMPACT_DOWNLOADS}/" if self.compact else transfers.DOWNLOADS
        if self.compact:
            self.check_range("asks", self.asks, 1, len(COMPACT_GOALS))
            self.check_range("folders", self.folders, 1, 1)
            self.check_range("files", self.files, 3, 3)
            if self.rename:
                raise UserError("FileTransfer: the compact page takes all names; rename is False")
            self.max_steps = 10
            return
        self.check_range("folders", self.folders, 2, 6)
        # Get, choose, two folders up and two down, a file, a new name in three steps; send.
        self.max_steps = 2 * (1 + 1 + 4 + 1 + 3 * self.rename + 1)

    def sample(self, rng: Generator) -> FileTransferParams:
        ask = ASKS[int(rng.integers(self.asks))]
        draw = Drawer(rng, compact=self.compact)
        sort, kind = ("", "") if self.compact else transfers.sort_of(rng)
        home, documents, wanted = (
            self._compact_files(ask, draw, rng)
            if self.compact
            else self._full_files(ask, sort, kind, draw, rng)
        )
        everything = [*home, *documents]
        number = int(rng.integers(1000, 9999))
        fitting = ask == "fitting"
        ending = f".{kind}" if kind else ""
        places = sorted({parent(file.path) for file in home})
        return FileTransferParams(
            scene=int(rng.integers(len(SCENES))),
            ask=ask,
            home=tuple(home),
            documents=tuple(documents),
            target=everything.index(wanted),
            sort=sort if not fitting else _stem(name(wanted.path)),
            kinds=(kind,) if fitting else (),
            kilobytes=transfers.FITTING_KILOBYTES if fitting else transfers.MOST_KILOBYTES,
            number=number,
            sent_as=f"{number}-{sort}{ending}" if self.rename else "",
            start="" if self.compact else pick(rng, ["", *places]),
            order="name" if self.compact else pick(rng, ORDERS),
            place=int(rng.integers(2)),
            theme=0 if self.compact else int(rng.integers(THEMES)),
            phrasing=int(rng.integers(2 if self.compact else 3)),
        )

    def goal(self, params: FileTransferParams) -> str:
        file = params.file
        told = {"name": name(file.path), "folder": parent(file.path).rstrip("/")}
        if self.compact:
            return COMPACT_GOALS[params.ask][params.phrasing].format(**told)
        return GOALS[params.phrasing].format(
            thing=SCENES[params.scene].thing,
            what=WHATS[params.ask].format(**told, stem=params.sort),
            rename=RENAME.format(sent_as=params.sent_as) if params.sent_as else "",
        )

    def page_params(self, params: FileTransferParams) -> dict[str, Any]:
        def told(file: HomeFile) -> dict[str, Any]:
            return {**file._asdict(), "day": transfers.day_of(file, compact=self.compact)}

        return {
            **SCENES[params.scene]._asdict(),
            "home": [told(file) for file in params.home],
            "documents": [told(file) for file in params.documents],
            "downloads": self.downloads,
            "kinds": params.kinds,
            "kilobytes": params.kilobytes,
            "number": params.number,
            "numbered": self.rename,
            "start": params.start,
            "order": params.order,
            "place": params.place,
            "theme": params.theme,
        }

    def verdict(self, data: Mapping[str, Any], params: FileTransferParams) -> Verdict:
        sent = [(str(one["name"]), int(one["size"]), str(one["sum"])) for one in data["files"]]
        file = params.file
        if len(sent) != 1:
            return Verdict(0.0, done=True, notes=f"{len(sent)} files were sent")
        called, *what = sent[0]
        if what != [file.size, transfers.checksum(file)]:
            return Verdict(0.0, done=True, notes=f"sent another file: {called}")
        if params.is_download and not params.sent_as:
            called = AGAIN.sub("", called)
        if called != (wanted := params.sent_as or name(file.path)):
            return Verdict(MISNAMED, done=True, notes=f"sent as {called}, not {wanted}")
        return Verdict(1.0, done=True, notes=f"sent {called}")

    def oracle(self, device: BrowserDevice, params: FileTransferParams) -> Steps:
        file = params.file
        if params.is_download:
            number = params.target - len(params.home)
            yield Demo(click(device, f"#get-{number}"), self.thought("Get", f"I need {file.path}."))
            path = self.downloads + transfers.downloaded(file, params.home, self.downloads)
        else:
            path = file.path
        yield Demo(click(device, "#choose"), self.thought("Choose", "Where is the file?"))
        yield from self._walk(device, parent(path))
        yield from self._open(device, path)
        if params.sent_as:
            yield Demo(click(device, "#new-name"), "The name is refused.")
            yield Demo(Type(params.sent_as, clear=True), f"It is to be {params.sent_as}.")
            yield Demo(click(device, "#rename"), "Name it so.")
        yield Demo(click(device, "#send"), self.thought("Send", "That is the file: send it."))

    def misread(
        self, params: FileTransferParams, mistake: str, rng: Generator
    ) -> FileTransferParams:
        """``lookalike``: a file of the same or the likest name. ``neighbour``: another one of the
        same folder."""
        files = [*params.home, *params.documents]
        wanted = params.target
        fits = [
            i
            for i, file in enumerate(files)
            if i != wanted and _fits(file, params) and (i < len(params.home) or params.is_download)
        ]
        if mistake == "neighbour":
            folder = parent(files[wanted].path)
            near = [i for i in fits if parent(files[i].path) == folder] or fits
            return replace(params, target=pick(rng, near))
        names = [name(file.path) for file in files]
        same = [i for i in fits if names[i] == names[wanted]]
        unfit = [i for i in range(len(files)) if i not in fits]
        likest = same[0] if same else lookalike(names[wanted], names, unfit)
        return replace(params, target=likest)

    def blind_rate(self, params: FileTransferParams) -> float:
        """Any file; where a name must be typed, none."""
        return 0.0 if params.sent_as else 1 / (len(params.home) + len(params.documents))

    # -- files --

    def _compact_files(
        self, ask: str, draw: Drawer, rng: Generator
    ) -> tuple[list[HomeFile], list[HomeFile], HomeFile]:
        names = transfers.short_names(self.files, rng)
        docs = [draw.file(f"{transfers.DOCS}/{one}") for one in names]
        offered = [names[0], *transfers.short_names(9, rng)]
        offered = list(dict.fromkeys(offered))[:COMPACT_DOCUMENTS]
        documents = transfers.shuffled([draw.file(one) for one in offered], rng)
        # What is downloaded has a name that something else in the folder beside it has too.
        old = [one for one in transfers.short_names(9, rng) if one not in offered][:2]
        got = [draw.file(f"{self.downloads}{one}") for one in old]
        wanted = pick(rng, docs)
        if ask == "newest":
            wanted = max(docs, key=lambda file: file.modified)
        elif ask == "download":
            wanted = next(file for file in documents if file.path == names[0])
        return [*docs, *got], documents, wanted

    def _full_files(
        self, ask: str, sort: str, kind: str, draw: Drawer, rng: Generator
    ) -> tuple[list[HomeFile], list[HomeFile], HomeFile]:
        folders = transfers.folders(self.folders, rng)
        place = pick(rng, folders)
        names = transfers.alike(sort, kind, 3, rng)
        home = []
        for folder in folders:
            if folder == place:
                continue
            # Elsewhere there is one of the asked name, or one of its sort.
            like = names[0] if rng.random() < 0.5 else names[1]
            home += [draw.file(f"{folder}{one}") for one in
                     (like, *transfers.others(sort, self.files - 1, rng))]  # fmt: skip
        if ask == "fitting":
            stem = names[0].removesuffix(f".{kind}")
            large = (transfers.FITTING_KILOBYTES + 100, transfers.MOST_KILOBYTES)
            versions = [f"{place}{stem}.{kind}", f"{place}{stem}{pick(rng, VERSIONS)}.{kind}"]
            turned = int(rng.integers(2))
            wanted = draw.file(versions[turned])
            here = [draw.file(versions[1 - turned], *large), wanted]
            here.append(draw.file(f"{place}{stem}.zip"))
        else:
            here = [draw.file(f"{place}{one}") for one in names]
            wanted = here[0]
        rest = transfers.others(sort, max(0, self.files - len(here)) + 1, rng)
        home += [*here, *(draw.file(f"{place}{one}") for one in rest[1:])]
        documents = [draw.file(one) for one in
                     (names[0], names[1], *transfers.others(sort, DOCUMENTS - 2, rng))]  # fmt: skip
        if ask == "newest":
            wanted = max(here, key=lambda file: file.modified)
        elif ask == "download":
            wanted = documents[0]
            if rng.random() < 0.5:  # an older one of the name was downloaded before
                home.append(draw.file(f"{self.downloads}{names[0]}"))
        home.append(draw.file(f"{self.downloads}{rest[0]}"))
        return home, transfers.shuffled(documents, rng), wanted

    # -- moves --

    def _walk(self, device: BrowserDevice, folder: str) -> Iterator[Demo]:
        """Go to a folder in the chooser."""
        while (here := device.state()["folder"]) != folder:
            if not folder.startswith(here):
                yield Demo(click(device, "#up"), self.thought("Up", "It is not in here."))
                continue
            step = here + folder.removeprefix(here).split("/")[0] + "/"
            yield from self._open(device, step)

    def _open(self, device: BrowserDevice, path: str) -> Iterator[Demo]:
        """Open a folder or a file in the chooser."""
        row = f"#chooser [data-path={json.dumps(path)}]"
        if self.compact:
            yield Demo(click(device, row), name(path).rstrip("/"))
            return
        for scroll in reveal(device, row, "#rows"):
            yield Demo(scroll, f"{name(path)} is further down.")
        yield Demo(click(device, row, count=2), f"Open {name(path).rstrip('/')}.")


def _stem(called: str) -> str:
    """The name of a file without its type, and without what tells its version."""
    stem = called.rpartition(".")[0]
    return next((stem.removesuffix(end) for end in VERSIONS if stem.endswith(end)), stem)


def _fits(file: HomeFile, params: FileTransferParams) -> bool:
    """Whether the page takes it."""
    kind = file.path.rpartition(".")[2]
    small = file.size <= params.kilobytes * transfers.KILOBYTE
    return small and (not params.kinds or kind in params.kinds)
