"""Sampling computes what came since an episode's last turn, and says the same."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
import torch
from policy_helpers import FULL, Make, MakeView, difference, shake

from tests.policy.tiny_models import picture
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.episode import TokenRecord, Turn
from ui_gym_agents.policy import PromptBuilder, VLMPolicy, load_policy
from ui_gym_agents.policy.reuse import Room
from ui_gym_agents.store import ScreenshotStore
from ui_gym_agents.training.parts import run_policy
from ui_gym_agents.training.settings import EnvSettings, PolicySettings, RunConfig

CHAT = PromptBuilder(system="Look at the screen.", history=9, recall=0)
NONE, MUCH = Room(turns=0), Room(turns=1 << 30)
KINDS = ["qwen2_5_vl", "qwen3_vl", "qwen2_vl", "llava", "idefics3", "smolvlm"]


class Game:
    """Episodes side by side, one a slot: after each turn a new picture, a function of slot, turn
    and what was said."""

    def __init__(self, screenshots: ScreenshotStore, slots: Sequence[int], goal: str = "") -> None:
        self.screenshots = screenshots
        self.slots = list(slots)
        self.goal = goal or "Enter row 3"
        self.images = {slot: [self._seen(slot, 0)] for slot in slots}
        self.turns: dict[int, list[Turn]] = {slot: [] for slot in slots}
        self.records: list[TokenRecord] = []

    def _seen(self, slot: int, turn: int) -> object:
        image = picture(100 * slot + turn)
        self.screenshots.put(image)
        return image

    def views(self) -> list[View]:
        return [
            View(slot, self.goal, self.images[slot], turns=self.turns[slot],
                 noise=1000 * slot + len(self.turns[slot]))
            for slot in self.slots
        ]  # fmt: skip

    def play(self, policy: VLMPolicy, turns: int) -> list[TokenRecord]:
        """Play on; the records of these turns, by turn and slot."""
        found = []
        for _ in range(turns):
            found += self.take(policy.act(self.views()))
        return found

    def take(self, decisions: Sequence[Decision]) -> list[TokenRecord]:
        found = []
        for slot, decision in zip(self.slots, decisions, strict=True):
            assert decision.tokens is not None
            found.append(decision.tokens)
            self.turns[slot].append(Turn("", decision.action_text))
            self.images[slot].append(self._seen(slot, len(self.turns[slot])))
        self.records += found
        return found


Play = Callable[..., Game]


@pytest.fixture
def play(screenshots: ScreenshotStore) -> Play:
    def make(slots: Sequence[int] = (0, 1, 2), goal: str = "") -> Game:
        return Game(screenshots, slots, goal)

    return make


def chatting(make: Make, kind: str = "qwen3_vl", room: Room = MUCH, **more: object) -> VLMPolicy:
    """A policy that says words alone: bytes that are no text would be other ids when told again."""
    policy = make(kind, **{"prompt": CHAT, "lora_rank": 2, "max_new_tokens": 5, **more}, room=room)
    shake(policy)
    allowed = policy.tokenizer(" row Carl Abel First Last 3", add_special_tokens=False)["input_ids"]
    policy.suppressed[[i for i in range(len(policy.suppressed)) if i not in allowed]] = True
    policy.suppressed[policy.stops] = False
    return policy


def computed(policy: VLMPolicy) -> list[int]:
    """Filled with the tokens a row of each prompt's pass from now on; steps of decoding are 1."""
    tokens: list[int] = []
    policy.base.model.language_model.register_forward_pre_hook(
        lambda module, args, kwargs: tokens.append(kwargs["inputs_embeds"].shape[1]),
        with_kwargs=True,
    )
    return tokens


def said(records: Sequence[TokenRecord]) -> list[tuple[int, ...]]:
    return [record.output_ids for record in records]


def apart(mine: Sequence[TokenRecord], theirs: Sequence[TokenRecord]) -> float:
    return max(
        abs(a - b)
        for one, other in zip(mine, theirs, strict=True)
        for a, b in zip(one.logprobs, other.logprobs, strict=True)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_those_of_prompts_that_are_computed_whole(
    kind: str, make_policy: Make, play: Play, screenshots: ScreenshotStore
) -> None:
    policy = chatting(make_policy, kind)
    mine = play().play(policy, 4)
    theirs = play().play(chatting(make_policy, kind, NONE), 4)
    assert [r.prompt_ids for r in mine] == [r.prompt_ids for r in theirs]
    assert said(mine) == said(theirs)
    assert apart(mine, theirs) < 1e-5
    assert difference(policy, mine, screenshots) < 1e-5
    found = policy.metrics()
    assert found["merged_turns"] == 0.75
    assert found["reused_tokens"] > 0.5


def test_the_shipped_model_says_the_same(play: Play, screenshots: ScreenshotStore) -> None:
    prompt = replace(CHAT, system="")
    more = {"prompt": prompt, "lora_rank": 2, "max_new_tokens": 24, "threads": 1}
    policy = load_policy("tiny-clerk", **more)  # type: ignore[arg-type]
    mine = play().play(policy, 4)
    whole = load_policy("tiny-clerk", room=NONE, **more)  # type: ignore[arg-type]
    theirs = play().play(whole, 4)
    assert said(mine) == said(theirs)
    assert apart(mine, theirs) < 1e-5
    assert difference(policy, mine, screenshots) < 1e-5
    assert policy.metrics()["merged_turns"] == 0.75
    assert "merged_turns" not in whole.metrics()


def test_what_came_since_the_last_turn_is_computed_alone(make_policy: Make, play: Play) -> None:
    policy = chatting(make_policy)
    game = play(slots=(0,))
    first = game.play(policy, 3)[-1]
    tokens = computed(policy)
    (record,) = game.play(policy, 1)
    assert tokens[0] == len(record.prompt_ids) - len(first.prompt_ids)


def test_equal_words_with_another_picture_are_computed(make_policy: Make, play: Play) -> None:
    policy, whole = chatting(make_policy), chatting(make_policy, room=NONE)
    game = play(slots=(0,))
    game.play(policy, 2)
    before = policy.act(game.views())
    game.images[0][1] = picture(77)  # nobody's, with the same number of tokens
    after = policy.act(game.views())
    assert before[0].tokens is not None
    assert after[0].tokens is not None
    assert after[0].tokens.prompt_ids == before[0].tokens.prompt_ids
    (expected,) = whole.act(game.views())
    assert expected.tokens is not None
    assert apart([after[0].tokens], [expected.tokens]) < 1e-5
    assert apart([after[0].tokens], [before[0].tokens]) > 1e-4


def test_a_window_that_slides_is_computed_and_one_that_loses_several_goes_on(
    make_policy: Make, play: Play
) -> None:
    def merged(drop: int) -> tuple[float, list[int]]:
        policy = chatting(make_policy, prompt=replace(CHAT, history=4, drop=drop))
        game = play(slots=(0,))
        game.play(policy, 4)
        policy.metrics()
        records = game.play(policy, 6)
        return policy.metrics()["merged_turns"], [len(r.images) for r in records]

    assert merged(1) == (0, [4] * 6)
    assert merged(3) == (pytest.approx(4 / 6), [2, 3, 4, 2, 3, 4])


def test_rows_that_begin_join_rows_that_go_on(
    make_policy: Make, play: Play, screenshots: ScreenshotStore
) -> None:
    policy, whole = chatting(make_policy), chatting(make_policy, room=NONE)
    games = {}
    for one in (policy, whole):
        old, new = play(slots=(0, 3)), play(slots=(1, 2), goal="Enter row 4 now")
        old.play(one, 3)
        for _ in range(2):
            a, b, c, d = old.views() + new.views()
            answers = one.act([c, a, d, b])
            old.take([answers[1], answers[3]])
            new.take([answers[0], answers[2]])
        games[one] = old.records + new.records
    assert said(games[policy]) == said(games[whole])
    assert apart(games[policy], games[whole]) < 1e-5
    assert difference(policy, games[policy], screenshots) < 1e-5


def test_nothing_that_other_weights_computed_is_used(make_policy: Make, play: Play) -> None:
    """In the middle of an episode, as where a policy plays ahead while it learns."""
    policy = chatting(make_policy)
    game = play(slots=(0,))
    game.play(policy, 2)
    with torch.no_grad():  # an optimizer's step, after which nobody counted the version up
        for parameter in policy.parameters():
            parameter.mul_(1.5)
    policy.metrics()
    other = copy.deepcopy(game)
    game.play(policy, 1)
    assert policy.metrics()["reused_tokens"] == 0
    whole = chatting(make_policy, room=NONE)
    whole.net.load_state_dict(policy.net.state_dict())
    other.play(whole, 1)
    assert apart(game.records, other.records) < 1e-5
    policy.version += 1
    game.play(policy, 1)
    assert policy.metrics()["reused_tokens"] == 0


def test_the_reference_uses_nothing_of_the_adapters(make_policy: Make, play: Play) -> None:
    policy = chatting(make_policy)
    game = play(slots=(0,))
    game.play(policy, 2)
    policy.metrics()
    with policy.reference():
        policy.act(game.views())
    assert policy.metrics()["reused_tokens"] == 0


def test_an_episode_says_the_same_to_the_bit_whatever_was_played_before(
    make_policy: Make, play: Play
) -> None:
    """So that a run which was resumed, with nothing remembered, repeats the one that was not."""
    policy = chatting(make_policy)
    play(slots=(0, 1, 2), goal="Enter row 3").play(policy, 3)
    mine = play().play(policy, 4)
    theirs = play().play(chatting(make_policy), 4)
    assert [r.logprobs for r in mine] == [r.logprobs for r in theirs]


def test_memory_is_bounded_and_what_fits_is_used(make_policy: Make, play: Play) -> None:
    policy = chatting(make_policy)
    play().play(policy, 3)
    assert policy.earlier is not None
    assert len(policy.earlier) == 3
    whole = policy.earlier.nbytes
    for slot in range(3):
        policy.ended(slot)
    assert (len(policy.earlier), policy.earlier.nbytes) == (0, 0)
    small = chatting(make_policy, room=Room(turns=whole * 2 // 3 + 1))
    game = play()
    game.play(small, 3)
    assert small.earlier is not None
    assert len(small.earlier) == 2
    small.metrics()
    game.play(small, 1)
    assert small.metrics()["merged_turns"] == pytest.approx(2 / 3)
    assert small.earlier.nbytes <= small.earlier.limit


def test_what_nobody_asks_for_any_more_makes_room(make_policy: Make, play: Play) -> None:
    policy = chatting(make_policy)
    play(slots=(0, 1, 2)).play(policy, 3)
    assert policy.earlier is not None
    policy.earlier.limit = policy.earlier.nbytes
    game = play(slots=(7,))
    game.play(policy, 7)
    policy.metrics()
    game.play(policy, 1)
    assert policy.metrics()["merged_turns"] == 1


@pytest.mark.parametrize("error", FULL)
def test_it_is_let_go_of_where_memory_runs_out(
    error: Exception, make_policy: Make, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = chatting(make_policy)
    game = play()
    game.play(policy, 2)
    calls: list[int] = []
    go_on = policy.forward.go_on

    def failing(*arguments: object) -> object:
        calls.append(1)
        if len(calls) == 1:
            raise error
        return go_on(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(policy.forward, "go_on", failing)
    rows = policy.batch_rows
    game.play(policy, 1)
    assert policy.batch_rows == rows, "the batch was not too large"
    whole = play().play(chatting(make_policy, room=NONE), 3)
    assert said(game.records) == said(whole)


def test_a_copy_remembers_for_itself(make_policy: Make, play: Play) -> None:
    policy = chatting(make_policy)
    game = play()
    game.play(policy, 2)
    double = copy.deepcopy(policy)
    assert double.earlier is not None
    assert len(double.earlier) == 0
    policy.metrics()
    game.play(double, 2)
    assert policy.metrics()["merged_turns"] == 0.5, "its counts are the policy's own"


def test_one_picture_needs_nothing_of_it(make_policy: Make, make_view: MakeView) -> None:
    policy = make_policy(lora_rank=2)
    policy.act([make_view()])
    assert policy.earlier is not None
    assert len(policy.earlier) == 0
    assert "merged_turns" not in policy.metrics()


def test_the_settings_of_a_run_reach_its_policy() -> None:
    def made(**policy: object) -> VLMPolicy:
        config = RunConfig(
            env=EnvSettings(num_envs=4), policy=PolicySettings(history=3, device="cpu", **policy)
        )
        return run_policy(config, pytest.fail, seed=0)

    policy = made(history_drop=2, reuse_bytes=1000, picture_bytes=5)
    assert policy.earlier is not None
    assert (policy.earlier.limit, policy.eyes.limit, policy.eyes.least) == (1000, 5, 0)
    assert (policy.prompt.history, policy.prompt.drop) == (3, 2)
    policy = made()
    assert policy.eyes.least == 4 * 3
    assert policy.earlier is not None
    assert policy.earlier.limit == 2 << 30
    assert made(reuse_bytes=0).earlier is None
