"""am and monkey: what is started, what is said, and what has the focus then."""

from __future__ import annotations

import pytest

FOCUS = "dumpsys window | grep mCurrentFocus"
SETTINGS = "com.android.settings/com.android.settings.Settings"


def focus(sh) -> str:
    return sh(FOCUS).strip().removesuffix("}").rpartition(" ")[2]


def test_an_activity_is_started_and_has_the_focus(sh):
    assert sh("am start -n com.android.settings/.Settings") == (
        "Starting: Intent { cmp=com.android.settings/.Settings }\n"
    )
    assert focus(sh) == SETTINGS
    assert sh("dumpsys window | grep -c mCurrentFocus") == "1\n"
    assert sh("dumpsys window windows | grep -c mCurrentFocus") == "1\n"
    out = sh("dumpsys activity activities")
    assert "    mResumedActivity: ActivityRecord{" in out
    assert "  topResumedActivity=ActivityRecord{" in out
    assert " u0 com.android.settings/.Settings t2}\n" in out


def test_what_is_on_top_is_not_started_again(sh):
    sh("am start -n com.android.settings/.Settings")
    sh("am start -n com.android.settings/.Settings")
    assert sh.code == 0
    assert sh.err == (
        "Warning: Activity not started, intent has been delivered to currently running "
        "top-most instance.\n"
    )
    sh("am start -n com.example.chess/.MainActivity; am start -n com.android.settings/.Settings")
    assert "its current task has been brought to the front" in sh.err
    assert focus(sh) == SETTINGS


def test_what_does_not_exist_is_an_error(sh):
    out = sh("am start -n com.android.settings/.Nope")
    assert out == "Starting: Intent { cmp=com.android.settings/.Nope }\n"
    assert sh.code != 0
    assert sh.err == (
        "Error type 3\n"
        "Error: Activity class {com.android.settings/com.android.settings.Nope} does not exist.\n"
    )
    sh("am start -a no.such.ACTION")
    assert sh.err == (
        "Error: Activity not started, unable to resolve Intent { act=no.such.ACTION }\n"
    )
    sh("am start -n nonsense")
    assert sh.err == "Error: Bad component name: nonsense\n"


def test_waiting_tells_how_it_started(sh):
    lines = sh("am start -W -a android.settings.WIFI_SETTINGS").splitlines()
    assert lines[:4] == [
        "Starting: Intent { act=android.settings.WIFI_SETTINGS }",
        "Status: ok",
        "LaunchState: COLD",
        "Activity: com.android.settings/.Settings$WifiSettingsActivity",
    ]
    assert lines[-1] == "Complete"
    again = sh("am start -W -a android.settings.WIFI_SETTINGS").splitlines()
    assert again[1].endswith("delivered to currently running top-most instance.")
    assert again[3] == "LaunchState: HOT"
    assert len(sh.phone.tasks[0].activities) == 1
    assert sh.err == ""
    assert sh("am start -W -n a.b/.C").splitlines()[1:] == [
        "Error type 3",
        "Error: Activity class {a.b/a.b.C} does not exist.",
    ]


def test_a_page_of_settings_of_a_package(sh):
    sh("am start -a android.settings.APPLICATION_DETAILS_SETTINGS -d package:com.example.chess")
    activity = sh.phone.activity
    assert activity.cls == ".Settings$AppInfoActivity"
    assert activity.extras["package"] == "com.example.chess"


@pytest.mark.parametrize(
    ("words", "package", "cls", "extras"),
    [
        ("-a android.intent.action.VIEW -d https://news.example/a?b=c", "com.android.browser",
         ".BrowserActivity", {"url": "https://news.example/a?b=c"}),
        ("-a android.intent.action.SENDTO -d sms:5551234 --es sms_body 'a b'",
         "com.android.messaging", ".ConversationActivity", {"number": "5551234", "body": "a b"}),
        ("-a android.intent.action.SENDTO -d smsto:555%201234?body=x", "com.android.messaging",
         ".ConversationActivity", {"number": "555 1234", "body": "x"}),
        ("-a android.intent.action.DIAL -d tel:5551234", "com.android.dialer",
         ".main.impl.MainActivity", {"number": "5551234"}),
        ("-a android.intent.action.VIEW -d content://com.android.contacts/contacts/3",
         "com.android.contacts", ".activities.PeopleActivity", {"id": 3}),
        ("-c android.intent.category.APP_BROWSER", "com.android.browser", ".BrowserActivity", {}),
        ("https://x.example", "com.android.browser", ".BrowserActivity",
         {"url": "https://x.example"}),
        ("com.example.chess", "com.example.chess", ".MainActivity", {}),
    ],
)  # fmt: skip
def test_intents_find_who_answers_them(sh, words, package, cls, extras):
    sh(f"am start {words}")
    assert (sh.code, sh.err) == (0, "")
    activity = sh.phone.activity
    assert (activity.package, activity.cls) == (package, cls)
    assert extras.items() <= activity.extras.items()


def test_extras_have_their_types(sh):
    sh(
        "am start -n com.example.chess/.MainActivity --es s 'x y' --ei i 7 --ez b true --ef f 1.5"
        " --esa l a,b --esn n"
    )
    assert sh.phone.activity.extras == {
        "s": "x y", "i": 7, "b": True, "f": 1.5, "l": ["a", "b"], "n": None,
    }  # fmt: skip
    sh("am start -n com.example.chess/.MainActivity --ei i seven")
    assert sh.code == 255


def test_an_alarm_is_set_by_its_intent(sh):
    key = "android.intent.extra.alarm"
    sh(f"am start -a android.intent.action.SET_ALARM --ei {key}.HOUR 7 --ei {key}.MINUTES 30"
       f" --es {key}.MESSAGE Gym")  # fmt: skip
    assert focus(sh) == "com.google.android.deskclock/com.android.deskclock.DeskClock"
    path = "/data/user_de/0/com.google.android.deskclock/databases/alarms.db"
    assert sh(f"sqlite3 {path} 'SELECT hour, minutes, label, enabled FROM alarm_templates'") == (
        "7|30|Gym|1\n"
    )


def test_home_and_the_stacks(sh):
    sh("am start -n com.android.settings/.Settings")
    sh("am start -a android.intent.action.MAIN -c android.intent.category.HOME")
    assert focus(sh) == "com.android.launcher3/com.android.launcher3.Launcher"
    assert sh("am stack list").startswith(
        "RootTask id=1 bounds=[0,0][1080,2400] displayId=0 userId=0\n"
        "  taskId=1: com.android.launcher3/com.android.launcher3.Launcher "
        "bounds=[0,0][1080,2400] userId=0 visible=true "
        "topActivity=ComponentInfo{com.android.launcher3/com.android.launcher3.Launcher}\n"
    )
    sh("am start -n com.android.settings/.Settings")
    assert sh("am stack list | grep -E visible=true") == (
        f"  taskId=2: {SETTINGS} bounds=[0,0][1080,2400] userId=0 visible=true "
        f"topActivity=ComponentInfo{{{SETTINGS}}}\n"
    )


def test_what_lies_over_the_app_has_the_focus(sh):
    sh("cmd statusbar expand-notifications")
    assert focus(sh) == "NotificationShade"
    sh("cmd statusbar collapse")
    assert "launcher" in focus(sh)
    sh.phone.awake = False
    assert sh(FOCUS) == "  mCurrentFocus=null\n"
    assert sh("dumpsys power | grep mWakefulness=") == "  mWakefulness=Asleep\n"


def test_force_stop_closes_and_marks(sh):
    sh("am start -n com.example.chess/.MainActivity")
    assert sh("am force-stop com.example.chess; am force-stop no.such") == ""
    assert "launcher" in focus(sh)
    assert sh("dumpsys package com.example.chess | grep -o stopped=....") == "stopped=true\n"
    sh("monkey -p com.example.chess 1")
    assert sh("dumpsys package com.example.chess | grep -o stopped=.....") == "stopped=false\n"


def test_the_clipboard_by_broadcast(sh):
    assert sh("am broadcast -a clipper.get").splitlines()[-1] == "Broadcast completed: result=0"
    sh("am broadcast -a clipper.set -e text 'one two'")
    assert sh("am broadcast -a clipper.get") == (
        "Broadcasting: Intent { act=clipper.get flg=0x400000 }\n"
        'Broadcast completed: result=-1, data="one two"\n'
    )


def test_monkey_opens_a_package(sh):
    out = sh("monkey -p com.example.chess -c android.intent.category.LAUNCHER 1")
    assert "Events injected: 1\n" in out
    assert focus(sh) == "com.example.chess/com.example.chess.MainActivity"
    assert sh("monkey -p no.such -c android.intent.category.LAUNCHER 1") == (
        "** No activities found to run, monkey aborted.\n"
    )
    assert sh.code != 0


def test_what_cannot_be_done_here_says_so(sh):
    assert "Unable to find instrumentation info" in sh("am instrument -w a.b/.C")
    assert sh.code == 1
    sh("am no-such-thing")
    assert sh.code == 255
    assert sh.err.startswith("Unknown command: no-such-thing\n")
    assert sh("am get-current-user") == "0\n"
