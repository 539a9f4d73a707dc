"""Work something out with the calculator."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from ui_gym.android import answers, moves
from ui_gym.android.content import scenes, texts
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.device import AndroidDevice
from ui_gym.android.task import AndroidTask, Steps
from ui_gym.contract.action import Action, Answer
from ui_gym.contract.draws import Rng, between, other, pick
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import TaskError

SIGNS = "+−×"


@dataclass(frozen=True)
class CalculatorParams:
    numbers: tuple[int, ...]
    signs: str
    """What stands between the numbers."""
    scene: StartScene
    phrasing: int

    @property
    def sum(self) -> str:
        rest = zip(self.signs, self.numbers[1:], strict=True)
        return str(self.numbers[0]) + "".join(f" {sign} {number}" for sign, number in rest)

    @property
    def result(self) -> int:
        """What comes out; products come first."""
        terms, sign = [self.numbers[0]], 1
        for mark, number in zip(self.signs, self.numbers[1:], strict=True):
            if mark == "×":
                terms[-1] *= number
            else:
                sign = 1 if mark == "+" else -1
                terms.append(sign * number)
        return sum(terms)


@register(
    "AndroidCalculator", suite="android", category="app", difficulty="medium", max_steps=25,
    tags=("answer", "heldout-template"),
)  # fmt: skip
class AndroidCalculator(AndroidTask[CalculatorParams]):
    """Work out a sum with the calculator, and tell the result.

    ## Description
    The goal gives a sum of two or three whole numbers, with plus, minus and times.

    ## Action space
    ``answer`` gives the answer.

    ## Rewards
    1 if the answer, or the message with which the agent finishes, tells the result and no other
    number, but for those before an equals sign.

    ## Starting state
    The home screen or a page of the Settings.
    """

    apps = ("com.android.calculator2",)
    mistakes = ("digit", "sign")
    goals = texts.goals("AndroidCalculator")

    def sample(self, rng: Rng) -> CalculatorParams:
        count = between(rng, 2, 3)
        return CalculatorParams(
            numbers=tuple(between(rng, 11, 999) for _ in range(count)),
            signs="".join(pick(rng, SIGNS) for _ in range(count - 1)),
            scene=scenes.draw(rng),
            phrasing=between(rng, 0, len(self.goals) - 1),
        )

    def goal(self, params: CalculatorParams) -> str:
        return self.goals[params.phrasing].format(sum=params.sum)

    def prepare(self, params: CalculatorParams) -> Sequence[str]:
        return params.scene.lines()

    def judge(
        self, device: AndroidDevice, params: CalculatorParams, history: Sequence[Action]
    ) -> Verdict:
        result = params.result

        def right(told: str) -> bool:
            return answers.is_number(told.rpartition("=")[2], result)  # the sum may come before it

        return answers.answered(history, right, str(result))

    def may_change(self, params: CalculatorParams) -> Sequence[AllowedChange]:
        return ()

    def oracle(self, device: AndroidDevice, params: CalculatorParams) -> Steps:
        yield from moves.launch(device, "Calculator")
        for sign in params.sum.replace(" ", "") + "=":
            yield from moves.tap(device, NAMES.get(sign, sign), role="button")
        shown = str(params.result).replace("-", "−")
        found = [e.name for e in moves.elements(device) if e.name.replace(",", "") == shown]
        if not found:
            raise TaskError(f"the calculator does not show {shown}")
        yield Demo(Answer(found[0]), "The calculator shows the result.")

    def misread(self, params: CalculatorParams, mistake: str, rng: Rng) -> CalculatorParams:
        """``digit``: the first number is wrong. ``sign``: the first sign is."""
        if mistake == "digit":
            first = params.numbers[0] + pick(rng, (-10, -1, 1, 10))
            wrong = dataclasses.replace(params, numbers=(first, *params.numbers[1:]))
        else:
            sign = other(rng, SIGNS, params.signs[0])
            wrong = dataclasses.replace(params, signs=sign + params.signs[1:])
        return wrong if wrong.result != params.result else params


NAMES = {"+": "plus", "−": "minus", "×": "multiply", "=": "equals"}
"""What Android's calculator calls its keys."""
