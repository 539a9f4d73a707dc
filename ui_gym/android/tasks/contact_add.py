"""Save a contact."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import moves
from ui_gym.android.checks import ShellCheck
from ui_gym.android.content import people, records, scenes
from ui_gym.android.content.people import Person
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.task import AndroidTask
from ui_gym.contract import draws as drawing
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo

GOALS = (
    "Add a contact: {name}, phone {number}.",
    "Save {name} with the number {number} in my contacts.",
    "Create a new contact for {name}. The phone number is {number}.",
)


@dataclass(frozen=True)
class ContactAddParams:
    """All that varies between episodes."""

    person: Person
    others: tuple[Person, ...]
    """Who is saved already."""
    scene: StartScene
    phrasing: int


@register(
    "AndroidContactAdd", suite="android", category="input", difficulty="medium", max_steps=20,
    tags=("people",),
)  # fmt: skip
class AndroidContactAdd(AndroidTask[ContactAddParams]):
    """Save somebody's name and telephone number.

    ## Description
    The goal gives a name and a number. Others are among the contacts, one with the same first
    name.

    ## Rewards
    1 if ``content query --uri content://com.android.contacts/data/phones`` tells the name with the
    number, however that is written.

    ## Starting state
    The home screen or a page of the Settings.
    """

    apps = ("com.android.contacts",)
    mistakes = ("number", "name")

    def sample(self, rng: np.random.Generator) -> ContactAddParams:
        person, *others = people.people(rng, drawing.between(rng, 3, 5))
        return ContactAddParams(
            person, tuple(others), scenes.draw(rng), drawing.between(rng, 0, len(GOALS) - 1)
        )

    def goal(self, params: ContactAddParams) -> str:
        person = params.person
        return GOALS[params.phrasing].format(name=person.name, number=person.number)

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

    def oracle(self, device: AndroidDevice, params: ContactAddParams) -> Iterator[Action | Demo]:
        first, _, last = params.person.name.partition(" ")
        yield from moves.launch(device, "Contacts")
        yield from moves.tap(device, "Create contact")
        yield from moves.fill(device, "First name", first)
        yield from moves.fill(device, "Last name", last)
        yield from moves.fill(device, "Phone", params.person.digits)
        yield from moves.tap(device, "Save", role="button")

    def misread(
        self, params: ContactAddParams, mistake: str, rng: np.random.Generator
    ) -> ContactAddParams:
        """``number``: one digit is wrong. ``name``: another last name."""
        person = params.person
        if mistake == "number":
            wrong = dataclasses.replace(person, digits=people.neighbour(rng, person.digits))
        else:
            first, _, last = person.name.partition(" ")
            wrong = dataclasses.replace(
                person, name=f"{first} {drawing.other(rng, people.LAST, last)}"
            )
        return dataclasses.replace(params, person=wrong)
