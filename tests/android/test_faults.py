"""A phone that is lost ends its slot's episode alone, and is there again at the next reset."""

from __future__ import annotations

import threading

import gymnasium as gym
import numpy as np
import pytest
from serving import free_port

from ui_gym.android.pool import android_pool
from ui_gym.contract.device import DeviceOptions
from ui_gym.errors import DeviceError
from ui_gym.playing.env import UIEnv
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_phone.adbd import AdbServer
from ui_gym_phone.handset import Handset

TASK = "AndroidQuickSettings"
SIZE = (360, 800)


def test_a_phone_that_is_lost_in_mid_episode_is_named_and_found_again():
    port = free_port()
    server = AdbServer(Handset(), port=port)
    env = UIEnv(TASK, device=f"adb-direct:127.0.0.1:{port}", viewport=SIZE, timeout=5)
    try:
        first, _ = env.reset(seed=1)
        server.close()
        _, reward, terminated, truncated, info = env.step("click(100, 100)")
        assert (reward, terminated, truncated) == (0.0, False, True)
        assert f"127.0.0.1:{port}" in info["failure"]

        server = AdbServer(Handset(), port=port)
        again, info = env.reset(seed=1)
        assert info["failure"] is None
        assert np.array_equal(again["screenshot"], first["screenshot"])
    finally:
        env.close()
        server.close()


def test_a_phone_that_starts_anew_is_waited_for():
    port = free_port()
    server = AdbServer(Handset(), port=port)
    env = UIEnv(TASK, device=f"adb-direct:127.0.0.1:{port}", viewport=SIZE, timeout=5)
    again: list[AdbServer] = []
    booting = threading.Timer(3, lambda: again.append(AdbServer(Handset(), port=port)))
    try:
        first, _ = env.reset(seed=1)
        server.close()
        env.step("click(100, 100)")
        booting.start()
        after, info = env.reset(seed=1)
        assert again
        assert info["failure"] is None
        assert np.array_equal(after["screenshot"], first["screenshot"])
    finally:
        booting.cancel()
        env.close()
        for one in (server, *again):
            one.close()


def test_a_phone_that_does_not_come_back_ends_in_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ui_gym.playing.pool.STARTING_ANEW", 1.5)
    port = free_port()
    server = AdbServer(Handset(), port=port)
    env = UIEnv(TASK, device=f"adb-direct:127.0.0.1:{port}", viewport=SIZE, timeout=5)
    env.reset(seed=1)
    server.close()
    with pytest.raises(DeviceError, match=f"(?s)3 resets in a row.*127.0.0.1:{port}"):
        env.reset(seed=1)
    env.close()


def test_a_phone_that_stays_away_ends_in_an_error_that_says_so():
    port = free_port()
    env = UIEnv(TASK, device=f"adb-direct:127.0.0.1:{port}", viewport=SIZE, timeout=2)
    with pytest.raises(DeviceError, match=f"(?s)127.0.0.1:{port}.*ui-gym doctor"):
        env.reset(seed=1)
    env.close()


def test_the_other_slots_do_not_notice():
    ports = [free_port() for _ in range(2)]
    servers = [AdbServer(Handset(serial=f"p{i}"), port=port) for i, port in enumerate(ports)]
    names = ",".join(f"127.0.0.1:{port}" for port in ports)
    envs = UIVectorEnv(
        task=TASK, num_envs=2, device=f"adb-direct:{names}", viewport=SIZE, timeout=5,
        autoreset_mode=gym.vector.AutoresetMode.DISABLED,
    )  # fmt: skip
    try:
        envs.reset(seed=[1, 1])
        servers[0].close()
        *_, truncated, infos = envs.step(("click(100, 100)",) * 2)
        assert sorted(truncated.tolist()) == [False, True]
        lost = int(np.argmax(truncated))
        assert "device:" in infos["failure"][lost]
        servers[0] = AdbServer(Handset(serial="p0"), port=ports[0])
        observations, _ = envs.reset(seed=[1, 1], options={"reset_mask": truncated})
        assert observations["screenshot"][lost].any()
    finally:
        envs.close()
        for server in servers:
            server.close()


def test_a_full_storage_is_feedback_not_the_end():
    env = UIEnv(TASK, viewport=SIZE)
    env.reset(seed=1)
    env.device.push(bytes(60_000_000), "/sdcard/big")
    assert b"No space left on device" in env.device.shell("cp /sdcard/big /sdcard/more").stderr
    *_, truncated, info = env.step("press('volume_up')")
    assert not truncated
    assert info["failure"] is None
    env.close()


def test_a_phone_of_an_unknown_version_is_played_all_the_same():
    handset = Handset()
    handset.phone.properties["ro.build.version.sdk"] = "Baklava"
    with AdbServer(handset) as server:
        pool = android_pool(DeviceOptions(f"adb-direct:127.0.0.1:{server.port}", SIZE, 5.0))
        phone = pool.acquire()
        assert phone.capture().image.any()
        pool.close()
