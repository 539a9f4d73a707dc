"""Plays of the domains gimp and multi_apps."""

from __future__ import annotations

import tarfile
from pathlib import Path

from play_case import Play, Player
from play_tools import Acts, at_prompt, by_libreoffice, command, cropped, photo, put


def script_fu(*calls: str) -> Acts:
    """GIMP without a window, which does that and ends."""
    batch = " ".join(f"-b '{call}'" for call in (*calls, "(gimp-quit 0)"))
    return command(f"gimp -i {batch} 2>&1")


def gimprc(line: str) -> Acts:
    """A line of GIMP's settings, as its window of preferences saves it."""
    return command(f"echo '{line}' >> .config/GIMP/2.10/gimprc")


def exported(source: str, target: str, change: str = "") -> Acts:
    """A picture that GIMP opens, changes (``i`` is the image, ``d`` its layer) and saves."""
    load = f'(i (car (gimp-file-load RUN-NONINTERACTIVE "{source}" "{source}")))'
    layer = "(d (car (gimp-image-get-active-layer i)))"
    save = f'(gimp-file-save RUN-NONINTERACTIVE i d "{target}" "{target}")'
    return script_fu(f"(let* ({load} {layer}) {change} {save})")


LOST = "/home/user/Desktop/The_Lost_River_Of_Dreams.jpg"
COLA, CROPPED = "/home/user/Desktop/cola.png", "/home/user/Desktop/cropped.png"

GIMP = [
    Play(
        "gimp/7b7617bd",
        "nothing",
        "100 undo levels in GIMP's settings",
        "10 levels",
        oracle=gimprc("(undo-levels 100)"),
        miss=gimprc("(undo-levels 10)"),
        programs=("gimp",),
    ),
    Play(
        "gimp/7767eef2",
        "nothing",
        "the theme Light in GIMP's settings",
        "the theme Gray",
        oracle=gimprc('(theme "Light")'),
        miss=gimprc('(theme "Gray")'),
        programs=("gimp",),
    ),
    Play(
        "gimp/77b8ab4d",
        "a picture",
        "GIMP saves it as `export.jpg`",
        "as `export.png`",
        oracle=exported(LOST, "/home/user/Desktop/export.jpg"),
        miss=exported(LOST, "/home/user/Desktop/export.png"),
        files={"The_Lost_River_Of_Dreams.jpg": photo()},
        programs=("gimp",),
    ),
]

SET_NUMBER = b"""if grep -qE '^ *set +(nu|number)' ~/.vimrc; then echo "The File Has Set Number!"
else echo "There is no such line."; fi
"""
RTF = rb"{\rtf1\ansi %s\par}"


def documents(path: Path) -> None:
    """Two documents, as Word of old had them (in RTF, which it and others open)."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in (("a.doc", b"The first letter."), ("b.doc", b"The second letter.")):
            put(archive, name, RTF % text)


def documents_as_pdf(path: Path) -> None:
    sources = [("a.doc", RTF % b"The first letter."), ("b.doc", RTF % b"The second letter.")]
    with tarfile.open(path, "w:gz") as archive:
        for made in by_libreoffice(path, "pdf", *sources):
            archive.add(made, made.name)


CONVERT = "cd ~/Desktop && soffice --headless --convert-to pdf {} ; echo > ~/done"


def converts(which: str) -> Acts:
    def act(player: Player) -> None:
        player.do('press("ctrl+alt+t")')
        at_prompt(CONVERT.format(which))(player)
        player.wait_for(lambda: player.device.read("done") is not None, "the conversion")
        player.do('type("history -w ~/.bash_history", enter=True)', "wait(1)")

    return act


MULTI = [
    Play(
        "multi_apps/b337d106",
        "`eval.sh`",
        "types `set number` into `.vimrc`",
        "types `set ruler`",
        oracle=at_prompt("echo 'set number' >> ~/.vimrc"),
        miss=at_prompt("echo 'set ruler' >> ~/.vimrc"),
        files={"eval.sh": SET_NUMBER},
    ),
    Play(
        "multi_apps/91190194",
        "a picture and its lower four fifths",
        "GIMP crops it without a window",
        "it crops the lower fifth",
        oracle=exported(COLA, CROPPED, "(gimp-image-crop i 320 192 0 48)"),
        miss=exported(COLA, CROPPED, "(gimp-image-crop i 320 192 0 0)"),
        files={"cola.png": photo(), "cropped_gold.png": cropped},
        programs=("gimp",),
    ),
    Play(
        "multi_apps/f7dfbef3",
        "two documents, and what LibreOffice makes of them",
        "types `soffice --convert-to pdf *.doc`, keeps the history",
        "converts one of them",
        oracle=converts("*.doc"),
        miss=converts("a.doc"),
        files={"doc.tar.gz": documents, "pdf.tar.gz": documents_as_pdf},
        programs=("soffice",),
    ),
]
