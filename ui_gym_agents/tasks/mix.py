"""Several tasks in one vector env: `make_envs` gives the envs of a run's task entries.

One task is made as it always is. Several, or one with several sets of arguments, are played like a
suite (`ui_gym.contract.suite`): the slots share one pool of devices, and each reset names what it
plays by the option ``task``. So they must be of one suite, and of one size of the screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import gymnasium
from gymnasium.vector import AutoresetMode, VectorEnv

import ui_gym  # noqa: F401 - registers the ids
from ui_gym.contract.arguments import check_viewport, make_task
from ui_gym.contract.mix import Mix
from ui_gym.contract.spec import FOREIGN, TEAMS
from ui_gym.contract.task import Task
from ui_gym.errors import UserError
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.tasks.sources import ENV_ARGUMENTS, TaskEntry, variants

_SHOWN = 4


def make_envs(
    entries: Sequence[TaskEntry],
    num_envs: int,
    *,
    arguments: Mapping[str, Any] | None = None,
    **options: Any,
) -> VectorEnv[Any, Any, Any]:
    """Envs that can play all `entries`, in autoreset mode ``DISABLED``.

    Args:
        entries: What is played; reset with the option ``task`` of `reset_names`.
        num_envs: How many slots.
        arguments: Of every task, and of the envs (such as `viewport`).
        options: Further arguments of the envs.

    Raises:
        UserError: they cannot be played together, or an argument is wrong.
    """
    given = dict(arguments or {})
    chosen = list(variants(entries))
    if any(entry.spec.suite == FOREIGN for entry in chosen):
        return _foreign(chosen, num_envs, given)
    if len(chosen) == 1:
        (entry,) = chosen
        if entry.max_steps is not None:
            options = {"max_steps": entry.max_steps, **options}
        return gymnasium.make_vec(
            entry.spec.id,
            num_envs,
            vectorization_mode="vector_entry_point",
            autoreset_mode=AutoresetMode.DISABLED,
            **options,
            **{**given, **entry.arguments},
        )
    shared = {name: value for name, value in given.items() if name in ENV_ARGUMENTS}
    mix = Mix(members(chosen, {**options, **given}))
    return UIVectorEnv(num_envs, mix, autoreset_mode=AutoresetMode.DISABLED, **options, **shared)


def screen_size(envs: VectorEnv[Any, Any, Any]) -> tuple[int, int]:
    """(width, height) of what is observed, in pixels."""
    space: Any = envs.single_observation_space
    known: tuple[int, int] | None = getattr(envs.single_action_space, "size", None)
    if known is not None:  # also where nothing is seen
        return known
    if "screenshot" not in space.spaces:
        raise UserError("an env of others that shows no screenshot does not tell its size")
    height, width = space["screenshot"].shape[:2]
    return width, height


def members(
    entries: Iterable[TaskEntry], arguments: Mapping[str, Any] | None = None
) -> dict[str, Task[Any, Any]]:
    """The tasks of entries by variant, made with `arguments` (those of envs among them).

    Raises:
        UserError: they cannot be played together, or an argument is wrong.
    """
    given = dict(arguments or {})
    wanted = given.get("viewport")
    own = {name: value for name, value in given.items() if name not in ENV_ARGUMENTS}
    found = {entry.variant: _member(entry, own) for entry in variants(entries)}
    if wanted is not None:  # everybody's, as in an env of one task
        for member in found.values():
            member.viewport = check_viewport(wanted)
    _check_together(found)
    return found


def reset_names(entries: Iterable[TaskEntry]) -> dict[str, str]:
    """What the option ``task`` of a reset is for each variant, in the envs of these entries."""
    chosen = list(variants(entries))
    if len(chosen) == 1:
        return {chosen[0].variant: chosen[0].spec.id}
    return {entry.variant: entry.variant for entry in chosen}


def turn_limits(
    entries: Iterable[TaskEntry], arguments: Mapping[str, Any] | None = None
) -> dict[str, int]:
    """The number of steps after which an episode of each variant is cut."""
    chosen = list(variants(entries))
    if len(chosen) == 1 and chosen[0].spec.suite in (TEAMS, FOREIGN):
        (entry,) = chosen
        return {entry.variant: entry.max_steps or entry.spec.max_steps}
    return {key: task.max_steps for key, task in members(chosen, arguments).items()}


def _foreign(
    chosen: Sequence[TaskEntry], num_envs: int, arguments: Mapping[str, Any]
) -> VectorEnv[Any, Any, Any]:
    """Envs of others: as many of one id, made as Gymnasium makes them.

    Raises:
        UserError: there is more than one, or an agent of ours could not play it.
    """
    if len(chosen) > 1:
        names = ", ".join(entry.spec.id for entry in chosen[:_SHOWN])
        raise UserError(f"an env of others is played alone, and these are {len(chosen)}: {names}")
    (entry,) = chosen
    own = {**arguments, **entry.arguments}
    if entry.max_steps is not None:
        own["max_episode_steps"] = entry.max_steps
    envs = gymnasium.make_vec(
        entry.spec.id,
        num_envs,
        **{"vectorization_mode": "sync", **own},
        vector_kwargs={"autoreset_mode": AutoresetMode.DISABLED},
    )
    seen: Any = envs.single_observation_space
    acted = envs.single_action_space
    shown = {"screenshot", "elements"} & set(getattr(seen, "spaces", ()))
    if not shown or "goal" not in seen.spaces or not isinstance(acted, gymnasium.spaces.Text):
        envs.close()
        raise UserError(
            f"{entry.spec.id} is no env for agents that look at screens: it needs observations "
            "with `goal` and with `screenshot` or `elements`, and a Text space of actions (the "
            "class UIEnv says more); for classic spaces there is --plugin sb3"
        )
    return envs


def _member(entry: TaskEntry, shared: Mapping[str, Any]) -> Task[Any, Any]:
    if "level" in shared and not entry.spec.load().levels:
        # Of many tasks, it means those that have levels, as in a suite.
        shared = {name: value for name, value in shared.items() if name != "level"}
    try:
        task = make_task(entry.spec.id, {**shared, **entry.arguments})
    except UserError as error:
        at = f"{entry.origin}: " if entry.origin else ""
        hint = "; an argument of one task alone is written in a task file" if shared else ""
        raise UserError(f"{at}{error}{hint}") from error
    if entry.max_steps is not None:
        task.max_steps = entry.max_steps
    return task


def _check_together(members: Mapping[str, Task[Any, Any]]) -> None:
    suites = _by({key: task.spec.suite for key, task in members.items()})
    if len(suites) > 1:
        raise UserError(
            f"a run plays tasks of one suite, and these are of {len(suites)}: {_listed(suites)}; "
            "choose one by --tasks.suite"
        )
    pools = _by({key: _origin(task) for key, task in members.items()})
    if len(pools) > 1:
        raise UserError(
            f"these tasks are played on different kinds of devices: {_listed(pools)}; "
            "train on one kind at a time"
        )
    sizes = _by({key: "{}x{}".format(*task.viewport) for key, task in members.items()})
    if len(sizes) > 1:
        raise UserError(
            f"the envs of a run have one size of the screen, and these tasks want {len(sizes)}: "
            f"{_listed(sizes)}; choose tasks of one size, or set it for all, where they can be "
            "played in it: --tasks.arguments.viewport '[1280, 800]'"
        )


def _origin(task: Task[Any, Any]) -> str:
    """The class whose devices a task is played on."""
    return next(c.__name__ for c in type(task).__mro__ if "pool" in vars(c))


def _by(values: Mapping[str, str]) -> dict[str, list[str]]:
    """Keys by their value."""
    found: dict[str, list[str]] = {}
    for key, value in values.items():
        found.setdefault(value, []).append(key)
    return found


def _listed(groups: Mapping[str, Sequence[str]]) -> str:
    """``320x256 (A, B), 1280x800 (C...)``."""
    return ", ".join(
        f"{value} ({', '.join(keys[:_SHOWN])}{', ...' if len(keys) > _SHOWN else ''})"
        for value, keys in groups.items()
    )
