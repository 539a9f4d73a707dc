"""A vision-language model as an agent that can be trained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

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
from ui_gym_agents.policy.encoding import PromptEncoder
from ui_gym_agents.policy.eyes import Eyes, Features
from ui_gym_agents.policy.forward import Forward, Prompt
from ui_gym_agents.policy.generation import Sample, log_distribution, sample
from ui_gym_agents.policy.images import Given, ScreenshotSource
from ui_gym_agents.policy.memory import in_rows
from ui_gym_agents.policy.merging import Merged, merge
from ui_gym_agents.policy.parallel import Processes
from ui_gym_agents.policy.prompts import PromptBuilder
from ui_gym_agents.policy.weights import resolve

T = TypeVar("T")

SMALL = 30_000_000
"""Models of fewer parameters run on one CPU thread unless told otherwise, and sample with the
adapter merged. Two threads gain them little, and lose much when the envs want a core: with both
cores of two busy, a learning step took ten times as long on two threads as on one."""


class SamplingAgent(Protocol):
    """Who samples in place of a policy's own process: `engines.agent.EngineAgent`."""

    def act_as(self, policy: VLMPolicy, views: Sequence[View]) -> list[Decision]:
        """An answer for each view, with the weights, version and temperature of `policy`."""

    def submit_as(self, policy: VLMPolicy) -> Submit | None:
        """Asks for one view's answer as `act_as` does; None where batches alone are answered."""

    def metrics(self) -> dict[str, float]:
        """What was measured since the last time, by names of metrics."""

    def close(self) -> None:
        """Let go of whatever samples."""


class VLMPolicy:
    """Any `AutoModelForImageTextToText`, sampling turns and scoring them again for a learner.

    `net` is the model, inside a `PeftModel` if it has an adapter. `version` counts updates: a
    learner adds one after each, and every record says which it was sampled by. `temperature` may
    be set at any time; 0 takes the best token always. `batch_rows` bounds the rows of a batch when
    sampling, `batch_tokens` the tokens of a micro-batch when learning; both are halved where memory
    runs out. `act_threads` is how many CPU threads sampling uses, `merge` whether it adds the
    adapter to the weights first. `merge_turns` scores the turns of a conversation in one pass where
    their prompts extend each other (`merging`).
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
        merge: bool = False,
        merge_turns: bool = False,
        name: str = "",
    ) -> None:
        self.net = net
        self.processor = processor
        self.tokenizer = processor.tokenizer
        self.prompt = prompt
        self.temperature = temperature
        self.max_new_tokens = max_new_tokens
        self.batch_rows = batch_rows
        self.batch_tokens = batch_tokens
        self.act_threads = act_threads
        self.merge = merge
        self.merge_turns = merge_turns
        self.name = name
        self.version = 0
        self.processes = Processes()
        """Those that learn together; set after it was made."""
        self.sampler: SamplingAgent | None = None
        """Samples in place of this process; set after it was made for this policy."""
        base = self.base
        self.stops = model.stop_ids(base, self.tokenizer)
        structural = model.structural_ids(base, self.tokenizer, self.stops)
        self.encoder = PromptEncoder(processor, [*structural, *self.stops])
        self.eyes = Eyes(base, processor.image_processor)
        pad = self.tokenizer.pad_token_id
        self.forward = Forward(
            base, self.eyes, self.encoder.image_id, self.stops[0] if pad is None else pad
        )
        width = base.get_output_embeddings().weight.shape[0]
        self.suppressed = torch.zeros(width, dtype=torch.bool, device=base.device)
        self.suppressed[sorted({*structural, self.encoder.image_id})] = True

    @classmethod
    def from_config(
        cls,
        name: str | Path,
        *,
        adapter: str | Path | None = None,
        lora_rank: int = 0,
        lora_alpha: float | None = None,
        lora_targets: str | Sequence[str] = "auto",
        temperature: float = 1.0,
        max_new_tokens: int = 64,
        prompt: PromptBuilder | None = None,
        dtype: str = "float32",
        device: str = "cpu",
        threads: int | None = None,
        act_threads: int | None = None,
        batch_rows: int = 64,
        batch_tokens: int = 4096,
        gradient_checkpointing: bool = False,
        merge_turns: bool = False,
        seed: int = 0,
    ) -> Self:
        """Load a model by shipped name or folder, with an adapter, a fresh one, or none.

        `adapter` is a PEFT folder; otherwise `lora_rank` above zero attaches a fresh adapter,
        seeded by `seed` (`lora_alpha` defaults to twice the rank; `lora_targets`: see
        `lora.target_modules`). With neither, all weights are trained. `prompt` defaults to what
        the folder's ``prompt.json`` says, and to `PromptBuilder()` without one. `threads` sets
        torch's CPU threads for the whole process, `act_threads` those of sampling alone; None is
        one thread for a small model, and else what torch has.
        `gradient_checkpointing` trades time for memory in `accumulate` and in training mode.

        Raises:
            UserError: no such model, adapter, dtype or layer.
        """
        folder = resolve(name)
        on_cpu = torch.device(device).type == "cpu"
        if on_cpu:
            cpu.keep_freed_memory()
        net: Any = model.load_model(folder, dtype=dtype, device=device)
        if gradient_checkpointing:
            model.checkpoint_activations(net)
        small = on_cpu and sum(p.numel() for p in net.parameters()) < SMALL
        if threads or small:
            torch.set_num_threads(threads or 1)
        if adapter is not None:
            net = lora.load(net, Path(adapter))
        elif lora_rank:
            alpha = 2 * lora_rank if lora_alpha is None else lora_alpha
            net = lora.attach(net, rank=lora_rank, alpha=alpha, targets=lora_targets, seed=seed)
        return cls(
            net,
            model.load_processor(folder),
            prompt or PromptBuilder.of(folder) or PromptBuilder(),
            temperature=temperature,
            max_new_tokens=max_new_tokens,
            act_threads=1 if act_threads is None and small else act_threads,
            merge=small and dtype == "float32" and lora.is_plain(net),
            batch_rows=batch_rows,
            batch_tokens=batch_tokens,
            merge_turns=merge_turns,
            name=str(name),
        )

    # -- acting --

    def act(self, views: Sequence[View]) -> list[Decision]:
        """Sample an answer for each view, seeded by its `noise`; on `sampler`, if there is one."""
        if self.sampler is not None:
            return self.sampler.act_as(self, views)
        with self._sampling():
            return in_rows(self, views, self._act)

    @property
    def submit(self) -> Submit | None:
        """Asks `sampler` for one view's answer; None where this process answers, in batches."""
        return None if self.sampler is None else self.sampler.submit_as(self)

    def _act(self, views: Sequence[View]) -> list[Decision]:
        pictures = Given()
        prompts = [self._prompt(view, pictures) for view in views]
        noise = [view.noise for view in views]
        samples = self._sample(prompts, noise, pictures, self.temperature, self.max_new_tokens)
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

    def decision(self, ids: tuple[int, ...], **sampled: Any) -> Decision:
        """What was sampled as an agent's decision; `sampled` are fields of its `TokenRecord`."""
        record = TokenRecord(output_ids=ids, temperature=self.temperature, **sampled)
        return Decision(self.text(ids), record)

    @torch.inference_mode()
    def _sample(
        self,
        prompts: Sequence[Prompt],
        noise: Sequence[int],
        pictures: ScreenshotSource,
        temperature: float,
        max_new_tokens: int,
    ) -> list[Sample]:
        features = self.eyes.look([key for p in prompts for key in p.images], pictures)
        return sample(
            self.forward,
            self.forward.prefill(prompts, features),
            noise=noise,
            temperature=temperature,
            max_new_tokens=max_new_tokens,
            stops=self.stops,
            suppressed=self.suppressed,
        )

    def _prompt(self, view: View, pictures: Given) -> Prompt:
        return _prompted(self.question(view), pictures)

    def question(self, view: View) -> EngineQuestion:
        """What an engine is asked for a view: the prompt in words and in ids, and its pictures."""
        messages, shown = self.prompt.build(view)
        messages = self.encoder.defused(messages)
        images = view.screenshots[len(view.screenshots) - shown :]
        ids = self.encoder.encode(messages, [image.shape[:2] for image in images])
        return EngineQuestion(messages, images, tuple(ids), view.noise)

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
            return in_rows(self, questions, answer)

    @contextmanager
    def _sampling(self) -> Iterator[None]:
        """What makes sampling quick, and dropout is off."""
        weights = lora.merged(self.base) if self.merge else nullcontext()
        with cpu.threads(self.act_threads), self._evaluating(), weights:
            yield

    def text(self, ids: Sequence[int]) -> str:
        """The words of an answer, without its end token."""
        kept = ids[:-1] if ids and ids[-1] in self.stops else ids
        return str(self.tokenizer.decode(kept, skip_special_tokens=True))

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
    ) -> list[T]:
        """Call `work`, a forward and a backward pass, for each of `batches`; see `accumulation`.

        Where memory runs out, smaller micro-batches take over; with several `processes` (its own,
        if None), each does its share, that of `owners` if given. With `gradient_checkpointing`,
        layers are computed again on the way back, whatever mode the model is in.
        """
        with model.recomputing(self.base):
            return accumulate(self, records, work, processes or self.processes, owners)

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
        turns are not merged: each record then has a row of its own.

        Raises:
            UserError: a prompt's image tokens are not those of its pictures.
        """
        found: dict[int, Tensor] = {}
        fold = self.merge and not self.forward.checkpoints()
        with lora.folded(self.base) if fold else nullcontext():
            for batch in self.batches(records):
                part = [records[i] for i in batch]
                scored = self._score(part, screenshots, temperature, share)
                found.update(zip(batch, scored, strict=True))
        return [found[i] for i in range(len(records))]

    def _score(
        self,
        records: Sequence[TokenRecord],
        screenshots: ScreenshotSource,
        temperature: float | None,
        share: bool | None,
    ) -> list[Tensor]:
        features = self.eyes.look([key for r in records for key in r.images], screenshots)
        if self.merge_turns and share is None:
            sequences = merge(records)
            if len(sequences) < len(records):
                return self._score_merged(records, sequences, features, temperature)
        prompts = [Prompt(r.prompt_ids, r.images) for r in records]
        answers = [r.output_ids for r in records]
        logits, ids = self.forward.answer_logits(prompts, answers, features, share=share)
        own = [r.temperature if temperature is None else temperature for r in records]
        scale = torch.tensor(own, device=logits.device)[:, None, None]
        logp = log_distribution(logits, scale, self.suppressed)
        picked = logp.gather(-1, ids[..., None])[..., 0]
        return [picked[row, : len(answer)] for row, answer in enumerate(answers)]

    def _score_merged(
        self,
        records: Sequence[TokenRecord],
        sequences: Sequence[Merged],
        features: Mapping[str, Features],
        temperature: float | None,
    ) -> list[Tensor]:
        found: dict[int, Tensor] = {}
        logits = self.forward.sequence_logits(sequences, features)
        for sequence, answers in zip(sequences, logits, strict=True):
            for index, rows in zip(sequence.members, answers, strict=True):
                record = records[index]
                scale = record.temperature if temperature is None else temperature
                logp = log_distribution(rows, scale, self.suppressed)
                ids = torch.tensor(record.output_ids, device=logp.device)
                found[index] = logp.gather(-1, ids[:, None])[:, 0]
        return [found[i] for i in range(len(records))]

    def supervised_loss(
        self, records: Sequence[TokenRecord], screenshots: ScreenshotSource
    ) -> tuple[Tensor, float]:
        """The weighted sum of negative log-probabilities, in nats, and the sum of the weights.

        A sum, so that micro-batches add up: divide by the weight of the whole batch.
        """
        total = torch.zeros((), device=self.device)
        weight = 0.0
        scored = self.logprobs(records, screenshots, temperature=1.0)
        for record, values in zip(records, scored, strict=True):
            weights = record.weights or (1.0,) * len(record.output_ids)
            total = total - values @ torch.tensor(weights, device=values.device)
            weight += sum(weights)
        return total, weight

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
    def suppressed_ids(self) -> list[int]:
        """The ids that are never sampled."""
        return [int(i) for i in self.suppressed.nonzero()[:, 0]]

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

    @contextmanager
    def _evaluating(self) -> Iterator[None]:
        was = self.net.training
        self.net.eval()
        try:
            yield
        finally:
            self.net.train(was)

    def reference(self) -> AbstractContextManager[Any]:
        """A context in which the adapter is off: the model before any training.

        Raises:
            UserError: there is no adapter, so what was before is gone.
        """
        if not isinstance(self.net, PeftModel):
            raise UserError(
                "a reference needs an adapter to turn off: set policy.lora_rank above 0"
            )
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

    def close(self) -> None:
        """Let go of the sampler's server, if there is one. Closing twice is harmless."""
        if self.sampler is not None:
            self.sampler.close()

    def save_merged(self, folder: Path) -> None:
        """Write a full checkpoint, the adapter added to the weights: a model to load by itself."""
        with lora.merged(self.base):
            model.save_model(self.base, self.processor, folder)
        self.prompt.save(folder)


def _prompted(question: EngineQuestion, pictures: Given) -> Prompt:
    """A question's ids, its pictures among those that are given."""
    return Prompt(question.ids, tuple(pictures.add(image) for image in question.images))
