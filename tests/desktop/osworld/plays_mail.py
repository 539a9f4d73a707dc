"""Plays of the domain thunderbird."""

from __future__ import annotations

import tarfile
from pathlib import Path

from play_case import Play, Player
from play_tools import Acts, put

PROFILE = "t5q2a5hp.default-release"
PREFS = f".thunderbird/{PROFILE}/prefs.js"
PROFILES = f"""[Profile0]
Name=default-release
IsRelative=1
Path={PROFILE}
Default=1

[General]
StartWithLastProfile=1
Version=2

[InstallFDC34C9F024745EB]
Default={PROFILE}
Locked=1
"""
INSTALLS = f"[FDC34C9F024745EB]\nDefault={PROFILE}\nLocked=1\n"
"""The number is that of a Thunderbird in ``/usr/lib/thunderbird``."""
ACCOUNTS = """user_pref("mail.accountmanager.accounts", "account1,account2");
user_pref("mail.accountmanager.defaultaccount", "account1");
user_pref("mail.accountmanager.localfoldersserver", "server1");
user_pref("mail.account.account1.server", "server2");
user_pref("mail.account.account1.identities", "id1");
user_pref("mail.account.account2.server", "server1");
user_pref("mail.identity.id1.fullName", "Anonym");
user_pref("mail.identity.id1.useremail", "anonym@mail.example");
user_pref("mail.identity.id1.valid", true);
user_pref("mail.server.server1.type", "none");
user_pref("mail.server.server1.name", "Local Folders");
user_pref("mail.server.server1.hostname", "Local Folders");
user_pref("mail.server.server1.userName", "nobody");
user_pref("mail.server.server1.directory-rel", "[ProfD]Mail/Local Folders");
user_pref("mail.server.server2.type", "pop3");
user_pref("mail.server.server2.name", "anonym@mail.example");
user_pref("mail.server.server2.hostname", "mail.example");
user_pref("mail.server.server2.userName", "anonym");
user_pref("mail.server.server2.login_at_startup", false);
user_pref("mail.server.server2.directory-rel", "[ProfD]Mail/mail.example");
user_pref("mail.rights.version", 1);
user_pref("datareporting.policy.dataSubmissionPolicyBypassNotification", true);
user_pref("app.donation.eoy.version.viewed", 999);
user_pref("mailnews.start_page.enabled", false);
"""


def profile(path: Path) -> None:
    """A profile of Thunderbird's with an account and local folders."""
    files = {
        ".thunderbird/profiles.ini": PROFILES,
        ".thunderbird/installs.ini": INSTALLS,
        PREFS: ACCOUNTS,
        f".thunderbird/{PROFILE}/Mail/Local Folders/Bills": "",
        f".thunderbird/{PROFILE}/Mail/mail.example/Inbox": "",
    }
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            put(archive, name, text.encode())


def anew(change: str) -> Acts:
    """Thunderbird is left, something changes, and it is started again."""

    def act(player: Player) -> None:
        own = "[/]thunderbird/thunderbird"  # which is not what is written here
        player.run(
            f"pkill -f '{own}'; for i in $(seq 100); do pgrep -f '{own}' >/dev/null || break; "
            "sleep 0.2; done; true"
        )
        player.run(change)
        player.device.launch(["/usr/bin/thunderbird"])
        player.await_window("Thunderbird")
        player.do("wait(5)")

    return act


def folders(*names: str) -> Acts:
    where = f"'.thunderbird/{PROFILE}/Mail/Local Folders'"
    return anew(f"cd {where} && touch {' '.join(names)}")


def preference(key: str, value: str) -> Acts:
    return anew(f"""echo 'user_pref("{key}", {value});' >> {PREFS}""")


def thunderbird(task: str, right: str, wrong: str, oracle: Acts, miss: Acts) -> Play:
    return Play(
        task,
        "a profile",
        right,
        wrong,
        oracle=oracle,
        miss=miss,
        files={"thunderbird-profile.tar.gz": profile},
        programs=("thunderbird",),
    )


DARK, LIGHT = (f'"thunderbird-compact-{name}@mozilla.org"' for name in ("dark", "light"))
THEME = "extensions.activeThemeID"

THUNDERBIRD = [
    thunderbird(
        "thunderbird/a10b69e1",
        "two mail folders, which Thunderbird takes up",
        "`UNIVERSITIES` instead of `UNIVERSITY`",
        folders("COMPANY", "UNIVERSITY"),
        folders("COMPANY", "UNIVERSITIES"),
    ),
    thunderbird(
        "thunderbird/10a730d5",
        "the dark theme in the preferences",
        "the light one",
        preference(THEME, DARK),
        preference(THEME, LIGHT),
    ),
    thunderbird(
        "thunderbird/f201fbc3",
        "answers quote nothing, in the preferences",
        "they quote below",
        preference("mail.identity.id1.auto_quote", "false"),
        preference("mail.identity.id1.reply_on_top", "1"),
    ),
]
