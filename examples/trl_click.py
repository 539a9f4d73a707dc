"""TRL's GRPOTrainer learns to press the right button, on a CPU.

    pip install 'ui-gym[browser,trl]' ui-gym-tiny ui-gym-sft
    ui-gym-train --plugin sft --policy.model tiny-clerk --policy.lora_rank 0 \\
        --tasks.ids UI/ClickButton-v0 --tasks.arguments '{"compact": true, "count": 2}' \\
        --trainer.episodes 128 --trainer.batch_size 16 --trainer.epochs 3 --trainer.warmup 10 \\
        --run.steps 10 --evaluation.episodes 48 --run.directory taught
    python examples/trl_click.py taught/checkpoints/step_000010

None of the built-in models has seen a page of buttons, hence the lines in the middle: after ten
rounds of demonstrations one of them presses buttons, about half of them right ones. A model that
writes actions, as these do, calls the environment's tool by them: `write_actions`. One that calls
tools, such as Qwen3-VL, needs neither that nor a prompt of its own.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch
from trl import GRPOConfig, GRPOTrainer

from ui_gym_agents.integrations.trl import UIGymSpec, write_actions
from ui_gym_agents.policy.model import load_model, load_processor
from ui_gym_agents.policy.prompts import PromptBuilder
from ui_gym_agents.policy.weights import resolve

TASK: dict[str, Any] = {"compact": True, "count": 2, "max_steps": 1}


def main() -> None:
    told = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    told.add_argument("model", nargs="?", default="tiny-clerk", help="A folder, or a shipped name.")
    told.add_argument("--steps", type=int, default=100)
    told.add_argument("--slots", type=int, default=32, help="Browsers, in groups of eight.")
    told.add_argument("--out", default="trl_click", help="The folder of what was learned.")
    options = told.parse_args()
    torch.set_num_threads(1)  # the browsers want cores as well
    folder = resolve(options.model)
    processor = load_processor(folder)
    write_actions(processor)
    prompt = PromptBuilder.of(folder)
    spec = UIGymSpec("UI/ClickButton-v0", dialect="cells", prompt=prompt, **TASK)
    trainer = GRPOTrainer(
        load_model(folder, dtype="float32", device="cpu"),
        args=GRPOConfig(
            options.out, max_steps=options.steps, per_device_train_batch_size=options.slots,
            num_generations=8, max_completion_length=160, max_tool_calling_iterations=1,
            learning_rate=3e-4, lr_scheduler_type="constant", use_cpu=True, bf16=False,
            save_strategy="no", report_to=[], logging_steps=1,
        ),
        processing_class=processor,
        train_dataset=spec.train_dataset,
        environment_factory=spec.environment_factory,
        reward_funcs=spec.reward_funcs,
    )  # fmt: skip
    trainer.train()
    trainer.save_model()


if __name__ == "__main__":
    main()
