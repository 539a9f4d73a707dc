"""The catalogue: the apps that the store has, and what it says of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from ui_gym_phone.state.packages import MB, Package


@dataclass(frozen=True)
class Offer:
    """What the store says of an app. `rating` is of 5 stars."""

    package: str
    maker: str
    category: str
    rating: str
    about: str


OFFERS = (
    Offer("com.example.skycast", "Nimbus Labs", "Weather", "4.4",
          "Forecasts by the hour, with radar and alerts."),
    Offer("com.example.stride", "Fleetfoot", "Health & fitness", "4.6",
          "Counts steps, and records runs with a map."),
    Offer("com.example.tunebox", "Treble Co.", "Music & audio", "4.2",
          "Plays your music, online and off."),
    Offer("com.example.pocketbank", "Harbour Bank", "Finance", "4.1",
          "Your accounts, cards and transfers."),
    Offer("com.example.recipes", "Tasty Basket", "Food & drink", "4.7",
          "Recipes with a shopping list."),
    Offer("com.example.chatterly", "Chatterly Inc.", "Communication", "4.0",
          "Messages and calls with friends."),
    Offer("com.example.transit", "Linden Transport", "Maps & navigation", "4.3",
          "Timetables and tickets for trams and buses."),
    Offer("com.example.chess", "Sixty-Four", "Board game", "4.8",
          "Chess against the phone, or against a friend."),
    Offer("com.example.podium", "Podium Audio", "Music & audio", "4.5",
          "Podcasts, sorted and without noise."),
    Offer("com.example.shoply", "Shoply Ltd", "Shopping", "3.9",
          "All shops of the town in one place."),
    Offer("com.example.lingua", "Polyglot House", "Education", "4.6",
          "Ten words of another language every day."),
    Offer("com.example.budgeteer", "Plain Sums", "Finance", "4.4",
          "Keeps track of what you spend."),
    Offer("com.example.sudoku", "Sixty-Four", "Puzzle", "4.7",
          "Numbers in squares, from easy to fiendish."),
    Offer("com.example.birdsong", "Field Notes", "Education", "4.8",
          "Tells birds apart by their song."),
    Offer("com.example.taskly", "Plain Sums", "Productivity", "4.2",
          "Lists of what is to be done."),
    Offer("com.example.roamer", "Trailhub", "Travel & local", "4.1",
          "Maps that work without a network."),
)  # fmt: skip


def _more(name: str, label: str, icon: str, colour: str, size: float, *granted: str) -> Package:
    return Package(
        name, label, icon=icon, colour=colour, system=False, version="3.1.0",
        activities=(".MainActivity",), app_size=round(size * MB), data_size=0, cache_size=0,
        permissions=dict.fromkeys(("POST_NOTIFICATIONS", *granted), False),
    )  # fmt: skip


@cache
def catalogue() -> dict[str, Package]:
    """Every app that can be installed, by its package, as it is when it is new."""
    from ui_gym_phone.factory import third_party  # which imports the apps itself

    fresh = [
        replace(p, data_size=0, cache_size=0, permissions=dict.fromkeys(p.permissions, False))
        for p in third_party()
    ]
    more = [
        _more("com.example.lingua", "Lingua", "translate", "#ef6c00", 44, "RECORD_AUDIO"),
        _more("com.example.budgeteer", "Budgeteer", "cash", "#2e7d32", 18),
        _more("com.example.sudoku", "Sudoku", "grid", "#455a64", 12),
        _more("com.example.birdsong", "Birdsong", "leaf", "#558b2f", 96, "RECORD_AUDIO"),
        _more("com.example.taskly", "Taskly", "check-circle", "#5e35b1", 21),
        _more("com.example.roamer", "Roamer", "compass", "#00838f", 83, "ACCESS_FINE_LOCATION"),
    ]
    return {package.name: package for package in [*fresh, *more]}


def offer_of(name: str) -> Offer:
    """What the store says of a package, which it may never have heard of."""
    none = Offer(name, "Unknown developer", "App", "0.0", "This app is not from the store.")
    return next((offer for offer in OFFERS if offer.package == name), none)
