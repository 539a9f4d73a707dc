"""Screens of the Camera app, each reached by touch."""

from __future__ import annotations

from collections.abc import Callable

from driving import tap

from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import Screen

CAMERA = "com.android.camera2"


def opened(phone: Phone, screen: Screen) -> None:
    phone.launch(CAMERA)
    screen.refresh()


def shot(phone: Phone, screen: Screen) -> None:
    opened(phone, screen)
    tap(screen, "Shutter")


def selfie(phone: Phone, screen: Screen) -> None:
    shot(phone, screen)
    tap(screen, "Switch to front camera")


def recording(phone: Phone, screen: Screen) -> None:
    shot(phone, screen)
    tap(screen, "Video")
    tap(screen, "Start recording")
    phone.clock.advance(70)
    screen.refresh()


def photo(phone: Phone, screen: Screen) -> None:
    shot(phone, screen)
    tap(screen, "Shutter")
    tap(screen, "Most recent photo")


def film(phone: Phone, screen: Screen) -> None:
    recording(phone, screen)
    tap(screen, "Stop recording")
    tap(screen, "Most recent photo")


def delete(phone: Phone, screen: Screen) -> None:
    photo(phone, screen)
    tap(screen, "Delete")


def refused(phone: Phone, screen: Screen) -> None:
    phone.packages[CAMERA].permissions["CAMERA"] = False
    opened(phone, screen)


SCENES: dict[str, Callable[[Phone, Screen], None]] = {
    "camera": opened,
    "shot": shot,
    "selfie": selfie,
    "recording": recording,
    "photo": photo,
    "film": film,
    "delete": delete,
    "refused": refused,
}
