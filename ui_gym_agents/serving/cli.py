"""`ui-gym-serve-policy`: a model behind OpenAI's APIs, which records what it samples."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ui_gym_agents import command

app = typer.Typer(add_completion=False, rich_markup_mode="rich")


@app.command()
def serve(
    model: Annotated[str, typer.Option(help="A shipped checkpoint, a folder, or a hub's name.")] = (
        "tiny-clerk"
    ),
    adapter: Annotated[Path | None, typer.Option(help="A folder of a LoRA adapter.")] = None,
    engine: Annotated[
        str | None,
        typer.Option(help="A server that samples: openai:MODEL@URL (vLLM), sglang:MODEL@URL."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Where rollouts are recorded.")] = Path("rollouts"),
    host: Annotated[str, typer.Option(help="Where to listen; others than this need a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="0: any that is free.")] = 8400,
    name: Annotated[list[str] | None, typer.Option(help="Another name of this host.")] = None,
    temperature: Annotated[float, typer.Option(min=0, help="Of all answers.")] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="Of what is sampled.")] = 0,
    max_new_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of an answer.")] = 512,
    dialect: Annotated[
        str, typer.Option(help="How the model writes actions, for the Responses API's computer.")
    ] = "cells",
    size: Annotated[str, typer.Option(help="Of the screens that it is told of.")] = "1280x800",
    prompt: Annotated[
        str, typer.Option(help="How it is asked through the Responses API's computer.")
    ] = "auto",
    device: Annotated[str, typer.Option(help="cpu, cuda, ... or auto.")] = "auto",
) -> None:
    """Serve a model to agents that speak OpenAI's API, and record their rollouts.

    An agent is pointed at it by OPENAI_BASE_URL=http://127.0.0.1:8400/v1. Its API key names the
    rollout: take another one for each episode, and say at its end how it went:
    [bold]POST /v1/rollout/end {"reward": 1.0}[/bold]. What was sampled (tokens, log-probabilities,
    pictures) is then an episode in --out, and a line of traces.jsonl in OpenEnv's format. Beyond
    this machine a token is demanded: set UI_GYM_POLICY_TOKEN here; keys are TOKEN:ROLLOUT there.

    Example: [bold]ui-gym-serve-policy --model tiny-clerk --out rollouts[/bold]
    """
    from ui_gym.contract.arguments import check_viewport
    from ui_gym.dialects import get_dialect
    from ui_gym.remote.guard import token_in
    from ui_gym.remote.stopping import until_stopped
    from ui_gym_agents.engines.agent import engine_agent
    from ui_gym_agents.policy import load_policy
    from ui_gym_agents.serving.open_desk import OpenDesk
    from ui_gym_agents.serving.policy_server import TOKEN, PolicyServer
    from ui_gym_agents.serving.voice import PolicyVoice
    from ui_gym_agents.store import EpisodeStore
    from ui_gym_agents.training.parts import choose_device, make_prompt

    console = Console(highlight=False, soft_wrap=True)
    language = get_dialect(dialect)
    screen = check_viewport(tuple(int(n) if n.isdigit() else 0 for n in size.split("x")))
    with until_stopped() as stop:
        policy = load_policy(
            model, adapter=adapter, temperature=temperature, max_new_tokens=max_new_tokens,
            prompt=make_prompt(model, prompt, None, lambda: language.prompt(screen)),
            device=choose_device(device),
        )  # fmt: skip
        if engine is not None:
            policy.sampler = engine_agent(policy, engine)
        desk = OpenDesk(EpisodeStore(out), console.print, seed)
        voice = PolicyVoice(policy, language, lambda: len(desk))
        try:
            with PolicyServer(
                voice, desk, host=host, port=port, token=token_in(TOKEN), names=name or ()
            ) as server:
                console.print(f"{server.url}: {model}; rollouts go to {out}")
                console.print("Ctrl-C ends it", style="dim")
                stop.started()
                stop.wait()
        finally:
            voice.close()
            desk.close()
            policy.close()


def main() -> int:
    """The command. Returns the exit status: 0, 1 (failed), 2 (usage), 130 (interrupted)."""
    return command.run(app)


if __name__ == "__main__":
    sys.exit(main())
