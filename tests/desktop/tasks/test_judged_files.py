"""Files that are as they should be, and settings, without a desktop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import pytest

from ui_gym.desktop import keyfile
from ui_gym.desktop.content import texts, words
from ui_gym.desktop.device import CommandResult, DesktopDevice
from ui_gym.desktop.files import judge_files

BEFORE = {"Boat/plan.txt": "one\ntwo\n", "Boat/menu.txt": "soup\n"}
AFTER = {**BEFORE, "Boat/plan.txt": "one\ntwo\nthree\n"}


class Disk:
    """A desktop of which only the disk is there."""

    def __init__(
        self, files: Mapping[str, bytes], folders: tuple[str, ...] = (), link: str = ""
    ) -> None:
        self._files = files
        self._folders = {"Boat", *folders}
        self._link = link

    def read(self, path: str) -> bytes | None:
        return self._files.get(path)

    def run(self, command: list[str]) -> CommandResult:
        """What ``find`` says of the visible ones."""
        kinds = {path: "l" if path == self._link else "f" for path in self._files}
        kinds |= dict.fromkeys(self._folders, "d")
        assert command[:2] in (["find", "Boat"], ["find", "."])
        inside = command[1] == "Boat"
        entries = [
            f"{kind} {path}"
            for path, kind in kinds.items()
            if "/." not in path and (path.startswith("Boat") if inside else "/" not in path)
        ]
        return CommandResult("".join(f"{entry}\0" for entry in entries).encode(), b"", 0)


def judged(files: Mapping[str, bytes], *folders: str, **arguments: Any) -> tuple[bool, str]:
    device = cast(DesktopDevice, Disk(files, folders))
    verdict = judge_files(device, BEFORE, AFTER, **arguments)
    assert verdict.done == verdict.success
    return verdict.success, verdict.notes


@pytest.mark.parametrize(
    "text",
    [b"one\ntwo\nthree\n", b"one\ntwo\nthree", b"one \ntwo\nthree\n\n", b"one\r\ntwo\r\nthree"],
)
def test_a_text_may_end_in_spaces_and_empty_lines(text: bytes) -> None:
    assert judged({"Boat/plan.txt": text, "Boat/menu.txt": b"soup\n"}) == (True, "")


@pytest.mark.parametrize(
    "text",
    [
        b"one\ntwo",
        b"one\ntwo\nThree",
        b"one\n\ntwo\nthree",
        b" one\ntwo\nthree",
        b"one\ntwo\nthr\xe9",
    ],
)
def test_any_other_text_is_wrong(text: bytes) -> None:
    files = {"Boat/plan.txt": text, "Boat/menu.txt": b"soup\n"}
    assert judged(files) == (False, "different: Boat/plan.txt")


def test_what_was_to_stay_has_stayed_to_the_byte() -> None:
    files = {"Boat/plan.txt": b"one\ntwo\nthree", "Boat/menu.txt": b"soup"}
    assert judged(files) == (False, "different: Boat/menu.txt")


def test_a_file_too_few_is_named_and_one_too_many() -> None:
    files = {"Boat/plan.txt": b"one\ntwo\nthree", "Boat/new.txt": b"", "Boat/.swp": b""}
    assert judged(files) == (False, "missing: Boat/menu.txt; unexpected: Boat/new.txt")


def test_folders_are_told_from_files() -> None:
    files = {path: text.encode() for path, text in AFTER.items()}
    assert judged(files, folders=["Boat/deck"]) == (False, "missing: Boat/deck/")
    assert judged(files, "Boat/deck", folders=["Boat/deck"])[0]
    assert judged(files, "Boat/deck") == (False, "unexpected: Boat/deck/")


def test_a_file_that_strayed_into_the_home_folder_is_unexpected() -> None:
    files = {path: text.encode() for path, text in AFTER.items()}
    assert judged({**files, "menu.txt": b"soup\n"}) == (False, "unexpected: menu.txt")
    assert judged({**files, "other.txt": b"of somebody else"}) == (True, "")


def test_a_link_is_not_the_file() -> None:
    files = {path: text.encode() for path, text in AFTER.items()}
    device = cast(DesktopDevice, Disk(files, link="Boat/plan.txt"))
    assert judge_files(device, BEFORE, AFTER).details["missing"] == ["Boat/plan.txt"]
    wanted = {**AFTER, "count.txt": "3\n"}
    link = cast(DesktopDevice, Disk({**files, "count.txt": b"3\n"}, link="count.txt"))
    assert judge_files(link, BEFORE, wanted).details["missing"] == ["count.txt"]
    plain = cast(DesktopDevice, Disk({**files, "count.txt": b"3\n"}))
    assert judge_files(plain, BEFORE, wanted).success


def test_changed_settings_stand_beside_those_of_every_home() -> None:
    plain = keyfile.parse(keyfile.beginning({}))
    group = "org/xfce/mousepad/state/window"
    changed = keyfile.parse(keyfile.beginning({group: {"height": "9"}, "new/one": {"A-b": "true"}}))
    assert plain[group]["height"] != "9"
    assert changed == {**plain, group: {**plain[group], "height": "9"}, "new/one": {"A-b": "true"}}


def test_settings_that_cannot_be_read_are_none() -> None:
    assert keyfile.parse(b"no group = here") == {}


def test_file_names_of_one_draw_differ_and_two_are_alike() -> None:
    for seed in range(50):
        names = words.file_names(np.random.default_rng(seed), 5)
        assert len(set(names)) == 5
        assert names[0].partition("_")[0].partition(".")[0] in names[1]
        assert words.new_name(np.random.default_rng(seed), *names) not in names


def test_a_misspelt_word_is_another_one() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        word = words.another(rng)
        wrong = words.misspelt(rng, word)
        assert wrong not in words.THINGS
        assert abs(len(wrong) - len(word)) <= 1
        assert (wrong[0], wrong[-1]) == (word[0], word[-1])


@pytest.mark.parametrize("word", words.THINGS)
def test_a_misspelling_is_no_word(word: str) -> None:
    shorter = {short for short, _ in words.PAIRS}
    longer = {long for _, long in words.PAIRS}
    real = {"caret", "father", "manet", "samp", "soon", "widow", *shorter, *longer, *words.THINGS}
    found = words.misspellings(word)
    assert len(found) >= 3
    assert not real & set(found)


def test_an_article_suits_every_thing() -> None:
    for seed in range(300):
        for thing in words.THINGS:
            if thing[0] in "aeiou":
                line = texts.line_with(np.random.default_rng(seed), thing)
                assert f" a {thing}" not in f" {line.lower()}"


def test_lines_fit_into_a_window() -> None:
    for seed in range(300):
        rng = np.random.default_rng(seed)
        assert len(texts.line(rng)) <= 60
        line = texts.line_with(rng, "notebook")
        assert "notebook" in line
        assert len(line) <= 60
