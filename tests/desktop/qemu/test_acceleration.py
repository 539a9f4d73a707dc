"""Whether a machine can be accelerated here."""

from __future__ import annotations

import json
from pathlib import Path

import guests
import pytest

from ui_gym.desktop.qemu import acceleration as module
from ui_gym.desktop.qemu.acceleration import (
    VARIABLE,
    acceleration,
    memory_file,
    probe_acceleration,
)
from ui_gym.desktop.qemu.liveness import await_life
from ui_gym.desktop.qemu.settings import QemuSettings
from ui_gym.errors import DeviceStartError, DeviceTimeout, UserError


@pytest.fixture
def settings(tmp_path: Path) -> QemuSettings:
    image = tmp_path / "machine.qcow2"
    image.write_bytes(b"QFI\xfb")
    return QemuSettings(image, memory=64, cores=1, probe=1.0)


@pytest.fixture
def kvm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that seems to have KVM."""
    device = tmp_path / "kvm"
    device.touch()
    monkeypatch.setattr(module, "KVM", device)
    return device


@pytest.fixture
def probes(monkeypatch: pytest.MonkeyPatch) -> list[QemuSettings]:
    """What is asked of probes, which find that KVM works."""
    asked: list[QemuSettings] = []
    monkeypatch.setattr(
        module, "probe_acceleration", lambda s: (asked.append(s), ("kvm", "it was alive"))[1]
    )
    return asked


@pytest.mark.parametrize("word", ["kvm", "tcg"])
def test_the_environment_decides(settings, kvm, probes, monkeypatch, word: str):
    monkeypatch.setenv(VARIABLE, word)
    assert acceleration(settings) == word
    assert probes == []
    assert not memory_file().exists()


def test_the_environment_says_one_of_two_words(settings, monkeypatch):
    monkeypatch.setenv(VARIABLE, "hvf")
    with pytest.raises(UserError, match="UI_GYM_QEMU_ACCEL is 'kvm' or 'tcg', not 'hvf'"):
        acceleration(settings)


def test_without_kvm_nothing_is_probed(settings, kvm, probes):
    kvm.unlink()
    assert acceleration(settings) == "tcg"
    assert probes == []


def test_what_was_found_out_is_remembered_for_the_image(settings, kvm, probes):
    assert [acceleration(settings) for _ in range(3)] == ["kvm"] * 3
    assert len(probes) == 1
    (entry,) = json.loads(memory_file().read_text()).values()
    assert entry == {"image": str(settings.image), "use": "kvm", "why": "it was alive"}
    settings.image.write_bytes(b"QFI\xfb another")
    acceleration(settings)
    assert len(probes) == 2


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}'], ids=["cut", "list", "other"])
def test_a_damaged_memory_is_asked_anew(settings, kvm, probes, text: str):
    memory_file().parent.mkdir(parents=True)
    memory_file().write_text(text)
    assert acceleration(settings) == "kvm"
    assert len(probes) == 1


def test_a_home_that_cannot_be_written_to_costs_only_probes(settings, kvm, probes):
    memory_file().parent.parent.mkdir(parents=True)
    memory_file().parent.write_text("a file where a folder should be")
    assert [acceleration(settings) for _ in range(2)] == ["kvm", "kvm"]
    assert len(probes) == 2


@guests.needs_qemu
def test_a_guest_that_stays_dead_is_run_in_software(tmp_path: Path):
    """Whatever this machine can: an empty disk comes to life nowhere."""
    dead = QemuSettings(guests.image(tmp_path), memory=64, cores=1, probe=1.0)
    use, why = probe_acceleration(dead)
    assert use == "tcg"
    assert "no sign of life within 1 s" in why or "ended at once" in why


@guests.needs_qemu
def test_a_kernel_that_speaks_is_a_sign_of_life(switch_on):
    assert await_life(switch_on(), 60) == "kernel"


@guests.needs_qemu
def test_firmware_is_no_sign_of_life(switch_on, tmp_path: Path):
    vm = switch_on(guests.image(tmp_path))
    with pytest.raises(DeviceTimeout, match="no sign of life within 1 s"):
        await_life(vm, 1)


def test_a_probe_without_qemu_names_its_packages(settings, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DeviceStartError, match="apt-get install"):
        probe_acceleration(settings)
