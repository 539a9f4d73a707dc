"""AsyncEpisode: an episode for a program of asyncio."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import paint
import pytest

from ui_gym.errors import DeviceError, UserError
from ui_gym_agents.integrations.episodes import AsyncEpisode, needs, new_episode

pytestmark = pytest.mark.usefixtures("held")


def test_episodes_of_one_loop_are_played_at_the_same_time_and_closed(held: list[Any]) -> None:
    meeting = threading.Barrier(3, timeout=20)
    perform = paint.PaintDevice.perform

    def met(device: paint.PaintDevice, action: Any) -> None:
        meeting.wait()
        perform(device, action)

    async def play(seed: int) -> int:
        async with AsyncEpisode("PaintText", {}) as episode:
            await episode.reset(seed)
            await episode.act("click(1, 1)")
            return len(held)

    async def main() -> list[int]:
        return await asyncio.gather(*(play(seed) for seed in range(3)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paint.PaintDevice, "perform", met)
        assert max(asyncio.run(main())) == 3


def test_who_is_cancelled_in_the_middle_of_an_action_closes_the_env_after_it() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(device: paint.PaintDevice, action: Any) -> None:
        begun.set()
        assert go_on.wait(20)

    async def play() -> None:
        async with AsyncEpisode("PaintText", {}) as episode:
            await episode.reset(1)
            await episode.act("click(1, 1)")

    async def main() -> None:
        playing = asyncio.create_task(play())
        await asyncio.to_thread(begun.wait, 20)
        playing.cancel()
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await playing

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paint.PaintDevice, "perform", slow)
        asyncio.run(main())


def test_a_device_that_fails_is_no_fault_of_the_models() -> None:
    async def main() -> None:
        async with AsyncEpisode("PaintText", {"device": "paint:lose_on=boom"}) as episode:
            await episode.reset(1)
            await episode.act("click(1, 1); type('boom')")

    with pytest.raises(DeviceError, match="the paint has dried"):
        asyncio.run(main())


def test_episodes_of_the_same_arguments_share_a_pool() -> None:
    pools = []
    acquire = paint.PaintPool.acquire

    def noted(pool: paint.PaintPool) -> paint.PaintDevice:
        pools.append(pool)
        return acquire(pool)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paint.PaintPool, "acquire", noted)
        for boxes in (2, 2, 3):
            episode = new_episode("PaintText", {"boxes": boxes})
            episode.reset(seed=1)
            episode.close()
    assert pools[0] is pools[1] is not pools[2]


def test_a_task_that_is_not_there_is_told() -> None:
    with pytest.raises(UserError, match="PaintText"):
        new_episode("PaintTexts", {})


def test_a_package_of_another_version_is_told_with_the_range() -> None:
    needs("numpy", "1", "99", "x")
    for oldest, too_new in (("1", "1.1"), ("98", "99")):
        with pytest.raises(UserError, match=rf"pip install 'numpy>={oldest},<{too_new}'"):
            needs("numpy", oldest, too_new, "x")
    with pytest.raises(UserError, match=r"pip install 'ui-gym\[x\]'"):
        needs("no-such-package", "1", "2", "x")
