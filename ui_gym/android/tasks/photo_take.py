"""Take photos."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from ui_gym.android import facts, moves
from ui_gym.android.checks import ShellCheck
from ui_gym.android.content import scenes, texts
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.device import AndroidDevice
from ui_gym.android.facts import EXCESSES
from ui_gym.android.task import AndroidTask, Steps
from ui_gym.contract.draws import Rng, between
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register

CAMERA = "/sdcard/DCIM/Camera"
BEFORE = "/data/local/tmp/ui-gym-photos"
"""Where it is kept how many there were at the start."""

PHOTOS = f"ls {CAMERA} | grep '[.]jpg$' | wc -l"

NUMBERS = ("one photo", "two photos", "three photos")


@dataclass(frozen=True)
class PhotoTakeParams:
    count: int
    """How many photos are asked for."""
    video: bool
    """Whether a video is taken for a photo: only somebody careless does."""
    others: int
    """How many are in the folder at the start."""
    scene: StartScene
    phrasing: int


@register(
    "AndroidPhotoTake", suite="android", category="app", difficulty="easy", max_steps=10,
    tags=("camera",),
)  # fmt: skip
class AndroidPhotoTake(AndroidTask[PhotoTakeParams]):
    """Take one, two or three photos.

    ## Description
    The goal says how many photos are to be taken with the Camera app. Others are in its folder.

    ## Rewards
    1 if ``ls`` tells so many more ``.jpg`` files in ``/sdcard/DCIM/Camera`` than there were.

    ## Starting state
    The home screen or a page of the Settings.

    ## Episode end
    Termination: so many were taken.
    """

    apps = ("com.android.camera2",)
    mistakes = ("video", "fewer")
    excesses = (*EXCESSES, "twice")
    goals = texts.goals("AndroidPhotoTake")

    def sample(self, rng: Rng) -> PhotoTakeParams:
        return PhotoTakeParams(
            count=between(rng, 1, len(NUMBERS)),
            video=False,
            others=between(rng, 0, 4),
            scene=scenes.draw(rng),
            phrasing=between(rng, 0, len(self.goals) - 1),
        )

    def goal(self, params: PhotoTakeParams) -> str:
        return self.goals[params.phrasing].format(photos=NUMBERS[params.count - 1])

    def prepare(self, params: PhotoTakeParams) -> Sequence[str]:
        names = [f"{CAMERA}/IMG_20230{i + 4}12_10{i}500.jpg" for i in range(params.others)]
        lines = [f"mkdir -p {CAMERA}", *(f"printf %s {name} > {name}" for name in names)]
        return [*lines, f"{PHOTOS} > {BEFORE}", *params.scene.lines()]

    def checks(self, params: PhotoTakeParams) -> Sequence[ShellCheck]:
        line = f"echo $(( $({PHOTOS}) - $(cat {BEFORE}) ))"
        return [ShellCheck("photos", line, str(params.count))]

    def twice(self, params: PhotoTakeParams) -> Sequence[str]:
        names = [f"{CAMERA}/IMG_20230112_11{i}500.jpg" for i in range(params.count + 1)]
        return [f"printf %s {name} > {name}" for name in names]

    def may_change(self, params: PhotoTakeParams) -> Sequence[AllowedChange]:
        return [AllowedChange(facts.file(f"{CAMERA}/*.jpg"), gone=0, new=params.count)]

    def oracle(self, device: AndroidDevice, params: PhotoTakeParams) -> Steps:
        yield from moves.launch(device, "Camera")
        if params.video:
            yield from moves.tap(device, "Video")
            yield from moves.tap(device, "Start recording")
            yield from moves.tap(device, "Stop recording")
            return
        for _ in range(params.count):
            yield from moves.tap(device, "Shutter")

    def misread(self, params: PhotoTakeParams, mistake: str, rng: Rng) -> PhotoTakeParams:
        """``video``: a video is taken. ``fewer``: a photo is missing."""
        if mistake == "video":
            return dataclasses.replace(params, video=True)
        return dataclasses.replace(params, count=max(1, params.count - 1))
