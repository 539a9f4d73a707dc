"""What ``device="qemu:..."`` says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ui_gym.desktop.qemu.settings import QemuSettings
from ui_gym.errors import UserError


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "machine.qcow2"
    path.write_bytes(b"QFI\xfb" + bytes(100))
    return path


def test_an_image_alone_is_enough(image: Path):
    settings = QemuSettings.parse(f"qemu:{image}")
    assert settings.image == image
    assert 1 <= settings.cores <= 4


def test_settings_follow_the_image(image: Path):
    settings = QemuSettings.parse(f"qemu:{image}?memory=4096&cores=3&boot=600.5&firmware={image}")
    assert (settings.memory, settings.cores, settings.boot) == (4096, 3, 600.5)
    assert settings.firmware == image


def test_the_options_of_a_device_are_settings_too_where_they_are_known(image: Path):
    settings = QemuSettings.parse(
        f"qemu:{image}?cores=3", {"cores": "1", "rest": "0", "settle": "1"}
    )
    assert (settings.cores, settings.rest) == (3, 0.0)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("memry=4096", "has no setting 'memry'. Did you mean 'memory'"),
        ("memory=4G", "memory is a number from 64 to 1048576, not '4G'"),
        ("memory=1.5", "memory is a number"),
        ("cores=0", "cores is a number from 1 to 255, not '0'"),
        ("boot=nan", "boot is a number"),
        ("firmware=/nowhere/OVMF.fd", "there is no firmware /nowhere/OVMF.fd"),
    ],
    ids=["unknown", "unit", "fraction", "zero", "nan", "missing"],
)
def test_a_wrong_setting_is_named(image: Path, query: str, message: str):
    with pytest.raises(UserError) as told:
        QemuSettings.parse(f"qemu:{image}?{query}")
    assert message in str(told.value)


@pytest.mark.parametrize("kind", ["qemu", "qemu:", "qemu:?memory=64"])
def test_an_image_must_be_named(kind: str):
    with pytest.raises(UserError, match=r"say which image, as in device='qemu:IMAGE.qcow2'"):
        QemuSettings.parse(kind)


def test_a_missing_image_says_how_one_is_made(tmp_path: Path):
    with pytest.raises(UserError, match=r"there is no image .*/none.qcow2; docs/qemu.md says how"):
        QemuSettings.parse(f"qemu:{tmp_path}/none.qcow2")


def test_an_image_of_another_format_says_how_it_is_converted(tmp_path: Path):
    other = tmp_path / "machine.vmdk"
    other.write_bytes(b"KDMV")
    with pytest.raises(UserError, match=r"is no qcow2 image.*qemu-img convert -O qcow2"):
        QemuSettings.parse(f"qemu:{other}")


@pytest.mark.parametrize(
    ("version", "where", "value"), [(2, 15, 1), (3, 15, 1), (3, 79, 4)], ids=["v2", "v3", "data"]
)
def test_an_image_that_needs_another_file_is_refused(
    image: Path, version: int, where: int, value: int
):
    header = bytearray(b"QFI\xfb" + version.to_bytes(4, "big") + bytes(96))
    image.write_bytes(header)
    assert QemuSettings.parse(f"qemu:{image}").image == image
    header[where] = value
    image.write_bytes(header)
    with pytest.raises(UserError, match=r"flatten it: qemu-img convert"):
        QemuSettings.parse(f"qemu:{image}")
