"""Screens of the Camera app, each reached by touch."""

from __future__ import annotations

from collections.abc import Callable

from driving import tap

from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

CAMERA = "com.android.camera2"


def opened(phone: Phone, screen: PhoneScreen) -> None:
    phone.launch(CAMERA)
    screen.refresh()


def shot(phone: Phone, screen: PhoneScreen) -> None:
    opened(phone, screen)
    tap(screen, "Shutter")


def selfie(phone: Phone, screen: PhoneScreen) -> None:
    shot(phone, screen)
    tap(screen, "Switch to front camera")


def recording(phone: Phone, screen: PhoneScreen) -> None:
    shot(phone, screen)
    tap(screen, "Video")
    tap(screen, "Start recording")
    phone.clock.advance(70)
    screen.refresh()


def photo(phone: Phone, screen: PhoneScreen) -> None:
    shot(phone, screen)
    tap(screen, "Shutter")
    tap(screen, "Most recent photo")


def film(phone: Phone, screen: PhoneScreen) -> None:
    recording(phone, screen)
    tap(screen, "Stop recording")
    tap(screen, "Most recent photo")


def delete(phone: Phone, screen: PhoneScreen) -> None:
    photo(phone, screen)
    tap(screen, "Delete")


def refused(phone: Phone, screen: PhoneScreen) -> None:
    phone.packages[CAMERA].permissions["CAMERA"] = False
    opened(phone, screen)


SCENES: dict[str, Callable[[Phone, PhoneScreen], None]] = {
    "camera": opened,
    "shot": shot,
    "selfie": selfie,
    "recording": recording,
    "photo": photo,
    "film": film,
    "delete": delete,
    "refused": refused,
}
