"""Which phones an env gets, and how it is told that there is none."""

from __future__ import annotations

import pytest

from ui_gym.android.pool import android_pool
from ui_gym.contract.device import DeviceOptions
from ui_gym.errors import DeviceLost, DeviceStartError, UserError
from ui_gym_phone.device import PhoneDevice
from ui_gym_phone.serving import serve

SIZE = (360, 800)


def options(kind: str) -> DeviceOptions:
    return DeviceOptions(kind, SIZE, timeout=5.0)


@pytest.mark.parametrize("kind", ["auto", "phone"])
def test_the_built_in_phone_is_the_default_and_there_are_as_many_as_wanted(kind):
    pool = android_pool(options(kind))
    phones = [pool.acquire() for _ in range(20)]
    assert all(isinstance(phone, PhoneDevice) for phone in phones)
    assert len(set(map(id, phones))) == 20
    pool.close()
    with pytest.raises(DeviceLost, match="switched off"):
        phones[0].capture()


def test_named_phones_are_lent_once_each_and_again_when_they_are_back():
    with serve(0, 2) as ports:
        names = ",".join(f"127.0.0.1:{port}" for port in ports)
        pool = android_pool(options(f"adb-direct:{names}"))
        one, two = pool.acquire(), pool.acquire()
        one.push(b"first", "/sdcard/x")
        assert two.shell("test -e /sdcard/x").code == 1
        with pytest.raises(UserError, match="every machine that was named is in use"):
            pool.acquire()
        pool.release(one, healthy=True)
        again = pool.acquire()
        assert again.shell("cat /sdcard/x").text == "first"
        pool.close()


def test_a_phone_that_cannot_be_reached_is_free_again():
    with serve(0, 1) as ports:
        pool = android_pool(options(f"adb-direct:127.0.0.1:{ports[0]}"))
    with pytest.raises(DeviceStartError):
        pool.acquire()
    with pytest.raises(DeviceStartError):  # not: in use
        pool.acquire()
    pool.close()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("fone", "no device 'fone'.*phone"),
        ("phone:5555", "takes no address"),
        ("adb-direct:5555", "HOST:PORT"),
        ("adb:a,a", "named twice"),
    ],
)
def test_a_kind_that_cannot_be_is_told_at_once(kind, said):
    with pytest.raises(UserError, match=said):
        android_pool(options(kind))


@pytest.mark.parametrize("size", [(100, 800), (5000, 800), (360, 100)])
def test_a_screen_that_no_phone_has_is_refused(size):
    with pytest.raises(UserError, match="built-in phone's screen is"):
        PhoneDevice(DeviceOptions("phone", size))


@pytest.mark.parametrize(
    ("size", "told"),
    [
        ((540, 1200), "1080x2400"), ((360, 800), "1080x2400"), ((1080, 1920), "1080x1920"),
        ((256, 320), "768x960"),
    ],
)  # fmt: skip
def test_the_screen_has_three_pixels_a_dp(size, told):
    phone = PhoneDevice(DeviceOptions("phone", size))
    phone.start()
    assert phone.shell("wm size").text == f"Physical size: {told}"
    assert phone.shell("wm density").text == "Physical density: 480"
    assert phone.capture().image.shape == (size[1], size[0], 3)
    phone.close()


def test_a_port_that_is_taken_is_named():
    with serve(0, 1) as ports, pytest.raises(UserError, match=str(ports[0])), serve(ports[0], 1):
        pass


@pytest.mark.parametrize(
    ("arguments", "said"),
    [((80, 1), "1025 to 65535"), ((65535, 2), "ports from 65535"), ((0, 1, (10, 10)), "screen is")],
)
def test_what_cannot_be_served_is_refused(arguments, said):
    with pytest.raises(UserError, match=said), serve(*arguments):
        pass
