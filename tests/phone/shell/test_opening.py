"""The commands on a phone as it leaves the factory: with its own apps and screen."""

from __future__ import annotations

import pytest

from ui_gym_phone.handset import Handset
from ui_gym_phone.state import contacts
from ui_gym_phone.state.intents import SETTINGS_PAGES


@pytest.fixture(scope="module")
def handset() -> Handset:
    return Handset()


def seen(handset: Handset) -> str:
    return handset.shell("dumpsys window | grep mCurrentFocus").text.rstrip("}").rpartition(" ")[2]


def test_every_page_of_settings_opens_by_its_action(handset):
    for action, cls in SETTINGS_PAGES.items():
        result = handset.shell(f"am start -S -a android.settings.{action}")
        assert (result.code, result.stderr) == (0, b""), action
        assert (
            seen(handset)
            == f"com.android.settings/com.android.settings{cls}"
            == (handset.focused_window)
        )


@pytest.mark.parametrize(
    ("words", "focus"),
    [
        ("-d https://news.example", "com.android.browser/com.android.browser.BrowserActivity"),
        ("-d sms:5551", "com.android.messaging/com.android.messaging.ConversationActivity"),
        ("-d tel:5551", "com.android.dialer/com.android.dialer.DialtactsActivity"),
        ("-d content://com.android.contacts/contacts/1",
         "com.android.contacts/com.android.contacts.quickcontact.QuickContactActivity"),
        ("-d market://details?id=com.example.chess",
         "com.android.vending/com.android.vending.AppDetailsActivity"),
        ("-d file:///sdcard/Documents/a.txt",
         "com.android.documentsui/com.android.documentsui.ViewerActivity"),
    ],
)  # fmt: skip
def test_what_is_to_be_shown_is_shown_by_its_app(handset, words, focus):
    handset.renew()
    contacts.add(handset.phone, "Ada", "5551")
    handset.files.write("/sdcard/Documents/a.txt", b"words")
    assert handset.shell(f"am start -a android.intent.action.VIEW {words}").code == 0
    assert seen(handset) == focus == handset.focused_window
    assert "<hierarchy" in handset.shell("uiautomator dump /dev/tty").text


def test_an_open_keyboard_is_told_and_typed_on(handset):
    handset.renew()
    handset.shell("am start -a android.intent.action.VIEW -d sms:5551")
    assert "mInputShown=false" in handset.shell("dumpsys input_method").text
    tree = handset.shell("uiautomator dump /dev/tty").text
    field = tree[: tree.index('class="android.widget.EditText"')].rpartition("<node")[0]
    box = tree[len(field) :].partition('bounds="[')[2].partition('"')[0]
    left, top, right, bottom = (int(n) for n in box.replace("][", ",").strip("]").split(","))
    handset.shell(f"input tap {(left + right) // 2} {(top + bottom) // 2}")
    assert "mInputShown=true" in handset.shell("dumpsys input_method").text
    handset.shell("input text 'Good%smorning' && am broadcast -a ADB_INPUT_B64 --es msg w6k=")
    assert 'text="Good morningé"' in handset.shell("uiautomator dump /dev/tty").text
