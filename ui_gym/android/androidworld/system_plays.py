"""Plays of what AndroidWorld asks of the system and of the phone's own apps."""

from __future__ import annotations

from collections.abc import Iterator

from ui_gym.android import moves
from ui_gym.android.androidworld.playbook import WorldGoal, altered, careless, other_way, plays
from ui_gym.android.device import AndroidDevice
from ui_gym.android.tasks.sliders import SLIDER, slide
from ui_gym.android.toggles import TOGGLES, switch_to
from ui_gym.contract.action import Action, Press, Type

APPS = {
    "camera": "Camera",
    "clock": "Clock",
    "contacts": "Contacts",
    "settings": "Settings",
    "dialer": "Phone",
}
"""What the launcher calls the apps of AndroidWorld's names."""

_OTHERS = {"camera": "clock"}


def _wrong_app(params: dict[str, str]) -> dict[str, str]:
    return {**params, "app_name": _OTHERS.get(params["app_name"], "camera")}


@plays(
    "SystemWifiTurnOn", "SystemWifiTurnOff", "SystemWifiTurnOnVerify", "SystemWifiTurnOffVerify",
    near=other_way("on_or_off", "on", "off"),
)  # fmt: skip
def wifi(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from switch_to(device, TOGGLES["wifi"], goal["on_or_off"] == "on")


@plays(
    "SystemBluetoothTurnOn", "SystemBluetoothTurnOff", "SystemBluetoothTurnOnVerify",
    "SystemBluetoothTurnOffVerify", near=other_way("on_or_off", "on", "off"),
)  # fmt: skip
def bluetooth(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from switch_to(device, TOGGLES["bluetooth"], goal["on_or_off"] == "on")


@plays(
    "SystemBrightnessMin", "SystemBrightnessMax", "SystemBrightnessMinVerify",
    "SystemBrightnessMaxVerify", near=other_way("max_or_min", "max", "min"),
)  # fmt: skip
def brightness(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from moves.launch(device, "Settings")
    yield from moves.tap(device, "Display")
    yield from slide(device, SLIDER, float(goal["max_or_min"] == "max"))


@plays("TurnOffWifiAndTurnOnBluetooth", near=careless)
def wifi_and_bluetooth(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    """``careless``: Bluetooth is forgotten."""
    yield from switch_to(device, TOGGLES["wifi"], False)
    if "careless" not in goal:
        yield from switch_to(device, TOGGLES["bluetooth"], True)


@plays("TurnOnWifiAndOpenApp", near=_wrong_app)
def wifi_and_app(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from switch_to(device, TOGGLES["wifi"], True)
    yield from open_app(device, goal)


@plays("OpenAppTaskEval", near=_wrong_app)
def open_app(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from moves.launch(device, APPS[goal["app_name"]])


@plays(
    "SystemCopyToClipboard", near=lambda params: {**params, "clipboard_content": "something else"}
)
def copy_text(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    """A text is typed wherever there is a field, marked and copied."""
    yield from moves.launch(device, "Settings")
    yield from moves.tap(device, "Search settings")
    yield Type(goal["clipboard_content"])
    yield Press("ctrl+a")
    yield Press("ctrl+c")


@plays("CameraTakePhoto", near=careless)
def photo(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    """``careless``: two photos are taken."""
    yield from moves.launch(device, "Camera")
    for _ in range(2 if "careless" in goal else 1):
        yield from moves.tap(device, "Shutter")


@plays("CameraTakeVideo", near=careless)
def video(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    """``careless``: a photo is taken."""
    yield from moves.launch(device, "Camera")
    if "careless" in goal:
        yield from moves.tap(device, "Shutter")
        return
    yield from moves.path(device, "Video", "Start recording", "Stop recording")


@plays("AudioRecorderRecordAudio", near=careless)
def record(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    """``careless``: what was recorded is not saved."""
    yield from moves.launch(device, "Audio Recorder")
    yield from moves.path(device, "Record", "Stop")
    yield from moves.tap(device, "DISCARD" if "careless" in goal else "SAVE", role="button")


@plays("AudioRecorderRecordAudioWithFileName", near=altered("file_name"))
def record_named(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from moves.launch(device, "Audio Recorder")
    yield from moves.path(device, "Record", "Stop")
    yield Type(goal["file_name"], clear=True)  # the field has the caret
    yield from moves.tap(device, "SAVE", role="button")


@plays("ClockStopWatchRunning", near=careless)
def stopwatch(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    """``careless``: it is paused again."""
    yield from moves.launch(device, "Clock")
    yield from moves.path(device, "Stopwatch", "Start")
    if "careless" in goal:
        yield from moves.tap(device, "Pause")


@plays("ClockStopWatchPausedVerify", near=careless)
def stopped(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    """``careless``: it is started."""
    yield from moves.launch(device, "Clock")
    yield from moves.tap(device, "Stopwatch")
    if "careless" in goal:
        yield from moves.tap(device, "Start")


def _an_hour_more(params: dict[str, int]) -> dict[str, int]:
    return {**params, "hours": params["hours"] + 1}


@plays("ClockTimerEntry", near=_an_hour_more)
def timer(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from moves.launch(device, "Clock")
    yield from moves.tap(device, "Timer")
    digits = f"{goal['hours']:02}{goal['minutes']:02}{goal['seconds']:02}".lstrip("0")
    for digit in digits:
        yield from moves.tap(device, digit, role="button")


@plays("ContactsAddContact", near=altered("number", "9"))
def contact(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    first, _, last = goal["name"].partition(" ")
    yield from moves.launch(device, "Contacts")
    yield from moves.tap(device, "Create contact")
    yield from moves.fill(device, "First name", first)
    yield from moves.fill(device, "Last name", last)
    yield from moves.fill(device, "Phone", goal["number"])
    yield from moves.tap(device, "Save", role="button")


@plays("ContactsNewContactDraft", near=other_way("phone_label", "Home", "Work"))
def draft(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from moves.launch(device, "Contacts")
    yield from moves.tap(device, "Create contact")
    yield from moves.fill(device, "First name", goal["first"])
    yield from moves.fill(device, "Last name", goal["last"])
    yield from moves.fill(device, "Phone", goal["phone"])
    yield Press("back")  # the keyboard
    yield from moves.tap(device, "Phone label")
    yield from moves.tap(device, goal["phone_label"])


# -- files --


@plays("FilesDeleteFile", near=altered("file_name", "backup_"))
def delete_file(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _folder(device, goal["subfolder"])
    name = goal["file_name"]
    if moves.find(device, name) is None and name.startswith("backup_"):
        return  # somebody looks for another file, and finds none
    yield from moves.hold(device, name)
    yield from moves.path(device, "Delete", "Delete")


def _other_place(params: dict[str, str]) -> dict[str, str]:
    place = "Movies" if params["destination_folder"] != "Movies" else "Music"
    return {**params, "destination_folder": place}


@plays("FilesMoveFile", near=_other_place)
def move_file(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _folder(device, goal["source_folder"])
    yield from moves.hold(device, goal["file_name"])
    yield from moves.path(device, "More options", "Move to…")
    if moves.find(device, goal["destination_folder"]) is None:
        yield from moves.tap(device, "Internal storage")
    yield from moves.tap(device, goal["destination_folder"])
    yield from moves.tap(device, "Move here", role="button")


def _folder(device: AndroidDevice, folder: str) -> Iterator[Action]:
    yield from moves.launch(device, "Files")
    yield from moves.tap(device, "Internal storage", exact=False)
    yield from moves.tap(device, folder)


# -- messages --

FIELD = "Text message"


def _send(device: AndroidDevice, text: str) -> Iterator[Action]:
    yield from moves.fill(device, FIELD, text)
    yield from moves.tap(device, "SMS")


def _chat(device: AndroidDevice, who: str) -> Iterator[Action]:
    named = any(sign.isalpha() for sign in who)
    yield from moves.launch(device, "Simple SMS Messenger")
    if moves.find(device, "Start chat") is None:  # it comes back where it was left
        yield Press("back")
        yield from moves.launch(device, "Simple SMS Messenger")
    yield from moves.tap(device, "Start chat")
    yield from moves.fill(device, "Type a name or phone number", who, enter=not named)
    if named:
        yield from moves.tap(device, who)


@plays("SimpleSmsSend", "SimpleSmsReply", near=altered("message", "Perhaps not: "))
def send(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _chat(device, goal["number"])
    yield from _send(device, goal["message"])


@plays("SimpleSmsReplyMostRecent", near=altered("message", "Perhaps not: "))
def reply(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from moves.launch(device, "Simple SMS Messenger")
    yield from moves.tap(device, goal["number"], exact=False)
    yield from _send(device, goal["message"])


@plays("SimpleSmsSendReceivedAddress", near=altered("message", "Perhaps not: "))
def send_address(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _chat(device, goal["name1"])
    yield from _send(device, goal["message"])


@plays("SimpleSmsResend", near=altered("message", "Perhaps not: "))
def resend(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _chat(device, goal["name"])
    yield from _send(device, goal["message"])


@plays("SimpleSmsSendClipboardContent", near=altered("number", "+9"))
def send_pasted(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _chat(device, goal["number"])
    if moves.find(device, "Paste") is None:
        yield from moves.hold(device, FIELD)
    yield from moves.tap(device, "Paste")
    yield from moves.tap(device, "SMS")
