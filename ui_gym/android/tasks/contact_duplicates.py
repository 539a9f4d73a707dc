"""Delete a contact that is there twice."""

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
    "Someone is saved twice in my contacts, with the same number. Delete one of the two.",
    "{name} is in my contacts twice. Delete one of them and keep the other.",
    "Clean up my contacts: delete the duplicate entry, so that everybody is there just once.",
    "There are two entries for {name} in Contacts. Please remove one of them.",
)


@dataclass(frozen=True)
class DuplicateParams:
    """All that varies between episodes."""

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

    def sample(self, rng: np.random.Generator) -> DuplicateParams:
        known = people.people(rng, drawing.between(rng, 3, 5))
        return DuplicateParams(
            people=drawing.some(rng, known, len(known)),
            twice=known[0],
            scene=scenes.draw(rng),
            phrasing=drawing.between(rng, 0, len(GOALS) - 1),
        )

    def goal(self, params: DuplicateParams) -> str:
        return GOALS[params.phrasing].format(name=params.twice.name)

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

    def oracle(self, device: AndroidDevice, params: DuplicateParams) -> Iterator[Action | Demo]:
        yield from moves.launch(device, "Contacts")
        yield from moves.tap(device, params.twice.name)
        yield from moves.tap(device, "More options")
        yield from moves.tap(device, "Delete")
        yield from moves.tap(device, "Delete", role="button")

    def misread(
        self, params: DuplicateParams, mistake: str, rng: np.random.Generator
    ) -> DuplicateParams:
        """``other``: somebody else is deleted."""
        other = drawing.other(rng, params.people, params.twice)
        return dataclasses.replace(params, twice=other)
