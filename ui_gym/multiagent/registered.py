"""What a catalogue knows of teams, before anything is imported; and the envs that play them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ui_gym.contract.spec import TEAMS, TaskSpec
from ui_gym.errors import UserError

if TYPE_CHECKING:
    from ui_gym.multiagent.vector import TeamVectorEnv

NEEDED = "pettingzoo"
"""The module without which there are no teams."""
REMEDY = "pip install 'ui-gym[multi]'"

SHARED_BOARD = TaskSpec(
    name="SharedBoard",
    suite=TEAMS,
    entry_point="ui_gym.multiagent.board:SharedBoard",
    category="office",
    difficulty="hard",
    max_steps=40,
    tags=(TEAMS,),
    summary="Work on one document with others, each in a window of its own.",
    collection=NEEDED,
)


def make_teams(
    num_envs: int, task: str, max_steps: int | None = None, autoreset_mode: Any = None,
    workers: str = "threads",
    **arguments: Any,
) -> TeamVectorEnv:  # fmt: skip
    """The vector env of a team's id: `num_envs` slots, `users` of them a team.

    Args:
        num_envs: Slots, a multiple of the size of a team.
        task: The id.
        max_steps: Rounds until truncation; the document's, if None.
        autoreset_mode: ``DISABLED``, the only one that teams have.
        workers: ``"threads"``, the only ones that play teams.
        arguments: As for `SharedBoard`.

    Raises:
        UserError: the slots are no whole teams, or an argument is wrong.
    """
    from gymnasium.vector import AutoresetMode

    try:
        from ui_gym.multiagent.vector import TeamVectorEnv
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != NEEDED:
            raise
        raise UserError(f"{task} is not installed: {REMEDY}") from None
    if autoreset_mode not in (None, AutoresetMode.DISABLED, AutoresetMode.DISABLED.value):
        raise UserError(f"{task} has the autoreset mode Disabled alone, not {autoreset_mode}")
    if workers != "threads":
        raise UserError(f"{task} is played by threads of this process alone, not by {workers!r}")
    users = arguments.get("users", 2)
    if isinstance(users, bool) or not isinstance(users, int) or not 2 <= users <= 4:
        raise UserError(f"{task}: users must be 2 to 4, not {users!r}")
    if num_envs % users:
        raise UserError(
            f"{task} is played by teams of {users}, and {num_envs} slots are no whole teams: take "
            f"a multiple of {users}"
        )
    return TeamVectorEnv(num_envs // users, max_cycles=max_steps, **arguments)
