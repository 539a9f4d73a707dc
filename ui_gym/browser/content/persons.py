"""Made-up people with all that forms ask of them, and the formats that forms ask it in."""

from __future__ import annotations

import datetime

import numpy as np

from ui_gym.browser.content import phrases, words
from ui_gym.browser.content.directories import STREETS, TOWNS, WAYS
from ui_gym.browser.content.lists import COUNTRIES
from ui_gym.contract.draws import pick

PHONES = {"digits": "{}{}{}", "dashes": "{}-{}-{}", "brackets": "({}) {}-{}", "blanks": "{} {} {}"}
DATES = {"dmy": "%d/%m/%Y", "mdy": "%m/%d/%Y", "iso": "%Y-%m-%d", "dots": "%d.%m.%Y"}
CODES = {"blank": "{} {}", "joined": "{}{}", "dash": "{}-{}"}
"""The formats that a form may demand, by name."""
PHONE_PARTS = ((200, 1000), (200, 1000), (1000, 10000))


def person(rng: np.random.Generator) -> dict[str, str]:
    """Somebody made up; phone number and postcode in parts, the birthday in ISO's format."""
    first, last = pick(rng, words.FIRST_LONG), pick(rng, words.LAST_LONG)
    birth = datetime.date(1950, 1, 1) + datetime.timedelta(days=int(rng.integers(20000)))
    letters = [str(one) for one in rng.choice(list("ABCDEGHKLMNPRSTVWX"), size=4)]
    digits = [str(int(one)) for one in rng.integers(1, 10, size=2)]
    capital, small = (str(word) for word in rng.choice(STREETS, size=2, replace=False))
    return {
        "first": first,
        "last": last,
        "email": f"{first}.{last}@example.org".lower(),
        "password": f"{capital}-{small.lower()}-{rng.integers(10, 100)}",
        "phone": " ".join(str(rng.integers(*span)) for span in PHONE_PARTS),
        "city": pick(rng, TOWNS),
        "postcode": "{}{}{} {}{}{}".format(*letters[:2], digits[0], digits[1], *letters[2:]),
        "birthday": birth.isoformat(),
        "street": f"{rng.integers(2, 98)} {pick(rng, STREETS)} {pick(rng, WAYS)}",
        "country": pick(rng, COUNTRIES),
    }


def written(name: str, value: str, formats: tuple[str, str, str]) -> str:
    """A value as the formats of phone numbers, dates and postcodes have it."""
    phone, date, code = formats
    if name == "phone":
        return PHONES[phone].format(*value.split())
    if name == "postcode":
        return CODES[code].format(*value.split())
    if name == "birthday":
        day = datetime.date.fromisoformat(value)
        return phrases.date(day) if date == "words" else day.strftime(DATES[date])
    return value
