"""The judgement of a task file: OSWorld's `evaluate`, rule by rule.

1. An infeasible task is worth 1 if the agent's last action says that it is infeasible, else 0.
2. Any other task is worth 0 if the last action says so.
3. Else the steps of ``postconfig`` are done, and each metric is given what its getters bring, in
   order. With ``and``, a metric of 0 makes the whole 0 and ends it, else the mean counts; with
   ``or``, a 1 makes the whole 1 and ends it, else the best counts.

A result that is not there is the metric's to judge, except that a getter which finds no file makes
its metric 0. OSWorld does the steps of ``postconfig`` in the cases 1 and 2 as well; the score does
not depend on them. Where it fails, because a metric or a getter of ``expected`` is null in a list,
the metric is given no `expected` here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from ui_gym.contract.action import Action, Finish
from ui_gym.contract.task import Verdict
from ui_gym.desktop.osworld.pauses import keep_whole
from ui_gym.desktop.osworld.placeholders import at_home
from ui_gym.desktop.osworld.registry import GETTERS, METRICS, Config, EvaluationContext
from ui_gym.desktop.osworld.setups import run_steps
from ui_gym.desktop.osworld.taskfile import EvaluatorCheck, TaskFile
from ui_gym.errors import TaskError, UIGymError, UserError

AUTHORED = frozenset({"cloud_file", "rule", "rule_relativeTime"})
"""Getters of what the task's author wrote, so that it is the author's mistake if it is broken."""


def evaluate(context: EvaluationContext, task: TaskFile, history: Sequence[Action]) -> Verdict:
    """The score of an episode that is over, with `history` all that was done in it.

    Raises:
        DeviceError: the machine failed.
        UserError: a file that the metrics compare with is broken, or a step is.
        TaskError: a metric is.
    """
    gave_up = says_infeasible(history)
    details: dict[str, Any] = {"infeasible": task.infeasible, "gave_up": gave_up}
    if task.infeasible or gave_up:
        said = "was called infeasible" if gave_up else "was not called infeasible"
        kind = "an infeasible task" if task.infeasible else "a task that can be done"
        return Verdict(float(task.infeasible and gave_up), notes=f"{kind} {said}", details=details)
    keep_whole(context)
    run_steps(context, task.postconfig)
    context.device.settle()
    scores: list[float] = []
    decided = None
    for check in task.checks:
        scores.append(_score(context, check))
        decided = {("and", 0.0): 0.0, ("or", 1.0): 1.0}.get((task.conjunction, scores[-1]))
        if decided is not None:
            break
    if decided is None:
        decided = max(scores) if task.conjunction == "or" else sum(scores) / len(scores)
    names = [check.metric for check in task.checks]
    said = ", ".join(f"{name} {score:g}" for name, score in zip(names, scores, strict=False))
    details["metrics"] = [list(pair) for pair in zip(names, scores, strict=False)]
    details["notes"] = context.notes
    return Verdict(decided, notes=said, details=details)


def says_infeasible(history: Sequence[Action]) -> bool:
    """Whether the last action is OSWorld's ``FAIL``: the agent says that it cannot be done."""
    last = history[-1] if history else None
    return isinstance(last, Finish) and last.outcome == "infeasible"


def _score(context: EvaluationContext, check: EvaluatorCheck) -> float:
    home = context.device.home
    try:
        result = _get(context, at_home(check.result, home))
    except FileNotFoundError:
        return 0.0
    given = [result]
    if check.expected is not None:
        expected = _get(context, at_home(check.expected, home))
        given.append(_Rules(expected) if type(expected) is dict else expected)
    metric = METRICS.find(check.metric)
    try:
        score = metric(*given, **at_home(check.options, home))
    except UserError:
        if check.expected is None or check.expected["type"] in AUTHORED:
            raise
        return 0.0  # the agent may have broken what lies on the machine
    except UIGymError:
        raise
    except re.error as error:
        raise UserError(
            f"task {context.task}: the pattern {error.pattern!r} of the metric {check.metric} is "
            f"no regular expression: {error}"
        ) from error
    except Exception as error:
        raise TaskError(f"task {context.task}: metric {check.metric} raised {error!r}") from error
    number = 0.0 if score is None else float(score)
    return 0.0 if math.isnan(number) else min(max(number, 0.0), 1.0)


class _Rules(dict[str, Any]):
    """What a metric compares with, as the task's author wrote it. A key that is not there is the
    author's mistake."""

    def __missing__(self, key: str) -> Any:
        raise UserError(f"the task's rules lack {key!r}; they have {', '.join(self) or 'nothing'}")


def _get(context: EvaluationContext, config: Config) -> Any:
    return GETTERS.find(config["type"])(context, config)
