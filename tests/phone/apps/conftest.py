"""A phone as it leaves the factory, and its screen."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from ui_gym_phone.factory import factory_phone
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen


@pytest.fixture
def phone() -> Phone:
    return factory_phone()


@pytest.fixture
def screen(phone: Phone) -> PhoneScreen:
    return PhoneScreen(phone)
