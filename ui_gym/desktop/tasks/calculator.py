"""Compute with a calculator, and write what it says into a file that is open in an editor."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ui_gym.contract.action import Action, Press, Type
from ui_gym.contract.draws import between, pick, some
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.desktop import navigation
from ui_gym.desktop.content import sheets, sums, words
from ui_gym.desktop.content.sums import Sum
from ui_gym.desktop.device import DesktopDevice, SessionSpec
from ui_gym.desktop.facts import file_change
from ui_gym.desktop.offices import await_document
from ui_gym.desktop.task import DesktopTask

REST = 0.2
"""Seconds without a change on the screen after which both windows have been drawn."""


CALCULATOR = "galculator"

KEYS: Mapping[str, navigation.Place] = {
    key: (35 + 65 * column, 160 + 40 * row)
    for row, keys in enumerate(("()", "789/", "456*", "123-", "0. +"))
    for column, key in enumerate(keys)
} | {"=": (295, 300)}
"""Where the keys of galculator are, in its window."""

CONFIGURATION = ".config/galculator/galculator.conf"
PAPER = b"[general]\nmode=2\n"
"""Settings of galculator by which it has a line for whole sums in place of its keys."""


@dataclass(frozen=True)
class CalculateParams:
    """All that varies between episodes."""

    sum: Sum
    file: str
    phrasing: int


@register(
    "DesktopCalculate", suite="desktop", category="calculator", difficulty="medium", max_steps=30,
    tags=("two-applications",),
)  # fmt: skip
class DesktopCalculate(DesktopTask[CalculateParams]):
    """Compute a sum, and write its result into a file.

    ## Description
    The goal gives a sum of three numbers, perhaps with brackets, and a file for its result.

    ## Rewards
    1 if the saved file holds the result and nothing else.

    ## Starting state
    The calculator is in front, and the empty file is open in the text editor.
    """

    mistakes = ("digit", "brackets")
    goals = (
        "Compute {sum} with the calculator and write the result into {file}. Save the file.",
        "What is {sum}? Write just the number into {file}, which is open in the editor, and save.",
        "Use the calculator: {file} should hold the result of {sum}, and nothing else. Save it.",
    )

    def sample(self, rng: np.random.Generator) -> CalculateParams:
        return CalculateParams(
            sum=sums.draw(rng),
            file=words.file_names(rng, 1, "txt")[0],
            phrasing=self.phrase(rng),
        )

    def session(self, params: CalculateParams) -> SessionSpec:
        return begun(params.file, "")

    def setup(self, device: DesktopDevice, params: CalculateParams) -> None:
        super().setup(device, params)
        await_document(device, params.file, REST)

    def may_change(self, params: CalculateParams) -> Sequence[AllowedChange]:
        return file_change(params.file)

    def judge(
        self, device: DesktopDevice, params: CalculateParams, history: Sequence[Action]
    ) -> Verdict:
        text = saved(device, params.file)
        right = sums.is_number(text, params.sum.value)
        return Verdict(float(right), done=right, notes=f"{params.file} holds {text[:80]!r}")

    def oracle(self, device: DesktopDevice, params: CalculateParams) -> Iterator[Action | Demo]:
        yield from navigation.focus(device, CALCULATOR)
        for key in f"{params.sum}=":
            yield navigation.at(navigation.window(device, CALCULATOR), KEYS[key])
        yield Press("ctrl+c")
        yield from navigation.focus(device, params.file)
        yield Press("ctrl+v")
        # The calculator hands it over in its own time; the title then says that there are changes.
        yield from navigation.until(
            lambda: navigation.window(device, params.file).title.startswith("*")
        )
        yield Press("ctrl+s")

    def misread(
        self, params: CalculateParams, mistake: str, rng: np.random.Generator
    ) -> CalculateParams:
        """``digit``: one is another. ``brackets``: they are left out, or there are some."""
        if mistake == "brackets":
            changed = dataclasses.replace(params.sum, grouped=not params.sum.grouped)
            return dataclasses.replace(params, sum=changed)
        number = between(rng, 0, 2)
        numbers = list(params.sum.numbers)
        first = numbers[number][0]
        numbers[number] = pick(rng, "123456789".replace(first, "")) + numbers[number][1:]
        a, b, c = numbers
        changed = dataclasses.replace(params.sum, numbers=(a, b, c))
        return dataclasses.replace(params, sum=changed)


@dataclass(frozen=True)
class OrderTotalParams:
    """All that varies between episodes."""

    file: str
    items: tuple[tuple[str, int, str], ...]
    """(thing, how many, price of one)."""
    phrasing: int

    @property
    def total(self) -> Fraction:
        return sum((count * Fraction(price) for _, count, price in self.items), Fraction(0))

    @property
    def text(self) -> str:
        """The order, up to where its total is to stand."""
        lines = [f"{thing}: {count} x {price}\n" for thing, count, price in self.items]
        return f"Order\n\n{''.join(lines)}\nTotal: "


@register(
    "DesktopOrderTotal", suite="desktop", category="calculator", difficulty="hard", max_steps=25,
    tags=("two-applications",),
)  # fmt: skip
class DesktopOrderTotal(DesktopTask[OrderTotalParams]):
    """Compute what an order costs, and write it where its total is missing.

    ## Description
    A file lists what was ordered, how many of it and the price of one, three to five times. It ends
    with "Total:".

    ## Rewards
    1 if the right total stands there in the saved file, and the rest of it is as it was.

    ## Starting state
    The calculator is in front, ready to be typed into, and the file is open in the text editor.
    """

    mistakes = ("missed", "single", "price")
    goals = (
        'Compute the total of the order in {file} and write it after "Total:". Save the file.',
        'How much does the order in {file} cost? Complete its last line, "Total:", and save it.',
        "The order that is open in the editor lacks its total. Use the calculator, fill it in, and "
        "save {file}.",
    )

    def sample(self, rng: np.random.Generator) -> OrderTotalParams:
        things = some(rng, sheets.GOODS, between(rng, 3, 5))
        return OrderTotalParams(
            file=words.file_names(rng, 1, "txt")[0],
            items=tuple((thing, between(rng, 2, 24), _price(rng)) for thing in things),
            phrasing=self.phrase(rng),
        )

    def session(self, params: OrderTotalParams) -> SessionSpec:
        session = begun(params.file, params.text)
        return dataclasses.replace(session, files={**session.files, CONFIGURATION: PAPER})

    def setup(self, device: DesktopDevice, params: OrderTotalParams) -> None:
        super().setup(device, params)
        await_document(device, params.file, REST)

    def may_change(self, params: OrderTotalParams) -> Sequence[AllowedChange]:
        return file_change(params.file)

    def judge(
        self, device: DesktopDevice, params: OrderTotalParams, history: Sequence[Action]
    ) -> Verdict:
        text = saved(device, params.file)
        order, total = params.text.rstrip(), text[len(params.text.rstrip()) :]
        right = text.startswith(order) and sums.is_number(total, params.total)
        return Verdict(float(right), done=right, notes=f"{params.file} ends with {text[-40:]!r}")

    def oracle(self, device: DesktopDevice, params: OrderTotalParams) -> Iterator[Action | Demo]:
        products = [f"{count}*{price}" for _, count, price in params.items]
        yield from navigation.focus(device, CALCULATOR)
        yield Type("+".join(products), enter=True)
        yield from navigation.focus(device, params.file)
        yield Press("ctrl+end")
        yield Type(f"{float(params.total):.10g}")
        yield Press("ctrl+s")

    def misread(
        self, params: OrderTotalParams, mistake: str, rng: np.random.Generator
    ) -> OrderTotalParams:
        """``missed``: an item is left out. ``single``: it counts once. ``price``: of another."""
        items = list(params.items)
        one, other = some(rng, range(len(items)), 2)
        thing, count, price = items[one]
        if mistake == "missed":
            del items[one]
        elif mistake == "single":
            items[one] = (thing, 1, price)
        else:
            items[one] = (thing, count, items[other][2])
        misread = dataclasses.replace(params, items=tuple(items))
        return params if misread.total == params.total else misread


def begun(file: str, text: str) -> SessionSpec:
    """A text in the editor, and the calculator in front of it."""
    return SessionSpec(
        files={file: text.encode()},
        launch=[["mousepad", file], ["galculator"]],
    )


def saved(device: DesktopDevice, file: str) -> str:
    """What a file holds; nothing if there is none."""
    return (device.read(file) or b"").decode("utf-8", "replace")


def _price(rng: np.random.Generator) -> str:
    return f"{between(rng, 1, 39)}.{pick(rng, ('25', '50', '75', '20', '40', '90'))}"
