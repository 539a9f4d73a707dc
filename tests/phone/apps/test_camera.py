"""The Camera app, by touch."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from driving import back, find, has, tap
from gallery_camera import CAMERA
from PIL import Image

from ui_gym_phone.ui.painter import Painter

FOLDER = "/sdcard/DCIM/Camera"


def test_the_shutter_takes_one_photo_named_by_the_clock(phone, screen):
    phone.launch(CAMERA)
    tap(screen, "Shutter")
    assert phone.files.list(FOLDER) == ["IMG_20231015_153400.jpg"]
    photo = Image.open(BytesIO(phone.files.read(f"{FOLDER}/IMG_20231015_153400.jpg")))
    assert (photo.format, photo.size) == ("JPEG", (480, 640))


def test_two_photos_in_one_second_have_two_names(phone, screen):
    phone.launch(CAMERA)
    left, top, right, bottom = find(screen, "Shutter").bounds
    for _ in range(2):
        screen.tap((left + right) // 2, (top + bottom) // 2)
    assert phone.files.list(FOLDER) == ["IMG_20231015_153400.jpg", "IMG_20231015_153400_1.jpg"]


def test_the_front_camera_sees_something_else(phone, screen):
    phone.launch(CAMERA)
    painter = Painter(270, 600, 0.25)
    behind = screen.paint(painter).copy()
    tap(screen, "Switch to front camera")
    assert np.abs(screen.paint(painter).astype(int) - behind).mean() > 10
    assert has(screen, "Switch to back camera")


def test_a_video_is_recorded_from_start_to_stop(phone, screen):
    phone.launch(CAMERA)
    tap(screen, "Video", "Start recording")
    phone.clock.advance(64)
    assert has(screen, "01:05")
    assert phone.files.list(FOLDER) == []
    tap(screen, "Stop recording")
    [name] = phone.files.list(FOLDER)
    assert name.startswith("VID_20231015_")
    assert phone.files.read(f"{FOLDER}/{name}")[4:8] == b"ftyp"


def test_the_thumbnail_opens_the_last_photo_which_can_be_deleted(phone, screen):
    phone.launch(CAMERA)
    assert not has(screen, "Most recent photo")
    tap(screen, "Shutter", "Shutter", "Most recent photo")
    assert has(screen, "IMG_20231015_153401.jpg")
    screen.swipe(900, 1000, 100, 1000)
    assert has(screen, "2 of 2")
    tap(screen, "Delete", "Delete")
    assert phone.files.list(FOLDER) == ["IMG_20231015_153401.jpg"]
    back(screen)
    assert has(screen, "Shutter")


def test_without_its_permission_it_takes_no_photo_and_leads_to_settings(phone, screen):
    phone.packages[CAMERA].permissions["CAMERA"] = False
    phone.launch(CAMERA)
    assert not has(screen, "Shutter")
    tap(screen, "Don't allow", "Open settings")
    assert phone.activity.package == "com.android.settings"
    assert phone.activity.extras == {"package": CAMERA}


def test_a_full_storage_is_told(phone, screen):
    phone.files.quota = phone.files.used
    phone.launch(CAMERA)
    tap(screen, "Shutter")
    assert phone.toasting == "No space left on device"
    assert phone.files.list(FOLDER) == []
