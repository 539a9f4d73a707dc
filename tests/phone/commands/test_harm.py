"""No line makes a command stumble: thousands of made-up ones, of these commands' own words."""

from __future__ import annotations

import os
import random
import shlex

from command_bench import Bench, phone_with_apps

ROUNDS = int(os.environ.get("UI_GYM_FUZZ", "3000"))
STUMBLED = 134
"""The exit code of a command with a fault of ours."""

HEADS = """settings get|settings put|settings list|settings delete|settings reset|getprop|
setprop|pm list packages|pm path|pm install|pm uninstall|pm clear|pm grant|pm revoke|
pm enable|pm disable-user|pm dump|pm resolve-activity|am start|am start -n|
am start -a|am start -W -a|am start -a android.intent.action.VIEW -d|am broadcast -a|
am force-stop|am stack list|am startservice|monkey -p|dumpsys|dumpsys battery set|
dumpsys battery|dumpsys package|dumpsys notification|content query --uri|
content insert --uri content://sms --bind|content update --uri|content delete --uri|
content insert --uri|sqlite3|sqlite3 :memory:|sqlite3 /sdcard/a.db|input tap|
input text|input swipe|input keyevent|input keycombination|input motionevent|wm size|
wm density|wm user-rotation|svc wifi|svc power|cmd|cmd statusbar|cmd uimode night|
cmd notification post|cmd notification|cmd media_session volume --stream|media volume|
cmd display set-brightness|cmd alarm|cmd audio|ime set|ime enable|ime list|
service call alarm|service call notification|service|su -c|su|run-as|uiautomator dump|
screencap|logcat|cmd battery|cmd wifi|cmd connectivity airplane-mode"""

WORDS = r"""com.example.chess com.android.settings/.Settings global system secure wifi_on -n -a
-d -c --es --ei --ez --eia key true 1 -1 99999999999999999999 1e400 nan 0x10
content://sms content://sms/1 content://sms/² content://contacts/phones/
content://com.android.contacts/data content://settings/system
content://com.android.calendar/instances/when/1/2
content://media/external/images/media content://[ --bind --where --projection --sort
--uri address:s:1 type:n: type:s:x raw_contact_id:i:1 _id:l:9 a b:c
mimetype:s:vnd.android.cursor.item/name data1:s:x date:d:1.5 _id=1 1=1) OR (1=1 ' " ;
.tables .schema select 1 from sms;delete from sms; /sdcard /sdcard/a.db
/data/local/tmp/x.apk / - -- --get --set 15 --adj raise KEYCODE_BACK 4 DOWN UP MOVE
yes no enable disable lock free level Europe/Berlin i64 s16 http://x/y
sms:5551?body=x tel:² package:a android.settings.WIFI_SETTINGS ADB_INPUT_B64 msg aGk=
clipper.set é 日本 /data/data/com.android.providers.telephony/databases/mmssms.db -csv
-header -p -f --user 0 help -h"""


def _line(random_: random.Random, heads: list[str], words: list[str]) -> str:
    said = [random_.choice(words) for _ in range(random_.randrange(5))]
    if random_.random() < 0.2:
        said.append(random_.choice(words) + random_.choice(words))
    return " ".join([random_.choice(heads), *map(shlex.quote, said)])


def test_made_up_words_are_answered_and_never_stumbled_over():
    random_ = random.Random(20)
    heads, words = HEADS.replace("\n", " ").split("|"), WORDS.split()
    sh = Bench(phone_with_apps())
    start = sh.phone.snapshot()
    for turn in range(ROUNDS):
        line = _line(random_, [h.strip() for h in heads], words)
        sh.raw(line)
        assert sh.code != STUMBLED, line
        if turn % 100 == 99:
            sh.phone = sh.phone.restore(start)
