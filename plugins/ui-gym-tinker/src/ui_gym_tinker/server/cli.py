"""`ui-gym-tinker-server`: models behind Tinker's protocol, on this machine."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ui_gym.errors import UserError
from ui_gym_agents import command

app = typer.Typer(add_completion=False, rich_markup_mode="rich")

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}  # fmt: skip


@app.command()
def serve(
    model: Annotated[
        list[str] | None,
        typer.Option(help="A base model: an installed name, a folder, or NAME=FOLDER. May repeat."),
    ] = None,
    host: Annotated[str, typer.Option(help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0: any that is free.")] = 8410,
    name: Annotated[list[str] | None, typer.Option(help="Another name of this host.")] = None,
    key_file: Annotated[
        Path | None,
        typer.Option(help="A file of the key; made, for you alone to read, where it is not there."),
    ] = None,
    checkpoints: Annotated[Path, typer.Option(help="Where checkpoints are written.")] = Path(
        "tinker-checkpoints"
    ),
    max_memory: Annotated[
        str | None,
        typer.Option(help="What models, runs and samplers' weights may take, such as 8GB."),
    ] = None,
    session_timeout: Annotated[
        float, typer.Option(min=1, help="Seconds of silence after which a session is freed.")
    ] = 300.0,
    lora_alpha: Annotated[
        float, typer.Option(min=0, help="New adapters are scaled by this over their rank.")
    ] = 32.0,
    batch_tokens: Annotated[
        int, typer.Option(min=1, help="Most tokens of a micro-batch in training.")
    ] = 4096,
    device: Annotated[str, typer.Option(help="cpu, cuda, ... or auto.")] = "auto",
    dtype: Annotated[
        str, typer.Option(help="Of the weights that are not trained: float32, bfloat16.")
    ] = "float32",
    any_sdk: Annotated[
        bool, typer.Option("--any-sdk", help="Let in SDKs of other versions than 0.38.")
    ] = False,
) -> None:
    """Serve models to the Tinker SDK 0.38, on this machine.

    For tests, offline work and teaching: what it does otherwise than the service is said in the
    plugin's SERVER.md. Point clients at it by what it prints:

    [bold]export TINKER_BASE_URL=http://127.0.0.1:8410 TINKER_API_KEY=tml-...[/bold]

    The key is TINKER_API_KEY's, if it is set; else that of --key-file; else a new one, which is
    printed. Beyond this machine a key of your own is demanded.

    Examples:

    [bold]ui-gym-tinker-server --model tiny-clerk[/bold]

    [bold]ui-gym-tinker-server --model Qwen/Qwen3-VL-2B=/models/qwen3-vl-2b --device cuda
    --dtype bfloat16 --max-memory 40GB --checkpoints /data/tinker[/bold]

    [bold]ui-gym-train --plugin tinker --trainer.base_model tiny-clerk[/bold] (with both variables)
    """
    from ui_gym.remote.guard import is_loopback
    from ui_gym.remote.stopping import until_stopped
    from ui_gym_agents.training.parts import choose_device
    from ui_gym_tinker.server.tinker_server import TinkerServer

    console = Console(highlight=False, soft_wrap=True)
    key, told = given_key(key_file)
    if key is None and not is_loopback(host):
        raise UserError(
            f"a server at {host} can be reached from other machines: give it a key of your own, by "
            "TINKER_API_KEY or --key-file"
        )
    with until_stopped() as stop, TinkerServer(
        model or ["tiny-clerk"],
        host=host, port=port, key=key, checkpoints=checkpoints, names=name or (),
        max_memory=None if max_memory is None else memory(max_memory),
        session_timeout=session_timeout, lora_alpha=lora_alpha, batch_tokens=batch_tokens,
        device=choose_device(device), dtype=dtype, any_sdk=any_sdk,
    ) as server:  # fmt: skip
        names = ", ".join(server.service.core.models)
        console.print(f"{names} at {server.url}; checkpoints go to {server.checkpoints}")
        console.print(f"export TINKER_BASE_URL={server.url}")
        if told:
            console.print(f"the key is that of {told}", style="dim")
        else:
            console.print(f"export TINKER_API_KEY={server.key}")
        console.print("Ctrl-C ends it", style="dim")
        stop.started()
        stop.wait()


def memory(text: str) -> int:
    """``8GB`` as bytes. Raises `UserError` where it is no amount."""
    said = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?i?B?)", text.strip(), re.IGNORECASE)
    unit = said and _UNITS.get(said[2].upper() + ("" if said[2].upper().endswith("B") else "B"))
    if not said or unit is None:
        raise UserError(f"--max-memory {text!r} is no amount: write 8GB, 500MB or 16GiB")
    return int(float(said[1]) * unit)


def given_key(file: Path | None) -> tuple[str | None, str]:
    """The key, and where it is from: the environment, or `file`, which is made if it is not there.

    None: neither, so that a new one is to be made.
    """
    from ui_gym.remote.guard import token_in
    from ui_gym_tinker.server.tinker_server import KEY, new_key

    said = token_in(KEY)
    if said:
        return said, KEY
    if file is None:
        return None, ""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as made:
            made.write(new_key() + "\n")
    found = file.read_text().strip()
    if not found:
        raise UserError(f"{file} is empty: delete it, and a key is made")
    return found, str(file)


def main() -> int:
    """The command. Returns the exit status: 0, 1 (failed), 2 (usage), 130 (interrupted)."""
    return command.run(app)


if __name__ == "__main__":
    sys.exit(main())
