"""Documents to work on: sections of plain, believable prose with drawn details."""

# ruff: noqa: E501  (a paragraph a line reads best)

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ui_gym.browser.content.mailtexts import CITIES, DAYS, ROOMS

DOCUMENTS: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...] = (
    ("Guest handbook", (
        ("Arrival", (
            "The front desk is open from {time} until midnight. If you arrive later, please call the night porter, who will let you in through the side entrance.",
            "Your key card opens the garage as well. Please park between the yellow lines and leave the spaces near the lift to guests with heavy luggage.")),
        ("Breakfast", (
            "Breakfast is served in the winter garden, on {day} until noon. Tell the kitchen the evening before if you would like something warm.",
            "You are welcome to take fruit to your room. Coffee and tea are free all day long in the library on floor {k}.")),
        ("Quiet hours", (
            "Please keep your voices low after ten in the evening. The walls of {room} are thin, and many of our guests leave before sunrise.",
            "If the music from the bar disturbs you, the front desk will gladly move you to another room at no extra cost.")),
        ("Laundry", (
            "Leave your laundry bag outside the door before {time}, and it comes back the next morning. Shirts are ironed at no extra cost.",
            "There is also a machine in the cellar. It takes {k} coins, which you can buy from the night porter.")),
        ("Excursions", (
            "The old ferry to {city} leaves every second hour. Return tickets are sold at the front desk, and children travel for free.",
            "On {day} our gardener leads a walk along the river. Bring good shoes, a warm jacket and some patience with the dog.")),
        ("Departure", (
            "Please leave your room by {time} on the last day. Your luggage can stay behind the front desk until the evening.",
            "The bill can be paid in cash or by card. If anything was not as it should be, tell the manager, who reads every letter.")))),
    ("Project report {n}", (
        ("Summary", (
            "The first phase is complete and within its budget. The pilot in {city} ran for {k} weeks and met all but one of its targets.",
            "The steering group will decide on {day} whether the second phase may begin before the end of the quarter.")),
        ("Schedule", (
            "Two deliveries came late because of the harbour strike. We have moved the final test by {k} days and see no further risk.",
            "The training of the new staff starts at {time} in {room} and is repeated every week until the second phase.")),
        ("Costs", (
            "We have spent {n} of the approved amount so far. Travel was cheaper than planned, while the new sensors cost more than expected.",
            "The supplier has offered a discount for the second phase. It must be accepted before the steering group meets.")),
        ("Risks", (
            "The only supplier of the new sensors is a small firm in {city}. A second source would take about {k} months to approve.",
            "Staff are hard to find at the moment. Two positions in {room} have been open since the beginning of the year.")),
        ("Results", (
            "Waiting times have fallen by {k} percent since the pilot. The customers who answered our survey praise the clear screens.",
            "The remaining target concerns the cold store, where the new sensors fail below the freezing point.")),
        ("Next steps", (
            "The final test takes place on {day} under the eyes of an external auditor. Her report will be part of the archive.",
            "After that, the project team will hand over to daily operations and close the office in {room}.")))),
    ("Workshop manual", (
        ("Before you start", (
            "Read this manual to the end and keep it near the machine. Wear safety glasses, ear protection and closed shoes at all times.",
            "Check the main switch and the emergency stop every morning. If one of them fails, call the foreman in {room}.")),
        ("Setting up", (
            "Place the machine on level ground, at least {k} feet away from the wall. Tighten the four bolts crosswise and fit the plastic cover.",
            "Connect the dust hose before you turn on the main switch. A loose hose is the most common cause of a blocked filter.")),
        ("Cutting", (
            "Hold the board with both hands and feed it slowly. Never reach behind the blade while the red lamp is on.",
            "Use the push stick for narrow pieces. The fence has {k} positions, and each of them must click into place.")),
        ("Cleaning", (
            "Turn off the main switch and wait until the blade stands still. Then lift the plastic cover and brush out the dust.",
            "Empty the bag every {day}. Wash the filter with warm water only, and let it dry until {time}.")),
        ("Spare parts", (
            "Order spare parts by their number, which is stamped on the back. The blade has the number {n}.",
            "Parts are sent from our store in {city} and usually arrive within {k} days. Worn belts are not covered by the warranty.")),
        ("Troubleshooting", (
            "If the motor hums but does not turn, the belt is too tight. Loosen the left screw by half a turn and try again.",
            "If the red lamp flashes, the blade is worn or the plastic cover is open. Close it firmly until it clicks.")))),
    ("Town newsletter", (
        ("Market", (
            "The weekly market moves to the old harbour on {day}. Stalls open at {time}, and the first hundred visitors get a cotton bag.",
            "Growers from {city} will bring cheese, honey and early potatoes. The town council asks everybody to come on foot.")),
        ("Library", (
            "The town library now lends {n} board games and a telescope. Members may keep them for {k} weeks.",
            "A reading group meets in {room} every month. The next book is a slim novel about a lighthouse keeper.")),
        ("Roadworks", (
            "Mill Street is closed until further notice. The bus to {city} stops at the old harbour instead, and runs every half hour.",
            "The town council expects the work to take {k} weeks. Residents can park behind the swimming pool free of charge.")),
        ("Sports", (
            "The swimming pool reopens on {day} with new lockers and a warmer basin for children. Season tickets stay at last year's price.",
            "Our rowing club took second place in {city}. Training for beginners starts at {time}, and boats are free of charge.")),
        ("Concerts", (
            "The brass band plays in front of the town library on {day}. If it rains, the concert moves to {room}.",
            "Tickets for the organ recital are almost sold out. A few seats are kept for those who come on foot.")),
        ("Notices", (
            "Please do not feed the swans near the old harbour. The fine has been raised to {k} coins, and wardens will collect it.",
            "The lost property office has {n} umbrellas. They will be sold at the market if nobody asks for them.")))),
    ("Recipe collection", (
        ("Onion soup", (
            "Slice {k} large onions and let them brown slowly in butter. Add a glass of white wine and cook it down to half.",
            "Pour in the hot stock and let the soup simmer on low heat. Serve it with toasted bread and plenty of grated cheese.")),
        ("Potato bread", (
            "Boil the potatoes in their skins, peel them and mash them while they are hot. Knead them with flour, yeast and a pinch of salt.",
            "Let the dough rest under a damp cloth until it has doubled. Bake it on low heat for the first {k} minutes.")),
        ("Lentil salad", (
            "Cook the lentils without salt, or their skins stay hard. Drain them and mix them with mustard while they are hot.",
            "Fold in chopped parsley and a pinch of salt. The salad tastes best on the next day, served with toasted bread.")),
        ("Baked apples", (
            "Core {k} firm apples and fill them with raisins, walnuts and brown sugar. Set them close together in a deep dish.",
            "Pour a glass of white wine around them and bake until the skins burst. Serve them with cold vanilla cream.")),
        ("Fish pie", (
            "Poach the fish in milk with a bay leaf. Make a smooth sauce from butter, flour and the hot milk.",
            "Cover the dish with mashed potatoes and grated cheese. Bake it until {time} if your guests come on {day}.")),
        ("Plum jam", (
            "Wash the plums under cold water and take out the stones. Weigh {k} pounds of fruit and half as much brown sugar.",
            "Stir all of it on low heat until a drop sets on a cold plate. Fill the jam into clean glasses at once.")))),
)  # fmt: skip
"""(title, sections): each section has a heading and paragraphs, with slots as mails have."""

Place = tuple[int, int, int]
"""A block of text, and where something begins and ends in it."""


@dataclass(frozen=True)
class DocumentSection:
    """A heading and what stands below it."""

    heading: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Document:
    """A title and sections."""

    title: str
    sections: tuple[DocumentSection, ...]


def draw_document(rng: np.random.Generator, sections: int) -> Document:
    """A document of so many sections, 1 to 6."""
    title, parts = DOCUMENTS[int(rng.integers(len(DOCUMENTS)))]
    picked = rng.choice(len(parts), size=sections, replace=False)

    def fill(text: str) -> str:
        return text.format(
            day=str(rng.choice(DAYS)),
            time=f"{rng.integers(7, 19):02}:{rng.choice((0, 15, 30, 45)):02}",
            room=str(rng.choice(ROOMS)),
            city=str(rng.choice(CITIES)),
            n=int(rng.integers(1000, 10000)),
            k=int(rng.integers(2, 10)),
        )

    chosen = tuple(
        DocumentSection(parts[int(i)][0], tuple(fill(text) for text in parts[int(i)][1]))
        for i in picked
    )
    return Document(fill(title), chosen)


def phrases_of(text: str, words: int) -> list[tuple[int, int]]:
    """Where runs of so many words stand in a text, without a sign between or right beside them
    that would make their edges doubtful."""
    found = [match.span() for match in re.finditer(r"(?<![^ ])[A-Za-z0-9]+(?![^ .,;!?])", text)]
    runs = [found[i : i + words] for i in range(len(found) - words + 1)]
    return [
        (run[0][0], run[-1][1])
        for run in runs
        if all(one[1] + 1 == other[0] for one, other in pairwise(run))
        and all(text[one[1]] == " " for one in run[:-1])
    ]


def occurrences(text: str, phrase: str) -> int:
    """How often a phrase stands in a text, in whatever case."""
    return text.lower().count(phrase.lower())


def places_of(texts: Sequence[str], phrase: str) -> list[Place]:
    """Where a phrase stands in blocks of text, with nothing doubtful about its edges."""
    return [
        (block, start, end)
        for block, text in enumerate(texts)
        if phrase in text
        for start, end in phrases_of(text, phrase.count(" ") + 1)
        if text[start:end] == phrase
    ]
