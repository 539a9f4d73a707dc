"""Tasks about files, people, messages, times, notes and pages: what counts as done."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.android.tasks.android_episodes import (
    SEEDS,
    first_pictures,
    made,
    play,
    shell,
)
from ui_gym.android import answers
from ui_gym.android.content import people, web
from ui_gym.android.content.records import contact, incoming
from ui_gym.contract import registry
from ui_gym.playing.env import UIEnv
from ui_gym_phone.serving import serve


@pytest.mark.parametrize("name", ["AndroidMkdir", "AndroidSmsSend", "AndroidEventQuery"])
def test_first_screens_differ_between_episodes(name: str) -> None:
    assert len({picture.tobytes() for picture in first_pictures(name, SEEDS[:8])}) >= 6


def test_what_another_episode_left_does_not_stand_in_the_way() -> None:
    with serve(0, 1) as ports:
        kind = f"adb-direct:127.0.0.1:{ports[0]}"  # such a phone is not made anew for an episode
        for name in ("AndroidEventAdd", "AndroidSmsReply", "AndroidEventQuery", "AndroidSmsReply"):
            with made(name, device=kind) as env:
                assert play(env, 1)["success"]


def test_templates_kept_for_evaluation_are_marked() -> None:
    marked = {
        spec.name
        for spec in registry.specs()
        if spec.suite == "android" and "heldout-template" in spec.tags
    }
    assert marked >= {
        "AndroidCalculator", "AndroidClipboardToSms", "AndroidNoteToSms",
        "AndroidDeleteDuplicateContacts", "AndroidEventDeleteOnDay",
    }  # fmt: skip


# -- what is and what is not as asked --


def judged(env: UIEnv, *lines: str) -> bool:
    """Whether the goal is reached once somebody ran these lines on the phone."""
    for line in lines:
        shell(env, line)
    return bool(env.step("wait(1)")[4]["success"])


def begun(env: UIEnv, seed: int = 0) -> Any:
    """Begin an episode; its params."""
    env.reset(seed=seed)
    return env.task.draw(seed, env.split)


def test_a_file_that_is_copied_is_not_moved() -> None:
    with made("AndroidMoveFile") as env:
        params = begun(env)
        assert not judged(env, f"cp '{params.path}' '/sdcard/{params.value}/'")
        assert judged(env, f"rm '{params.path}'")


def test_another_file_of_the_new_name_is_not_the_renamed_one() -> None:
    with made("AndroidRenameFile") as env:
        params = begun(env)
        new = f"/sdcard/{params.folder}/{params.value}"
        assert not judged(env, f"rm '{params.path}' && echo other > '{new}'")


def test_to_delete_all_files_is_not_to_delete_one() -> None:
    with made("AndroidDeleteFile") as env:
        params = begun(env)
        assert not judged(env, f"rm /sdcard/{params.folder}/*")


def test_a_file_of_the_folders_name_is_no_folder() -> None:
    with made("AndroidMkdir") as env:
        params = begun(env)
        path = f"/sdcard/{params.folder}/{params.name}"
        assert not judged(env, f"touch '{path}'")
        assert judged(env, f"rm '{path}' && mkdir '{path}'")


@pytest.mark.parametrize("written", ["+1{}", "{}", "1-{}"])
def test_a_number_counts_however_it_is_written(written: str) -> None:
    with made("AndroidContactAdd") as env:
        person = begun(env).person
        number = written.format(person.digits)
        assert judged(env, " && ".join(contact(person.name, number)))


def test_both_of_two_entries_deleted_is_one_too_many() -> None:
    with made("AndroidDeleteDuplicateContacts") as env:
        params = begun(env)
        where = f"display_name='{params.twice.name}'"
        delete = "content delete --uri content://com.android.contacts/raw_contacts"
        assert not judged(env, f'{delete} --where "{where}"')


def test_a_message_that_came_in_was_not_sent() -> None:
    with made("AndroidSmsSend") as env:
        params = begun(env)
        assert not judged(env, incoming(params.people[0].number, params.text, 0))


def test_an_address_that_is_only_typed_is_not_opened() -> None:
    with made("AndroidOpenUrl") as env:
        params = begun(env)
        info = env.step('open("Browser")')[4]
        bar = next(e for e in env.device.capture(elements=True).elements if e.role == "textbox")
        x, y = bar.center
        info = env.step(f'click({x}, {y}); type("{params.url}", clear=True)')[4]
        assert not info["success"]
        assert env.step('press("enter")')[4]["success"]


def test_an_alarm_that_is_off_is_not_set() -> None:
    with made("AndroidAlarmAdd") as env:
        hour, minute, label = begun(env).alarm
        database = "/data/user_de/0/com.google.android.deskclock/databases/alarms.db"
        columns = "(hour, minutes, daysofweek, enabled, vibrate, label)"
        insert = (
            f"INSERT INTO alarm_templates {columns} VALUES ({hour}, {minute}, 0, 0, 1, '{label}')"
        )
        assert not judged(env, f'su 0 sqlite3 {database} "{insert}"')
        assert judged(env, f'su 0 sqlite3 {database} "UPDATE alarm_templates SET enabled=1"')


def test_events_of_other_days_must_stay() -> None:
    with made("AndroidEventDeleteOnDay") as env:
        begun(env)
        delete = "content delete --uri content://com.android.calendar/events --where"
        assert not judged(env, f'{delete} "_id > 0"')


def answer(name: str, seed: int, text: str) -> float:
    """The score of an answer."""
    with made(name) as env:
        env.reset(seed=seed)
        return float(env.step(f"answer({text!r})")[4]["score"])


def test_answers_are_read_leniently_in_form_and_strictly_in_value() -> None:
    task = registry.spec("AndroidCalculator").load()()
    seed = next(s for s in range(50) if task.draw(s, "train").result > 1000)
    result = task.draw(seed, "train").result
    assert answer("AndroidCalculator", seed, f"It is {result:,}.") == 1
    assert answer("AndroidCalculator", seed, f"{task.draw(seed, 'train').sum} = {result}") == 1
    assert answer("AndroidCalculator", seed, str(result + 1)) == 0
    assert answer("AndroidCalculator", seed, f"{result} or {result + 1}") == 0


@pytest.mark.parametrize("kind", ["title", "time", "place"])
def test_questions_about_events_want_one_answer(kind: str) -> None:
    task = registry.spec("AndroidEventQuery").load()()
    seed = next(s for s in range(99) if task.kinds[task.draw(s, "train").phrasing] == kind)
    params = task.draw(seed, "train")
    event = params.asked
    other = next(e for e in params.events if e != event and e.start != event.start)
    hour, minute = divmod(event.start, 60)
    half = f"{(hour - 1) % 12 + 1}:{minute:02} {'am' if hour < 12 else 'pm'}"
    right = {"title": event.title.upper(), "time": half, "place": f"At {event.place}."}[kind]
    also = {"title": other.title, "time": f"{other.start // 60}:{other.start % 60:02}",
            "place": other.place}[kind]  # fmt: skip
    assert answer("AndroidEventQuery", seed, right) == 1
    assert answer("AndroidEventQuery", seed, f"{right} {also}") == 0
    assert answer("AndroidEventQuery", seed, also) == 0


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("at 14:30", [(14, 30)]), ("2:30 pm", [(14, 30)]), ("12 am", [(0, 0)]),
        ("2 p.m.", [(14, 0)]), ("09.15", [(9, 15)]), ("2 apples", []), ("25:00", []),
        ("9:15 to 10:00", [(9, 15), (10, 0)]),
    ],
)  # fmt: skip
def test_times_are_read_in_all_usual_forms(text: str, wanted: list[tuple[int, int]]) -> None:
    assert answers.times(text) == wanted


def test_names_are_read_as_whole_words() -> None:
    assert answers.names("It's the book-club!", "Book club")
    assert not answers.names("the notebook club", "Book club")


# -- what tasks draw from --


def test_people_have_names_and_numbers_of_their_own() -> None:
    for seed in range(50):
        drawn = people.people(np.random.default_rng(seed), 5)
        assert len({p.name for p in drawn}) == len({p.digits for p in drawn}) == 5
        assert drawn[0].name.split()[0] == drawn[1].name.split()[0]
        for person in drawn:
            assert people.digits_of(f"+1 {person.number}") == person.digits
            assert 100 <= int(person.digits[6:]) < 200
            wrong = people.neighbour(np.random.default_rng(seed), person.digits)
            assert wrong != person.digits
            assert len(wrong) == 10


def test_every_download_can_be_reached_by_links() -> None:
    assert len({offer.file for offer in web.web_files()}) >= 10
    assert len({offer.host for offer in web.web_files()}) >= 4
