"""Requests that are made step by step: what is asked, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from ui_gym.browser.content import words

Kind = Literal["cards", "list", "text", "tick"]


class Question(NamedTuple):
    key: str
    label: str
    kind: Kind
    options: Mapping[str, str] = {}
    """What the page offers, with the goal's words for it."""
    say: str = ""
    """The goal's sentence about the answer; without one, the question is left as it is."""
    draw: str = ""
    """The kind of text that is asked for (`TEXTS`)."""
    when: Mapping[str, tuple[str, ...]] = {}
    """The earlier answers with which this is asked."""
    detail: int = 1
    """From which detail on this is asked."""

    @property
    def optional(self) -> bool:
        return self.kind == "tick" or not self.say

    def answer(self, rng: np.random.Generator) -> str:
        """One that may be given; where the goal says nothing, what the page begins with."""
        if not self.say:
            return "no" if self.kind == "tick" else ""
        if self.kind == "text":
            return TEXTS[self.draw](rng)
        return str(rng.choice(("no", "yes") if self.kind == "tick" else tuple(self.options)))


class FlowPage(NamedTuple):
    title: str
    questions: tuple[Question, ...]


class Flow(NamedTuple):
    app: str
    icon: str
    title: str
    intros: tuple[str, str, str]
    pages: tuple[FlowPage, ...]

    def asked(self, detail: int, answers: Mapping[str, str]) -> Iterator[Question]:
        """The questions that are asked, where `answers` may still grow while they are."""
        for page in self.pages:
            for question in page.questions:
                met = all(answers.get(key) in values for key, values in question.when.items())
                if met and question.detail <= detail:
                    yield question


def _mail(rng: np.random.Generator) -> str:
    return f"{rng.choice(words.FIRST_LONG)}.{rng.choice(words.LAST_LONG)}@example.org".lower()


TOWNS = ("Aldbury", "Brackley", "Calverton", "Dunmore", "Elmstead", "Farnworth", "Glenrock",
         "Hollins", "Kirkwell", "Marston")  # fmt: skip
TEXTS: dict[str, Callable[[np.random.Generator], str]] = {
    "name": lambda rng: f"{rng.choice(words.FIRST_LONG)} {rng.choice(words.LAST_LONG)}",
    "mail": _mail,
    "phone": lambda rng: f"555 01{int(rng.integers(10, 100))}",
    "year": lambda rng: str(int(rng.integers(1998, 2026))),
    "price": lambda rng: str(int(rng.integers(12, 96)) * 25),
    "order": lambda rng: f"K{int(rng.integers(10, 99))}-{int(rng.integers(10000, 99999))}",
    "serial": lambda rng: f"SN{int(rng.integers(100, 999))}-{int(rng.integers(1000, 9999))}",
    "boxes": lambda rng: str(int(rng.integers(4, 30)) * 5),
    "town": lambda rng: str(rng.choice(TOWNS)),
}  # fmt: skip


def _same(*labels: str) -> dict[str, str]:
    """Options that the goal names as the page does, but small."""
    return {label: f"{label[0].lower()}{label[1:]}" for label in labels}


MOTOR = ("Car", "Motorbike", "Camper")

INSURANCE = Flow(
    "Tidewater", "shield", "Insurance quote",
    ("Fill in the request for an insurance quote and submit it.",
     "Ask for an insurance quote with these details and submit the request.",
     "Complete the insurance request step by step and submit it."),
    (FlowPage("Vehicle", (
        Question("vehicle", "What would you like to insure?", "cards",
                 _same("Car", "Motorbike", "Bicycle", "Camper"), "I want to insure my {}."),
        Question("fuel", "What does it run on?", "list",
                 {"Petrol": "runs on petrol", "Diesel": "runs on diesel", "Electric": "is electric",
                  "Hybrid": "is a hybrid"}, "It {}.", when={"vehicle": ("Car", "Camper")}),
        Question("engine", "How large is the engine?", "list",
                 {"Up to 125 cc": "110 cc", "126 to 500 cc": "350 cc", "Over 500 cc": "900 cc"},
                 "Its engine has {}.", when={"vehicle": ("Motorbike",)}),
        Question("bike", "What kind of bicycle is it?", "list",
                 {"City bike": "a city bike", "Racing bike": "a racing bike",
                  "Electric bike": "an electric bike", "Cargo bike": "a cargo bike"},
                 "It is {}.", when={"vehicle": ("Bicycle",)}))),
     FlowPage("Details", (
         Question("year", "Year of first registration", "text", {},
                  "It was first registered in {}.", "year", {"vehicle": MOTOR}, 2),
         Question("price", "Price in dollars", "text", {}, "It cost {} dollars.", "price",
                  {"vehicle": ("Bicycle",)}, 2),
         Question("parking", "Where is it at night?", "list",
                  {"Garage": "in a garage", "Car port": "under a car port",
                   "Street": "on the street"},
                  "At night it is {}.", when={"vehicle": ("Car", "Camper")}, detail=2),
         Question("miles", "Miles a year", "list",
                  {"Up to 5,000": "3,000", "5,001 to 10,000": "8,000", "Over 10,000": "15,000"},
                  "I drive about {} miles a year.", when={"vehicle": MOTOR}, detail=3),
         Question("lock", "How is it locked?", "list", _same("Chain", "U-lock", "Folding lock"),
                  "I lock it with a {}.", when={"vehicle": ("Bicycle",)}, detail=3))),
     FlowPage("Cover", (
         Question("cover", "Which cover do you need?", "cards",
                  {"Liability": "liability cover only", "Partial": "partial cover",
                   "Full": "full cover"}, "I need {}."),
         Question("excess", "Excess", "list", {"$150": "$150", "$300": "$300", "$500": "$500"},
                  "The excess should be {}.", when={"cover": ("Partial", "Full")}, detail=2),
         Question("driver", "Who drives?", "list",
                  {"Only me": "Only I drive it", "My family": "My family drives it as well",
                   "Anyone": "Anyone may drive it"},
                  "{}.", when={"cover": ("Full",), "vehicle": MOTOR}, detail=3),
         Question("help", "Add roadside help", "tick", {}, "Add roadside help.",
                  when={"vehicle": MOTOR}, detail=2))),
     FlowPage("Payment", (
         Question("pay", "How often would you like to pay?", "cards",
                  {"Monthly": "every month", "Quarterly": "every three months",
                   "Yearly": "once a year"}, "I will pay {}."),
         Question("method", "Way of payment", "list",
                  {"Bank transfer": "by bank transfer", "Card": "with my card",
                   "Invoice": "by invoice"}, "I pay {}.", detail=3))),
     FlowPage("About you", (
         Question("name", "Full name", "text", {}, "My name is {}.", "name"),
         Question("mail", "E-mail", "text", {}, "My e-mail address is {}.", "mail", {}, 2),
         Question("offers", "Send me offers of partners", "tick", detail=2)))),
)  # fmt: skip

SUPPORT = Flow(
    "Keystone Devices", "help", "Support request",
    ("Write a support request with the following details and submit it.",
     "Report this problem to the support and submit the request.",
     "Fill in the support request step by step and submit it."),
    (FlowPage("Product", (
        Question("product", "What is it about?", "cards", _same("Phone", "Laptop", "Printer"),
                 "I have a problem with my {}."),
        Question("phone", "What is wrong with the phone?", "list",
                 {"Broken glass": "The screen is cracked", "Battery": "It runs empty by noon",
                  "Camera": "All pictures are blurred", "No signal": "It finds no network"},
                 "{}.", when={"product": ("Phone",)}),
        Question("laptop", "What is wrong with the laptop?", "list",
                 {"Keyboard": "Some keys do not work", "Overheating": "It gets much too hot",
                  "Charging": "It does not charge any more", "Display": "The picture flickers"},
                 "{}.", when={"product": ("Laptop",)}),
        Question("printer", "What is wrong with the printer?", "list",
                 {"Paper jam": "The paper gets stuck", "Print quality": "All prints have stripes",
                  "Connection": "My computer cannot find it", "Noise": "It squeaks loudly"},
                 "{}.", when={"product": ("Printer",)}))),
     FlowPage("Purchase", (
         Question("bought", "Where did you buy it?", "cards",
                  {"Online": "in your online shop", "In a store": "in one of your stores"},
                  "I bought it {}.", detail=2),
         Question("order", "Order number", "text", {}, "The order number is {}.", "order",
                  {"bought": ("Online",)}, 2),
         Question("store", "Which store?", "list",
                  {name: name for name in ("Harbour Street", "Market Square", "Mill Road")},
                  "It was the store in {}.", when={"bought": ("In a store",)}, detail=2),
         Question("serial", "Serial number", "text", {}, "Its serial number is {}.", "serial",
                  {}, 3))),
     FlowPage("Solution", (
         Question("wish", "What should we do?", "cards",
                  {"Repair": "have it repaired", "Replacement": "get another one instead",
                   "Refund": "get my money back"}, "I would like to {}."),
         Question("way", "How do we get it?", "list",
                  {"Courier": "A courier should collect it",
                   "Drop-off": "I will bring it to a store",
                   "Home visit": "A technician should come to my home"},
                  "{}.", when={"wish": ("Repair",)}, detail=2),
         Question("colour", "Colour of the new one", "list", _same("Black", "Silver", "Blue"),
                  "The new one should be {}.", when={"wish": ("Replacement",)}, detail=2),
         Question("refund", "How do we pay it back?", "list",
                  {"Card": "to my card", "Bank account": "to my bank account",
                   "Voucher": "as a voucher"},
                  "Pay it back {}.", when={"wish": ("Refund",)}, detail=2),
         Question("copy", "Make a copy of my data first", "tick", {},
                  "Make a copy of my data first.",
                  when={"wish": ("Repair",), "product": ("Phone", "Laptop")}, detail=3))),
     FlowPage("Contact", (
         Question("contact", "How do we reach you?", "cards",
                  {"Phone": "call me", "E-mail": "send me an e-mail"}, "Please {} about it."),
         Question("number", "Phone number", "text", {}, "My number is {}.", "phone",
                  {"contact": ("Phone",)}),
         Question("time", "Best time to call", "list",
                  {"Morning": "in the morning", "Afternoon": "in the afternoon",
                   "Evening": "in the evening"},
                  "I am free {}.", when={"contact": ("Phone",)}, detail=3),
         Question("mail", "E-mail address", "text", {}, "My address is {}.", "mail",
                  {"contact": ("E-mail",)}),
         Question("urgency", "How urgent is it?", "list",
                  {"It can wait": "It can wait", "Within a week": "I need it within a week",
                   "At once": "I need it at once"}, "{}."),
         Question("survey", "I take part in a survey afterwards", "tick", detail=2)))),
)  # fmt: skip

MOVE = Flow(
    "Carry & Co", "truck", "Quote for your move",
    ("Ask for a quote for our move and submit the request.",
     "Fill in the request for a quote with the details of our move and submit it.",
     "We are moving: complete the request for a quote and submit it."),
    (FlowPage("Old place", (
        Question("place", "What do you move out of?", "cards", _same("Flat", "House", "Office"),
                 "We move out of our {}."),
        Question("floor", "Which floor?", "list",
                 _same("Ground floor", "First floor", "Second floor", "Third floor or above"),
                 "It is on the {}.", when={"place": ("Flat",)}),
        Question("lift", "The building has a lift", "tick", {}, "There is a lift.",
                 when={"place": ("Flat",)}, detail=2),
        Question("rooms", "How many rooms?", "list",
                 {"Up to 4 rooms": "three rooms", "5 to 7 rooms": "six rooms",
                  "8 rooms or more": "nine rooms"}, "It has {}.", when={"place": ("House",)}),
        Question("desks", "How many desks?", "list",
                 {"Up to 10 desks": "8 desks", "11 to 30 desks": "25 desks",
                  "Over 30 desks": "40 desks"}, "It has {}.", when={"place": ("Office",)}))),
     FlowPage("New place", (
         Question("where", "Where do you move?", "cards",
                  {"Same town": "within the town", "Other town": "to another town",
                   "Abroad": "to another country"}, "We move {}."),
         Question("town", "Name of the town", "text", {}, "The town is {}.", "town",
                  {"where": ("Other town",)}, 2),
         Question("country", "Country", "list",
                  {name: name for name in ("Austria", "Denmark", "Ireland", "Portugal")},
                  "The country is {}.", when={"where": ("Abroad",)}, detail=2),
         Question("customs", "Help with customs", "tick", {}, "We need help with customs.",
                  when={"where": ("Abroad",)}, detail=3))),
     FlowPage("Heavy things", (
         Question("heavy", "Is there anything heavy?", "cards",
                  {"Nothing": "nothing heavy", "Piano": "a piano", "Safe": "a safe"},
                  "We have {}.", detail=2),
         Question("piano", "Which kind of piano?", "list",
                  {"Upright": "an upright one", "Grand": "a grand piano",
                   "Digital": "a digital one"},
                  "It is {}.", when={"heavy": ("Piano",)}, detail=2),
         Question("weight", "Weight of the safe", "list",
                  {"Up to 200 kg": "150 kg", "201 to 500 kg": "400 kg", "Over 500 kg": "800 kg"},
                  "It weighs {}.", when={"heavy": ("Safe",)}, detail=2))),
     FlowPage("Service", (
         Question("packing", "Who packs?", "cards",
                  {"You do": "We pack everything ourselves",
                   "Our people, fragile things only": "Your people should pack what is fragile",
                   "Our people": "Your people should pack everything"}, "{}."),
         Question("boxes", "Number of boxes", "text", {}, "We need {} boxes.", "boxes",
                  {"packing": ("You do",)}, 3),
         Question("storage", "Store our things for a while", "tick", {},
                  "Store our things for a while.", detail=2),
         Question("months", "For how long?", "list",
                  _same("One month", "Three months", "Six months"),
                  "They stay in storage for {}.", when={"storage": ("yes",)}, detail=2))),
     FlowPage("Contact", (
         Question("name", "Full name", "text", {}, "My name is {}.", "name"),
         Question("phone", "Phone number", "text", {}, "My number is {}.", "phone", {}, 3),
         Question("month", "When do you move?", "list",
                  {name: name for name in ("April", "May", "June", "July")}, "We move in {}."),
         Question("visit", "Come and have a look before", "tick", detail=2)))),
)  # fmt: skip

FLOWS = {"insurance": INSURANCE, "support": SUPPORT, "move": MOVE}


def complete(
    flow: Flow, detail: int, given: Mapping[str, str], rng: np.random.Generator
) -> dict[str, str]:
    """An answer to everything that is asked: a given one where it still fits, else a new one."""
    answers: dict[str, str] = {}
    for question in flow.asked(detail, answers):
        answers[question.key] = given.get(question.key) or question.answer(rng)
    return answers


def plain(question: Question) -> dict[str, Any]:
    """What a page is told about a question."""
    return {
        "key": question.key,
        "label": question.label,
        "kind": question.kind,
        "options": list(question.options),
        "when": question.when,
        "optional": question.optional,
    }
