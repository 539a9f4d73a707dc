"""Screens of the Camera app, each reached by touch."""

from __future__ import annotations

from driving import Scene, scene, waiting

from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

CAMERA = "com.android.camera2"


def refused(phone: Phone, screen: PhoneScreen) -> None:
    phone.packages[CAMERA].permissions["CAMERA"] = False
    phone.launch(CAMERA)


shot = scene(CAMERA, "Shutter")
recording = scene(shot, "Video", "Start recording", waiting(70))
photo = scene(shot, "Shutter", "Most recent photo")

SCENES: dict[str, Scene] = {
    "camera": scene(CAMERA),
    "shot": shot,
    "selfie": scene(shot, "Switch to front camera"),
    "recording": recording,
    "photo": photo,
    "film": scene(recording, "Stop recording", "Most recent photo"),
    "delete": scene(photo, "Delete"),
    "refused": refused,
}
