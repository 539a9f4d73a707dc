"""Contacts: saving one, deleting one that is there twice."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from ui_gym.android import moves
from ui_gym.android.checks import ShellCheck
from ui_gym.android.compact import CompactTask
from ui_gym.android.content import people, records, scenes, texts
from ui_gym.android.content.people import Person
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.facts import EXCESSES
from ui_gym.android.task import AndroidTask, Steps
from ui_gym.contract.draws import Rng, between, other, some
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register


@dataclass(frozen=True)
class ContactAddParams:
    person: Person
    others: tuple[Person, ...]
    """Who is saved already."""
    scene: StartScene
    phrasing: int


@register(
    "AndroidContactAdd", suite="android", category="input", difficulty="medium", max_steps=20,
    tags=("people",),
)  # fmt: skip
class AndroidContactAdd(CompactTask[ContactAddParams]):
    """Save somebody's name and telephone number.

    ## Description
    The goal gives a name and a number. Others are among the contacts, one with the same first
    name.

    ## Rewards
    1 if ``content query --uri content://com.android.contacts/data/phones`` tells the name with the
    number, however that is written.

    ## Starting state
    The home screen or a page of the Settings.

    ## Arguments
    | `compact` | False | a screen of 256x320 pixels |
    """

    apps = ("com.android.contacts",)
    mistakes = ("number", "name")
    compact_steps = 12
    excesses = (*EXCESSES, "twice")
    goals = texts.goals("AndroidContactAdd")

    def sample(self, rng: Rng) -> ContactAddParams:
        person, *others = self.people(rng, 3 if self.compact else between(rng, 3, 5))
        return ContactAddParams(
            person, tuple(others), self.scene(rng), between(rng, 0, len(self.goals) - 1)
        )

    def goal(self, params: ContactAddParams) -> str:
        person = params.person
        return self.goals[params.phrasing].format(name=person.name, number=person.number)

    def prepare(self, params: ContactAddParams) -> Sequence[str]:
        lines = records.forget(p.name for p in (params.person, *params.others))
        for person in params.others:
            lines += records.contact(person.name, person.number)
        return [*lines, *params.scene.lines()]

    def checks(self, params: ContactAddParams) -> Sequence[ShellCheck]:
        person = params.person

        def saved(result: ShellResult) -> bool:
            return any(
                " ".join(name.split()) == person.name and people.digits_of(number) == person.digits
                for name, number in records.pairs(result, "display_name", "data1")
            )

        return [ShellCheck("contact", records.PHONES, saved)]

    def twice(self, params: ContactAddParams) -> Sequence[str]:
        person = params.person
        return 2 * records.contact(person.name, person.number, apart=True)

    def may_change(self, params: ContactAddParams) -> Sequence[AllowedChange]:
        return [AllowedChange("contact *", gone=0, new=1)]

    def oracle(self, device: AndroidDevice, params: ContactAddParams) -> Steps:
        first, _, last = params.person.name.partition(" ")
        yield from moves.launch(device, "Contacts")
        yield from moves.tap(device, "Create contact")
        yield from moves.fill(device, "First name", first)
        yield from moves.fill(device, "Last name", last)
        yield from moves.fill(device, "Phone", params.person.digits)
        yield from moves.tap(device, "Save", role="button")

    def misread(self, params: ContactAddParams, mistake: str, rng: Rng) -> ContactAddParams:
        """``number``: one digit is wrong. ``name``: another last name."""
        person = params.person
        if mistake == "number":
            wrong = dataclasses.replace(person, digits=people.neighbour(rng, person.digits))
        else:
            first, _, last = person.name.partition(" ")
            lasts = people.LAST_SHORT if self.compact else people.LAST
            wrong = dataclasses.replace(person, name=f"{first} {other(rng, lasts, last)}")
        return dataclasses.replace(params, person=wrong)


@dataclass(frozen=True)
class DuplicateParams:
    people: tuple[Person, ...]
    """Everybody who is saved."""
    twice: Person
    """Who is saved twice."""
    scene: StartScene
    phrasing: int


@register(
    "AndroidDeleteDuplicateContacts", suite="android", category="input", difficulty="medium",
    max_steps=20, tags=("people", "heldout-template"),
)  # fmt: skip
class AndroidDeleteDuplicateContacts(AndroidTask[DuplicateParams]):
    """Find who is saved twice, and delete one of the two entries.

    ## Description
    Of some contacts one is there twice, with the same name and number; another has the same first
    name. The goal may say who it is.

    ## Rewards
    1 if ``content query --uri content://com.android.contacts/data/phones`` tells everybody just
    once.

    ## Starting state
    The home screen or a page of the Settings.
    """

    apps = ("com.android.contacts",)
    mistakes = ("other",)
    goals = texts.goals("AndroidDeleteDuplicateContacts")

    def sample(self, rng: Rng) -> DuplicateParams:
        known = people.people(rng, between(rng, 3, 5))
        return DuplicateParams(
            people=some(rng, known, len(known)),
            twice=known[0],
            scene=scenes.draw(rng),
            phrasing=between(rng, 0, len(self.goals) - 1),
        )

    def goal(self, params: DuplicateParams) -> str:
        return self.goals[params.phrasing].format(name=params.twice.name)

    def prepare(self, params: DuplicateParams) -> Sequence[str]:
        lines = records.forget(person.name for person in params.people)
        for person in (*params.people, params.twice):
            lines += records.contact(person.name, person.number, apart=True)
        return [*lines, *params.scene.lines()]

    def checks(self, params: DuplicateParams) -> Sequence[ShellCheck]:
        wanted = sorted((person.name, person.digits) for person in params.people)

        def once(result: ShellResult) -> bool:
            told = records.pairs(result, "display_name", "data1")
            found = sorted((name, people.digits_of(number)) for name, number in told)
            return [row for row in found if row in wanted] == wanted

        return [ShellCheck("everybody once", records.PHONES, once)]

    def may_change(self, params: DuplicateParams) -> Sequence[AllowedChange]:
        return [AllowedChange(f"contact {params.twice.name}", gone=1, new=0)]

    def oracle(self, device: AndroidDevice, params: DuplicateParams) -> Steps:
        yield from moves.launch(device, "Contacts")
        yield from moves.tap(device, params.twice.name)
        yield from moves.tap(device, "More options")
        yield from moves.tap(device, "Delete")
        yield from moves.tap(device, "Delete", role="button")

    def misread(self, params: DuplicateParams, mistake: str, rng: Rng) -> DuplicateParams:
        """``other``: somebody else is deleted."""
        return dataclasses.replace(params, twice=other(rng, params.people, params.twice))
