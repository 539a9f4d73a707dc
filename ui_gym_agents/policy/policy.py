"""A vision-language model as an agent that can be trained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from peft import PeftModel
from torch import Tensor, nn

from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import Decision, Submit, View
from ui_gym_agents.engines.protocol import EngineQuestion
from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy import cpu, lora, model
from ui_gym_agents.policy.accumulation import accumulate, measure
from ui_gym_agents.policy.batching import merged_batches, micro_batches
from ui_gym_agents.policy.counts import Remembered
from ui_gym_agents.policy.forward import Forward, Prompt
from ui_gym_agents.policy.generation import Sample, sample
from ui_gym_agents.policy.images import Given, ScreenshotSource
from ui_gym_agents.policy.memory import in_rows
from ui_gym_agents.policy.parallel import Processes
from ui_gym_agents.policy.prompts import PromptBuilder
from ui_gym_agents.policy.reuse import Room
from ui_gym_agents.policy.sampling_agent import SamplingAgent
from ui_gym_agents.policy.scoring import score, weighed
from ui_gym_agents.policy.wording import Wording

if TYPE_CHECKING:
    from ui_gym_agents.policy.sharding import Shards

T = TypeVar("T")


class VLMPolicy(Wording):
    """Any `AutoModelForImageTextToText`, sampling turns and scoring them again for a learner.

    An `AutoModelForCausalLM` with a chat template will do where no pictures are shown.

    `net` is the model, inside a `PeftModel` if it has an adapter. `version` counts updates: a
    learner adds one after each, and every record says which it was sampled by. `temperature` may
    be set at any time; 0 takes the best token always. `batch_rows` bounds the rows of a batch when
    sampling, `batch_tokens` the tokens of a micro-batch when learning; both are halved where memory
    runs out. `act_threads` is how many CPU threads sampling uses, `lanes` how many micro-batches
    are learned from at once, `merge` whether sampling adds the adapter to the weights first.
    `merge_turns` scores the turns of a conversation in one pass where their prompts extend each
    other (`merging`). `room` is what sampling may remember (`reuse`).
    """

    def __init__(
        self,
        net: nn.Module,
        processor: Any,
        prompt: PromptBuilder,
        *,
        temperature: float = 1.0,
        max_new_tokens: int = 64,
        batch_rows: int = 64,
        batch_tokens: int = 4096,
        act_threads: int | None = None,
        lanes: int = 1,
        merge: bool = False,
        merge_turns: bool = False,
        room: Room = Room(),  # noqa: B008  # frozen
        name: str = "",
    ) -> None:
        self.net = net
        super().__init__(
            self.base, processor, prompt, temperature=temperature, max_new_tokens=max_new_tokens
        )
        self.batch_rows = batch_rows
        self.batch_tokens = batch_tokens
        self.act_threads = act_threads
        self.lanes = lanes
        self.merge = merge
        self.merge_turns = merge_turns
        self.name = name
        self._sums = lora.Sums()
        self.version = 0
        self.begun: Mapping[str, Tensor] | None = None
        """The adapter's weights (`lora.weights`) that training began with; None: a fresh adapter's,
        which changed nothing. Set after it was made."""
        self.processes = Processes()
        """Those that learn together; set after it was made."""
        self.sampler: SamplingAgent | None = None
        """Samples in place of this process; set after it was made for this policy."""
        self.shards: Shards | None = None
        """Keeps the weights divided among processes, where they are."""
        base = self.base
        self.counts = Remembered()
        self.eyes = room.eyes(base, processor.image_processor, prompt.history, self.counts)
        pad = self.tokenizer.pad_token_id
        self.forward = Forward(
            base, self.eyes, self.encoder.image_id, self.stops[0] if pad is None else pad
        )
        self.earlier = room.earlier(self.forward, self.counts)
        width = base.get_output_embeddings().weight.shape[0]
        self.suppressed = torch.zeros(width, dtype=torch.bool, device=base.device)
        self.suppressed[self.never_sampled] = True

    # -- acting --

    def act(self, views: Sequence[View]) -> list[Decision]:
        """Sample an answer for each view, seeded by its `noise`; on `sampler`, if there is one."""
        if self.sampler is not None:
            return self.sampler.act_as(self, views)
        for view in views:
            if not view.turns:
                self.ended(view.slot)
        with self._sampling():
            return in_rows(self, views, self._act, self._relieve)

    def ended(self, slot: int) -> None:
        """Let go of what is remembered of a slot: its episode is over."""
        if self.earlier is not None:
            self.earlier.end(slot)

    def metrics(self) -> dict[str, float]:
        """What was measured since the last time, by names of metrics: see `counts.Remembered`."""
        return self.counts.take() | ({} if self.sampler is None else self.sampler.metrics())

    @property
    def submit(self) -> Submit | None:
        """Asks `sampler` for one view's answer; None where this process answers, in batches."""
        return None if self.sampler is None else self.sampler.submit_as(self)

    def _act(self, views: Sequence[View]) -> list[Decision]:
        pictures = Given()
        prompts = [self._prompt(view, pictures) for view in views]
        noise = [view.noise for view in views]
        slots = [view.slot for view in views]
        samples = self._sample(
            prompts, noise, pictures, self.temperature, self.max_new_tokens, slots
        )
        return [
            self.decision(
                answer.ids,
                prompt_ids=prompt.ids,
                logprobs=answer.logprobs,
                images=prompt.images,
                version=self.version,
                truncated=answer.truncated,
            )
            for prompt, answer in zip(prompts, samples, strict=True)
        ]

    @torch.inference_mode()
    def _sample(
        self,
        prompts: Sequence[Prompt],
        noise: Sequence[int],
        pictures: ScreenshotSource,
        temperature: float,
        max_new_tokens: int,
        slots: Sequence[int] = (),
    ) -> list[Sample]:
        if self.earlier is not None and slots and self.prompt.history > 1:
            prefix = self.earlier.prefill(
                self.forward, self.eyes, prompts, slots, pictures, self._fingerprint()
            )
        else:
            features = self.eyes.look([key for p in prompts for key in p.images], pictures)
            prefix = self.forward.prefill(prompts, features)
        return sample(
            self.forward,
            prefix,
            noise=noise,
            temperature=temperature,
            max_new_tokens=max_new_tokens,
            stops=self.stops,
            suppressed=self.suppressed,
        )

    def _fingerprint(self) -> object:
        """Tells weights apart: whoever steps an optimizer and forgets the version, changes this."""
        return self.version, sum(p._version for p in self.parameters())

    def _relieve(self) -> bool:
        """Let go of earlier turns, for want of memory; whether there were any."""
        return self.earlier is not None and self.earlier.forget()

    def _prompt(self, view: View, pictures: Given) -> Prompt:
        return _prompted(self.question(view), pictures)

    def sample(
        self, questions: Sequence[EngineQuestion], *, temperature: float, max_new_tokens: int
    ) -> list[Sample]:
        """Sample an answer to each question, seeded by its noise."""

        def answer(part: Sequence[EngineQuestion]) -> list[Sample]:
            pictures = Given()
            prompts = [_prompted(question, pictures) for question in part]
            noise = [q.noise for q in part]
            return self._sample(prompts, noise, pictures, temperature, max_new_tokens)

        with self._sampling():
            return in_rows(self, questions, answer, self._relieve)

    @contextmanager
    def _sampling(self) -> Iterator[None]:
        """What makes sampling quick, and dropout is off."""
        weights = lora.merged(self.base, self._sums) if self.merge else nullcontext()
        with cpu.threads(self.act_threads), model.evaluating(self.net), weights:
            yield

    # -- learning --

    def encode(
        self, view: View, text: str, *, caption: str = "", caption_weight: float = 0.5
    ) -> TokenRecord:
        """The record of a demonstration: `text`, the end token, and then the caption.

        Weights are 1 for the answer and its end, `caption_weight` for `caption`, which the model
        learns to say but never gets to, since sampling stops at the end token.
        """
        prompt = self._prompt(view, Given())
        answer = [*self._ids(text), self.stops[0]]
        more = self._ids(caption)
        return TokenRecord(
            prompt_ids=prompt.ids,
            output_ids=(*answer, *more),
            images=prompt.images,
            weights=(1.0,) * len(answer) + (caption_weight,) * len(more),
            version=self.version,
        )

    def _ids(self, text: str) -> list[int]:
        defused = self.encoder.defuse(text)
        return [int(i) for i in self.tokenizer(defused, add_special_tokens=False)["input_ids"]]

    def batches(self, records: Sequence[TokenRecord]) -> list[list[int]]:
        """Indices of `records` in micro-batches of at most `batch_tokens` tokens."""
        divide = merged_batches if self.merge_turns else micro_batches
        return divide(records, self.batch_tokens)

    def accumulate(
        self,
        records: Sequence[TokenRecord],
        work: Callable[[list[int]], T],
        processes: Processes | None = None,
        owners: Sequence[int] | None = None,
        *,
        threaded: bool = False,
    ) -> list[T]:
        """Call `work`, a forward and a backward pass, for each of `batches`; see `accumulation`.

        Where memory runs out, smaller micro-batches take over; with several `processes` (its own,
        if None), each does its share, that of `owners` if given. With `gradient_checkpointing`,
        layers are computed again on the way back, whatever mode the model is in. `threaded` allows
        `work` in several threads at once (`lanes`), each with micro-batches of its own; what it
        asks of this policy must be `logprobs` alone.
        """
        with model.recomputing(self.base):
            threaded &= not self.net.training and not self.forward.checkpoints()
            with self._folding() if threaded else nullcontext():
                shared = processes or self.processes
                return accumulate(self, records, work, shared, owners, threaded=threaded)

    def measure(
        self,
        records: Sequence[TokenRecord],
        work: Callable[[list[int]], Sequence[T]],
        processes: Processes | None = None,
        owners: Sequence[int] | None = None,
    ) -> list[T]:
        """A value a record by `work`, a forward pass over one of `batches`, without gradients.

        Memory, `processes` and `owners` are as for `accumulate`; every process gets all values.
        """
        return measure(self, records, work, processes or self.processes, owners)

    def idle(self) -> None:
        """A pass over a single token, whose gradients are zero; see `sharding`."""
        prompts, answers = [Prompt((self.forward.pad_id,), ())], [self.stops[:1]]
        logits, _ = self.forward.answer_logits(prompts, answers, {}, share=False)
        if logits.requires_grad:
            (0 * logits[0, 0, 0]).backward()

    def unite(self) -> None:
        """Bring divided weights together, to sample with; every process calls this, or none."""
        if self.shards is not None:
            self.shards.unite()

    def logprobs(
        self,
        records: Sequence[TokenRecord],
        screenshots: ScreenshotSource,
        *,
        temperature: float | None = None,
        share: bool | None = None,
    ) -> list[Tensor]:
        """The log-probability, in nats, of each output token: one 1-D float32 tensor a record.

        They carry gradients and are of the distribution that was sampled from: each record's own
        temperature unless one is given. All micro-batches' graphs are alive until ``backward``; to
        bound memory, call this and ``backward`` for one of `batches` at a time. `share` forces or
        forbids one pass for equal prompts; by default it is done where it pays. Where it is given,
        turns are not merged: each record then has a row of its own. Where the weights are divided,
        inside `accumulate` and `measure`, all goes in one pass.

        Raises:
            UserError: a prompt's image tokens are not those of its pictures.
        """
        found: dict[int, Tensor] = {}
        with self._folding():
            for batch in self.batches(records) if self.shards is None else [range(len(records))]:
                part = [records[i] for i in batch]
                features = self.eyes.look([key for r in part for key in r.images], screenshots)
                scored = score(
                    self.forward, part, features, self.suppressed,
                    temperature=temperature, share=share, merge_turns=self.merge_turns,
                    one_pass=self.shards is not None,
                )  # fmt: skip
                found.update(zip(batch, scored, strict=True))
        return [found[i] for i in range(len(records))]

    def _folding(self) -> AbstractContextManager[None]:
        folds = self.merge and not self.forward.checkpoints()
        return lora.folded(self.base) if folds else nullcontext()

    def supervised_loss(
        self, records: Sequence[TokenRecord], screenshots: ScreenshotSource
    ) -> tuple[Tensor, float]:
        """The weighted sum of negative log-probabilities, in nats, and the sum of the weights.

        A sum, so that micro-batches add up: divide by the weight of the whole batch.
        """
        scored = self.logprobs(records, screenshots, temperature=1.0)
        return weighed(scored, records, self.device)

    # -- the model --

    @property
    def base(self) -> Any:
        """The bare model: adapters, if any, live inside its layers."""
        return self.net.get_base_model() if isinstance(self.net, PeftModel) else self.net

    @property
    def has_adapter(self) -> bool:
        """Whether an adapter is what is trained, rather than all weights."""
        return isinstance(self.net, PeftModel)

    @property
    def device(self) -> torch.device:
        device: torch.device = self.base.device
        return device

    def parameters(self) -> list[nn.Parameter]:
        """What an optimizer trains."""
        return [p for p in self.net.parameters() if p.requires_grad]

    def train(self) -> None:
        """Training mode: dropout, if the model has any. Sampling leaves it for its duration."""
        self.net.train()

    def eval(self) -> None:
        """Evaluation mode, which a policy begins in."""
        self.net.eval()

    def reference(self) -> AbstractContextManager[Any]:
        """A context in which the policy is what training began with: the model, with the adapter
        as it was loaded, if it was.

        Raises:
            UserError: there is no adapter, so what was before is gone.
        """
        if not isinstance(self.net, PeftModel):
            raise UserError(
                "a reference needs an adapter to turn off: set policy.lora_rank above 0"
            )
        if self.begun is not None:
            return lora.exchanged(self.net, self.begun)
        return self.net.disable_adapter()

    def save(self, folder: Path) -> None:
        """Write what is trained: the adapter in PEFT's layout, or the whole model without one."""
        if isinstance(self.net, PeftModel):
            lora.save(self.net, folder, self.name)
        else:
            self.save_merged(folder)

    def load(self, folder: Path) -> None:
        """Take over, exactly, the weights that `save` wrote."""
        if isinstance(self.net, PeftModel):
            lora.restore(self.net, folder)
        else:
            saved = model.load_model(folder, dtype="float32", device="cpu")
            self.net.load_state_dict(saved.state_dict())
        self.eyes.forget()
        self._relieve()

    def close(self) -> None:
        """Let go of the sampler's server, if there is one. Closing twice is harmless."""
        if self.sampler is not None:
            self.sampler.close()

    def save_merged(self, folder: Path) -> None:
        """Write a full checkpoint, the adapter added to the weights: a model to load by itself.

        Raises:
            UserError: the weights are divided among processes.
        """
        if self.shards is not None:
            raise UserError(
                "the weights are divided among processes (--policy.shard): save the adapter, and "
                "merge it in one process"
            )
        with lora.merged(self.base):
            model.save_model(self.base, self.processor, folder)
        self.prompt.save(folder)


def _prompted(question: EngineQuestion, pictures: Given) -> Prompt:
    """A question's ids, its pictures among those that are given."""
    return Prompt(question.ids, tuple(pictures.add(image) for image in question.images))
