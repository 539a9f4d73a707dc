"""The inbox, whose mails each colleague answers as far as they are its business, or hands on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ui_gym.browser.content.boards import somebody
from ui_gym.browser.content.phrases import listing
from ui_gym.browser.moves import click
from ui_gym.contract.action import Action
from ui_gym.contract.task import Demo
from ui_gym.errors import UserError
from ui_gym.multiagent.document import SharedDocument
from ui_gym.multiagent.task import Round, TeamTask, Windows, numbers

THEMES = 6

ROLES: dict[str, tuple[tuple[str, str], ...]] = {
    "billing": (
        ("Invoice 4471", "The amount on it is higher than what was agreed. Please correct it."),
        ("A question", "Can the payment for March be made in two parts?"),
        ("Reminder", "We were told to pay again what we paid on the third of the month."),
        ("VAT number", "Our tax number has changed. Please print the new one on what you charge."),
        ("Refund", "We were charged twice and would like the second payment back."),
    ),
    "deliveries": (
        ("Where is it?", "The parcel that should have come on Monday has not arrived."),
        ("New address", "From next week on, please send everything to our other gate."),
        ("A question", "Can the truck come after four in the afternoon?"),
        ("Wrong box", "The driver left somebody else's pallet with us. Please collect it."),
        ("Thursday", "Nobody is here on Thursday. Please bring it a day later."),
    ),
    "repairs": (
        ("It is loud", "Since yesterday the machine makes a grinding noise when it starts."),
        ("A question", "The display stays dark although the power is on. What can be done?"),
        ("Broken lid", "The lid of the feeder has a crack. We need a technician."),
        ("Error 17", "The panel shows error 17, and the belt stands still."),
        ("Leak", "Oil drips from below the pump, about a cup a day."),
    ),
    "contracts": (
        ("Our terms", "We would like to add a second site to the agreement."),
        ("End of year", "We want to end the agreement in December and give notice herewith."),
        ("A question", "For how long are we bound if we sign for the larger plan?"),
        ("New owner", "The company has a new owner. Who signs the agreement anew?"),
        ("Draft", "We have changes to clause nine of your draft."),
    ),
}
"""What each role sees to: subjects and texts."""

GOALS = (
    "You are {me} and see to {role}; {others}. Answer the mails of your inbox that are your "
    "business, and hand all others to the one who sees to them.",
    "Clear your inbox, {me}: {role} is yours to answer, and nothing else. {others}. Hand over what "
    "is theirs.",
    "Your job, {me}, is {role}. {others}. Every mail is to be answered by whom it concerns: answer "
    "your own, and pass the rest on to the right colleague.",
)


@dataclass(frozen=True)
class SharedTriageParams:
    """All that varies between episodes."""

    people: tuple[str, ...]
    """Who the agents are."""
    roles: tuple[str, ...]
    """What each sees to."""
    mails: tuple[tuple[str, str, str], ...]
    """Who wrote, the subject, the text."""
    inboxes: tuple[int, ...]
    """In whose inbox each mail is."""
    concerns: tuple[int, ...]
    """Whose business each mail is."""
    theme: int
    phrasing: int


class TriageDocument(SharedDocument):
    """Mails, each open in one inbox, or answered by somebody. A mail that was answered by the wrong
    one stays so. Windows are told at once of what comes in."""

    pushes: ClassVar[bool] = True

    def __init__(self, users: int, inboxes: Sequence[int], concerns: Sequence[int]) -> None:
        super().__init__(users)
        self._concerns = concerns
        self._holders = list(inboxes)
        self._answered = [False] * len(inboxes)
        self._order = list(range(len(inboxes)))
        """The mails by when they came into the inbox that they are in."""

    def snapshot(self, user: int) -> dict[str, Any]:
        mine = [m for m in self._order if self._holders[m] == user]
        return {
            "open": [mail for mail in mine if not self._answered[mail]],
            "answered": sum(self._answered[mail] for mail in mine),
        }

    def edit(self, user: int, kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
        mail = int(data["mail"])
        if self._holders[mail] == user and not self._answered[mail]:
            self.version += 1
            if kind == "answer":
                self._answered[mail] = True
            else:
                self._hand_over(mail, int(data["to"]), user)
        return {"kind": "mails", "document": self.snapshot(user)}

    def _hand_over(self, mail: int, to: int, user: int) -> None:
        if to != self._concerns[mail]:
            self.clash("astray", user, f"mail {mail}")
        self._holders[mail] = to
        self._order.remove(mail)
        self._order.append(mail)

    def cells(self) -> tuple[object, ...]:
        """Who answered each mail; where nobody did, in whose inbox it is."""
        return tuple(
            ("answered" if done else "open", holder)
            for done, holder in zip(self._answered, self._holders, strict=True)
        )

    def vector(self) -> NDArray[np.float32]:
        """Of each mail, in whose inbox it is, and whether it was answered."""
        done = [int(one) for one in self._answered]
        return np.concatenate([numbers(self._holders, self.users - 1), numbers(done, 1)])


class SharedTriage(TeamTask[SharedTriageParams]):
    """Mails are answered or handed on.

    Each agent has an inbox of its own and a role; of the mails in it, some are its business. A mail
    that is handed over is in the other's inbox at the other's next turn.
    """

    name = "shared_inbox_v0"
    page = "inbox.html"
    mistakes = ("astray", "forgot", "keep")

    def __init__(self, *, users: int = 2, mails: int = 3) -> None:
        """`mails` in each inbox."""
        super().__init__(users=users, goal="split")
        if isinstance(mails, bool) or not isinstance(mails, int) or not 1 <= mails <= 4:
            raise UserError(f"{self.name}: mails must be 1 to 4, not {mails!r}")
        self.mails = mails
        self.max_cycles = 8 * mails

    def sample(self, rng: Generator) -> SharedTriageParams:
        roles = [str(role) for role in rng.permutation(list(ROLES))[: self.users]]
        names = somebody(self.users + self.users * self.mails, rng)
        count = self.users * self.mails
        inboxes = [mail % self.users for mail in range(count)]
        concerns = [int(rng.integers(self.users)) for _ in range(count)]
        # The first mail of each inbox is somebody else's, so that nobody can work alone.
        for user in range(self.users):
            concerns[user] = (user + 1 + int(rng.integers(self.users - 1))) % self.users
        decks = [[ROLES[role][int(i)] for i in rng.permutation(len(ROLES[role]))] for role in roles]
        dealt = [0] * self.users
        mails = []
        for mail, concern in enumerate(concerns):
            subject, text = decks[concern][dealt[concern] % len(decks[concern])]
            dealt[concern] += 1
            mails.append((names[self.users + mail], subject, text))
        return SharedTriageParams(
            people=tuple(names[: self.users]),
            roles=tuple(roles),
            mails=tuple(mails),
            inboxes=tuple(inboxes),
            concerns=tuple(concerns),
            theme=int(rng.integers(THEMES)),
            phrasing=int(rng.integers(len(GOALS))),
        )

    def goals(self, params: SharedTriageParams) -> tuple[str, ...]:
        told = []
        for user, (me, role) in enumerate(zip(params.people, params.roles, strict=True)):
            others = listing(
                f"{name} sees to {theirs}"
                for other, (name, theirs) in enumerate(
                    zip(params.people, params.roles, strict=True)
                )
                if other != user
            )
            told.append(GOALS[params.phrasing].format(me=me, role=role, others=others))
        return tuple(told)

    def open(self, params: SharedTriageParams) -> TriageDocument:
        return TriageDocument(self.users, params.inboxes, params.concerns)

    def page_params(self, params: SharedTriageParams, user: int) -> dict[str, Any]:
        return {
            "mails": params.mails,
            "people": params.people,
            "user": user,
            "theme": params.theme,
        }

    def wanted(self, params: SharedTriageParams) -> tuple[object, ...]:
        return tuple(("answered", concern) for concern in params.concerns)

    def state_size(self) -> int:
        return 2 * self.users * self.mails

    def oracle(
        self, windows: Windows, params: SharedTriageParams, mistake: str = ""
    ) -> Iterator[Round]:
        """Each opens the first mail of its inbox, and answers it or hands it over.

        ``keep``: the first answers all mails itself. ``astray``: the first hands a mail to
        somebody whom it does not concern. ``forgot``: the last answers nothing that it was handed.
        """
        strayed = mistake != "astray"
        while True:
            acting: dict[str, Action | Demo] = {}
            for user in range(self.users):
                state = windows.devices[user].state()
                mails = [mail for mail in state["open"] if self._minds(params, user, mail, mistake)]
                if not mails:
                    continue
                mail, device = mails[0], windows.devices[user]
                if state["shown"] != mail:
                    acting[f"u{user}"] = click(device, f"#mail-{mail}")
                    continue
                to = params.concerns[mail]
                if user == 0 and mistake == "keep":
                    to = user
                elif user == 0 and not strayed:
                    wrong = [v for v in range(1, self.users) if v != to]
                    to, strayed = (wrong[0], True) if wrong else (to, False)
                what = "#answer" if to == user else f"#to-{to}"
                thought = f"This concerns {params.roles[params.concerns[mail]]}."
                acting[f"u{user}"] = Demo(click(device, what), thought)
            if not acting:
                return
            yield self.round(**acting)

    def _minds(self, params: SharedTriageParams, user: int, mail: int, mistake: str) -> bool:
        handed = params.inboxes[mail] != user
        return not (mistake == "forgot" and user == self.users - 1 and handed)
