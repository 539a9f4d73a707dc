"""Every view of a monitor, by name: its address and what it shows when it is there."""

from __future__ import annotations

from typing import Any

import httpx
from waiting import eventually

from ui_gym_agents.monitor.app import MonitorServer


def ask(server: MonitorServer, path: str, **params: Any) -> Any:
    """What the API answers."""
    answer = httpx.get(f"{server.url}/api/{path}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def only_run(server: MonitorServer) -> str:
    """The id of the one run that a monitor shows, once something is known of it."""
    assert eventually(lambda: any(run["episodes"] for run in ask(server, "runs")["runs"]))
    return str(ask(server, "runs")["runs"][0]["id"])


def views(server: MonitorServer) -> dict[str, tuple[str, str]]:
    """By name: the hash, and what stands on the view when it is loaded. Of `MadeRun.whole`."""
    run = only_run(server)
    found = ask(server, f"runs/{run}/episodes", kind="step", order="old")["episodes"]
    one, group = found[0]["id"], found[0]["group"]
    a, b = f"{run}/baseline/0/greedy", f"{run}/final/2/greedy"
    return {
        "runs": ("#/", "1 of 1 run"),
        "run": (f"#/run/{run}", "What happened"),
        "episodes": (f"#/run/{run}/episodes", "12 episodes"),
        "episode": (f"#/run/{run}/episode/{one}", "turn 1 of 2"),
        "groups": (f"#/run/{run}/groups", "Enter Iris."),
        "group": (f"#/run/{run}/group/{group}?step=1", "Enter Iris."),
        "through": (f"#/run/{run}/through", "Enter Iris"),
        "failures": (f"#/run/{run}/failures", "submitted 'Ines', not asked for"),
        "compare": (f"#/compare?a={a}&b={b}", "Enter Iris."),
        "workers": (f"#/run/{run}/workers", "orkers"),
    }


NAMES = ("runs", "run", "episodes", "episode", "groups", "group", "through", "failures",
         "compare", "workers")  # fmt: skip
