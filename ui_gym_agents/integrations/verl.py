"""ui-gym for verl 0.9: the agent loop ``ui_gym``, and rows for its data set.

verl makes the loop by the row's ``agent_name``, in workers that know it from a file, which
``actor_rollout_ref.rollout.agent.agent_loop_config_path`` names:

    - name: ui_gym
      _target_: ui_gym_agents.integrations.verl.UIGymAgentLoop
      slots: 8

What the sampler read and said is kept as token ids (verl's Continuous Token), and an episode is one
sequence with all of its pictures: give `max_steps`, ``data.max_prompt_length`` and
``data.max_response_length`` accordingly. An episode for which no tokens are left ends with the
reward that it had so far. Tested with verl's own worker and a server that is an oracle; no run on
a GPU was made.
"""

from __future__ import annotations

import asyncio
import base64
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from PIL import Image as PILImage

from ui_gym.errors import DeviceError, UserError
from ui_gym_agents.chat import ChatStep, Message
from ui_gym_agents.integrations.episodes import (
    AsyncEpisode,
    EpisodeRow,
    episode_rows,
    needs,
    write_rows,
)
from ui_gym_agents.pictures import decoded

try:
    needs("verl", "0.9", "0.10", "verl")
    from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput, register
    from verl.utils.profiler import simple_timer
except ImportError as error:
    raise UserError(
        f"verl is not whole: {error}; install it with torch, as its own guide says"
    ) from error

AGENT = "ui_gym"
TRIES = 3
"""How often an episode is played whose device fails."""


class Transcript:
    """An episode as verl learns from it: one sequence of token ids, and its pictures in order."""

    def __init__(self, messages: list[Message]) -> None:
        self.messages: list[Message] = []
        self.images: list[PILImage.Image] = []
        self.ids: list[int] = []
        self.mask: list[int] = []
        """1 for what was sampled, of all that follows the first question."""
        self.logprobs: list[float] | None = None
        self.turns = 0
        self.extend(messages)

    def extend(self, messages: Sequence[Message]) -> None:
        for message in messages:
            content = [self._part(part) for part in message["content"]]
            self.messages.append({"role": message["role"], "content": content})

    def _part(self, part: dict[str, Any]) -> dict[str, Any]:
        if part["type"] != "image_url":
            return part
        data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
        self.images.append(decoded(data))
        return {"type": "image", "image": self.images[-1]}


@register(AGENT)
class UIGymAgentLoop(AgentLoopBase):
    """Plays the episode of a row (`dataset_rows`) with the model that is trained.

    Args:
        slots: Episodes that hold a device at the same time, in each of verl's workers.
    """

    def __init__(self, *args: Any, slots: int = 8, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.slots = slots
        self.room = int(self.rollout_config.response_length)

    async def run(self, sampling_params: dict[str, Any], **kwargs: Any) -> AgentLoopOutput:
        """Play the episode that ``kwargs["extra_info"]`` names; verl's names for the rest.

        Raises:
            UserError: the row says no episode.
            ValueError: the first question is longer than ``data.max_prompt_length``.
            DeviceError: the device failed each time.
        """
        row = EpisodeRow.read(kwargs.get("extra_info") or {})
        async with _gate(self.slots):
            tried = 0
            while True:
                try:
                    return await self._play(row, sampling_params, int(kwargs.get("priority") or 0))
                except DeviceError:
                    tried += 1
                    if tried == TRIES:
                        raise

    async def _play(
        self, row: EpisodeRow, sampling_params: dict[str, Any], priority: int
    ) -> AgentLoopOutput:
        metrics: dict[str, Any] = {}
        extra: dict[str, Any] = {}
        told = {"success": 0.0, "action_errors": 0.0, "steps": 0.0}
        reward = 0.0
        request = self._request_id(priority)
        async with AsyncEpisode(row.task, row.arguments) as episode:
            script = await self._opened(await episode.reset(row.seed))
            first = len(script.ids)
            while True:
                with simple_timer("generate_sequences", metrics):
                    sampled = await self._ask(script, sampling_params, request, priority)
                _note(extra, sampled.extra_fields)
                said = self.tokenizer.decode(sampled.token_ids, skip_special_tokens=True)
                with simple_timer("tool_calls", metrics):
                    step = await episode.act(said)
                reward += step.reward
                told = _counted(told, step)
                if step.done or not await self._shown(script, said, step.news):
                    break
        extra.update(turn_scores=[], tool_rewards=[], reward_extra_info=told)
        routed = sampled.routed_experts
        metrics.setdefault("num_preempted", -1)
        return AgentLoopOutput(
            prompt_ids=script.ids[:first],
            response_ids=script.ids[first:][: self.room],
            response_mask=script.mask[: self.room],
            response_logprobs=script.logprobs and script.logprobs[: self.room],
            routed_experts=None if routed is None else routed[: first + self.room],
            multi_modal_data={"images": script.images} if script.images else {},
            mm_processor_kwargs=self._get_mm_processor_kwargs(),
            reward_score=reward,
            num_turns=2 * script.turns,
            metrics=metrics,
            extra_fields=extra,
        )

    async def _opened(self, messages: list[Message]) -> Transcript:
        script = Transcript(messages)
        self._assert_mm_supported(bool(script.images))
        if not script.images:
            script.messages = [_texts(message) for message in script.messages]
        images = script.images or None
        script.ids = list(await self.ct_build_initial_tokens(script.messages, images=images))
        return script

    async def _ask(
        self, script: Transcript, sampling_params: dict[str, Any], request: str, priority: int
    ) -> Any:
        """Sample the next answer, and put it into the script."""
        sampled = await self.server_manager.generate(
            request_id=request,
            prompt_ids=script.ids,
            sampling_params=sampling_params,
            image_data=script.images or None,
            mm_processor_kwargs=self._get_mm_processor_kwargs(),
            priority=priority,
        )
        known = sampled.log_probs or None
        merged, script.mask, script.logprobs = await self.ct_merge_assistant_token(
            script.ids,
            sampled.token_ids,
            script.mask,
            (script.logprobs or []) if known else None,
            assistant_logprobs=known,
        )
        script.ids = list(merged.token_ids)
        script.turns += 1
        return sampled

    async def _shown(self, script: Transcript, said: str, news: Sequence[Message]) -> bool:
        """Put the next screen into the script; False, and nothing is put there, where the tokens
        that it needs are not left."""
        before = [*script.messages, {"role": "assistant", "content": said}]
        after = Transcript(list(news))
        shown = after.messages if script.images else [_texts(m) for m in after.messages]
        merged, mask, logprobs = await self.ct_merge_context_msg(
            before, [*before, *shown], script.ids, script.mask, script.logprobs
        )
        if len(mask) >= self.room:
            return False
        script.messages, script.ids = [*before, *shown], list(merged.token_ids)
        script.mask, script.logprobs = mask, logprobs
        script.images += after.images
        return True

    def _request_id(self, priority: int) -> str:
        fixed = getattr(self.rollout_config, "full_determinism", False)
        return f"det-{priority}" if fixed else uuid4().hex


_GATES: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
    weakref.WeakKeyDictionary()
)


def _gate(slots: int) -> asyncio.Semaphore:
    """What lets so many episodes of this event loop in: verl makes a loop object for each."""
    return _GATES.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(slots))


def _texts(message: Message) -> Message:
    """A message whose content is one text, as templates of language models have it."""
    content = message["content"]
    if isinstance(content, str):
        return message
    return {**message, "content": "\n\n".join(part["text"] for part in content)}


def _counted(told: Mapping[str, float], step: ChatStep) -> dict[str, float]:
    return {
        "success": float(step.info["success"]),
        "action_errors": told["action_errors"] + (step.info["action_error"] is not None),
        "steps": told["steps"] + 1,
    }


def _note(extra: dict[str, Any], new: Mapping[str, Any]) -> None:
    """Of the weights' versions that sampled, the first and the last count."""
    for key, value in new.items():
        if key not in extra or key == "max_global_steps":
            extra[key] = value


def dataset_rows(
    ids: Sequence[str], n: int, *, seed: int = 0, **arguments: Any
) -> list[dict[str, Any]]:
    """Rows of verl's data set, as `episode_rows` says them; `run` asks in the env's own words."""
    prompt = [{"role": "user", "content": "The env says what to do."}]
    return [
        {
            "data_source": row.task,
            "prompt": prompt,
            "agent_name": AGENT,
            "reward_model": {"style": "rule", "ground_truth": ""},
            "extra_info": {"index": index, **row.columns},
        }
        for index, row in enumerate(episode_rows(ids, n, seed=seed, **arguments))
    ]


def write_dataset(path: Path, ids: Sequence[str], n: int, **arguments: Any) -> None:
    """Write `dataset_rows` as a Parquet file, for ``data.train_files``.

    Raises:
        UserError: there is no such task; pyarrow is not installed.
    """
    write_rows(path, dataset_rows(ids, n, **arguments))
