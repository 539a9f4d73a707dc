"""The protocol in words, for people."""

from __future__ import annotations

from collections.abc import Iterator

from ui_gym.errors import UserError
from ui_gym_agents.bench.algorithms import built_in
from ui_gym_agents.bench.protocol import BenchProtocol


def described(protocol: BenchProtocol) -> Iterator[tuple[str, str]]:
    """What it asks for, as a title and a text for each part."""
    budget, multi, controls = protocol.budget, protocol.multi, protocol.controls
    yield "protocol", f"{protocol.version}, SHA-256 {protocol.digest}"
    for name in protocol.sets:
        yield f"tasks {name}", _tasks(protocol, name)
    yield (
        "budget of a run",
        f"{budget.seconds / 60:g} minutes of training or {budget.episodes} episodes, whichever "
        f"ends first; {budget.jobs} runs side by side share {budget.cores} cores, with "
        f"{budget.threads} thread(s) of torch each; the step under way is finished",
    )
    yield (
        "budget of a run on many tasks",
        f"{multi.seconds_per_task / 60:g} minutes or {multi.episodes_per_task} episodes for each "
        "of its tasks",
    )
    yield "seeds of runs", ", ".join(map(str, protocol.run_seeds))
    yield (
        "measured after training",
        f"{protocol.evaluation.episodes} episodes of split {protocol.evaluation.split!r} with "
        "fixed seeds, greedily and sampled",
    )
    there = [n for n in protocol.held_out_families if n in _known(protocol)]
    yield (
        "held-out families",
        f"{', '.join(protocol.held_out_families) or 'none'}"
        f" ({len(there)} of {len(protocol.held_out_families)} are there)",
    )
    yield (
        "measured beside that, after training, greedily",
        "; ".join(
            f"{name.replace('_', ' ')} (split {asked.split!r}"
            + "".join(f", {key} {value}" for key, value in asked.arguments.items())
            + ")"
            for name, asked in protocol.evaluation.beside.items()
        )
        or "nothing",
    )
    yield (
        "controls",
        f"blind guess; a random agent and the greedy parent in {controls.episodes} episodes; the "
        f"parent's pass@{controls.attempts} in {controls.instances} instances; a learning rate of "
        "nothing (still); shuffled rewards (shuffled); failures kept too (unfiltered)",
    )
    yield "settings of all runs", ", ".join(f"{k} {v}" for k, v in protocol.settings.items())
    for name, algorithm in built_in().items():
        told = ", ".join(f"{k} {v}" for k, v in algorithm.settings.items())
        yield f"algorithm {name}", f"{algorithm.title}: plugin {algorithm.plugin}, {told}"


def _tasks(protocol: BenchProtocol, name: str) -> str:
    try:
        chosen = protocol.tasks(name)
    except UserError as error:
        return str(error)
    missing = f"; not there yet: {', '.join(chosen.missing)}" if chosen.missing else ""
    return f"{', '.join(chosen.names)} ({len(chosen.names)}){missing}"


def _known(protocol: BenchProtocol) -> set[str]:
    found: set[str] = set()
    for name in protocol.sets:
        try:
            found |= {*protocol.tasks(name).names}
        except UserError:  # nothing of that set is there
            continue
    return found
