"""Sampling for many requests at once, each with its own seed, temperature, cuts and stops.

The tokens are those of `ui_gym_agents.policy.generation`: one uniform number a token, a function of
the seed alone, taken as a quantile. So a request gets the same tokens whoever its neighbours are,
as far as single precision goes. Log-probabilities are the model's own, at temperature 1 and before
any cut: those that `forward` gives for the same tokens.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from ui_gym.errors import UserError
from ui_gym_agents.policy.generation import decoder, log_distribution, quantile, uniforms
from ui_gym_agents.policy.memory import in_rows
from ui_gym_tinker.server.adapters import Adapter
from ui_gym_tinker.server.errors import BadRequest
from ui_gym_tinker.server.hosted import HostedModel
from ui_gym_tinker.server.inputs import ShownInput, ShownPictures

TAIL = 16
"""Tokens at the end of an answer in which a stop text is looked for first."""


@dataclass(frozen=True)
class SampleSettings:
    """How to sample: `stop_ids` end an answer, and so do `stop_texts`, all of which are kept."""

    temperature: float = 1.0
    top_k: int = 0
    """0: all."""
    top_p: float = 1.0
    max_tokens: int = 64
    stop_ids: frozenset[int] = frozenset()
    stop_texts: tuple[str, ...] = ()
    top: int = 0
    """How many of the likeliest tokens are told at each place."""

    @property
    def plain(self) -> bool:
        """Whether the model's own distribution is sampled from."""
        return self.temperature == 1 and not self.top_k and self.top_p == 1


@dataclass(eq=False)
class GrowingSample:
    """What is sampled for one row, as it grows; `top` has ids and log-probabilities, (k,) each."""

    shown: ShownInput
    settings: SampleSettings
    noise: int
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    top: list[tuple[list[int], list[float]]] = field(default_factory=list)
    stopped: bool = False
    done: bool = False
    abandoned: Callable[[], bool] = lambda: False
    """Whether nobody waits for it any more: its row goes on for nobody."""

    def restart(self) -> None:
        """Forget what was sampled: memory ran out in the middle."""
        self.ids, self.logprobs, self.top = [], [], []
        self.stopped = self.done = False


def seed_of(seed: int, number: int) -> int:
    """The noise of the sample of that number; that of the first is the request's seed itself."""
    if number == 0:
        return seed
    digest = hashlib.sha256(f"{seed}/{number}".encode()).digest()
    return int.from_bytes(digest[:16], "big")


def sample_all(
    model: HostedModel,
    adapter: Adapter | None,
    answers: Sequence[GrowingSample],
    finished: Callable[[GrowingSample], None],
) -> None:
    """Sample `answers`, all from the same weights; `finished` is called as each one ends.

    Raises:
        BadRequest: one row alone does not fit into memory.
    """
    rows = sorted(answers, key=lambda answer: len(answer.shown))

    def part(some: Sequence[GrowingSample]) -> list[GrowingSample]:
        for answer in some:
            if not answer.done:
                answer.restart()
        _sample(model, some, finished)
        return list(some)

    with model.sampling(adapter):
        try:
            in_rows(model.policy, rows, part)
        except UserError:
            raise BadRequest(
                "there is no memory for one sample alone: shorten the prompt, make its pictures "
                "smaller, or lower max_tokens"
            ) from None


@torch.inference_mode()
def _sample(
    model: HostedModel, answers: Sequence[GrowingSample], finished: Callable[[GrowingSample], None]
) -> None:
    policy = model.policy
    prompts = [answer.shown.prompt for answer in answers]
    pictures = ShownPictures([answer.shown for answer in answers])
    features = policy.eyes.look([key for p in prompts for key in p.images], pictures)
    prefix = policy.forward.prefill(prompts, features)
    rows = _Rows(model, answers, prefix.logits.device)
    decode = decoder(policy.forward, prefix)
    logits = prefix.logits
    for step in range(rows.longest):
        tokens = rows.draw(logits, step)
        if rows.take(tokens, finished) or step + 1 == rows.longest:
            break
        logits = decode(tokens, step)


class _Rows:
    """The rows of a batch: what each draws, and when it has ended."""

    def __init__(
        self, model: HostedModel, answers: Sequence[GrowingSample], device: torch.device
    ) -> None:
        self._tokenizer = model.policy.tokenizer
        self._suppressed = model.policy.suppressed
        self._answers = answers
        settings = [answer.settings for answer in answers]
        self.longest = max(s.max_tokens for s in settings)
        draws = [uniforms(answer.noise, self.longest) for answer in answers]
        self._draws = torch.from_numpy(np.stack(draws)).to(device)
        self._plain = all(s.plain for s in settings)
        self._temperature = torch.tensor([s.temperature for s in settings], device=device)[:, None]
        vocabulary = model.vocabulary
        self._top_k = [s.top_k or vocabulary for s in settings]
        self._top_p = torch.tensor([s.top_p for s in settings], device=device)[:, None]
        self._cuts = any(s.top_k or s.top_p < 1 for s in settings)
        self._top = max(s.top for s in settings)
        self._logprobs: list[float] = []
        self._likely: tuple[list[list[int]], list[list[float]]] | None = None

    def draw(self, logits: Tensor, step: int) -> Tensor:
        """The next token of each row (rows,)."""
        logp = log_distribution(logits, 1.0, self._suppressed)
        if self._plain:
            tokens = quantile(logp, self._draws[:, step])
        else:
            tokens = self._shaped(logits, step)
        self._logprobs = logp.gather(-1, tokens[:, None])[:, 0].tolist()
        if self._top:
            values, ids = logp.topk(self._top)
            self._likely = ids.tolist(), values.tolist()
        return tokens

    def _shaped(self, logits: Tensor, step: int) -> Tensor:
        logp = log_distribution(logits, self._temperature, self._suppressed)
        best = logp.argmax(-1)
        if self._cuts:
            logp = self._cut(logp)
        drawn = quantile(logp, self._draws[:, step])
        return torch.where(self._temperature[:, 0] == 0, best, drawn)

    def _cut(self, logp: Tensor) -> Tensor:
        """Without the tokens beyond `top_k`, and those beyond a mass of `top_p`."""
        ranked, order = logp.sort(stable=True, dim=-1, descending=True)
        mass = ranked.double().exp()
        before = mass.cumsum(-1) - mass
        place = torch.arange(logp.shape[-1], device=logp.device)
        limit = torch.tensor(self._top_k, device=logp.device)[:, None]
        # The first token stays whatever the cuts are.
        out = ((before >= self._top_p) | (place >= limit)) & (place > 0)
        return logp.masked_fill(torch.zeros_like(out).scatter(-1, order, out), float("-inf"))

    def take(self, tokens: Tensor, finished: Callable[[GrowingSample], None]) -> bool:
        """Add the drawn tokens to their answers; whether all have ended."""
        going = False
        for row, token in enumerate(tokens.tolist()):
            answer = self._answers[row]
            if answer.done or answer.abandoned():
                continue
            answer.ids.append(token)
            answer.logprobs.append(self._logprobs[row])
            settings = answer.settings
            if settings.top and self._likely is not None:
                ids, values = self._likely
                answer.top.append((ids[row][: settings.top], values[row][: settings.top]))
            answer.stopped = token in settings.stop_ids or self._says_stop(answer)
            if answer.stopped or len(answer.ids) >= settings.max_tokens:
                answer.done = True
                finished(answer)
            else:
                going = True
        return not going

    def _says_stop(self, answer: GrowingSample) -> bool:
        texts = answer.settings.stop_texts
        if not texts:
            return False
        tail = max(TAIL, max(map(len, texts)))
        said = self._tokenizer.decode(answer.ids[-tail:], skip_special_tokens=False)
        return any(text in said for text in texts)
