"""Plays of the domains os, chrome and vlc."""

from __future__ import annotations

from play_case import Play, Player
from play_tools import Acts, at_prompt, command


def gsetting(task: str, right: str, wrong: str) -> Play:
    """A setting of GNOME's, by the command that changes it."""
    return Play(
        task,
        "nothing",
        f"`gsettings set {right}`",
        f"`gsettings set {wrong}`",
        oracle=command(f"gsettings set org.gnome.desktop.{right}"),
        miss=command(f"gsettings set org.gnome.desktop.{wrong}"),
    )


COPIES = b"""mkdir -p dir1 dir2 dir3
echo text > file1
"""
COPIED = b"""for i in 1 2 3; do
  if cmp -s file1 dir$i/file1; then echo "Success: file1 exists in dir$i."
  else echo "Error: file1 is not in dir$i."; fi
done
"""
MODES = b"""mkdir -p testDir/sub
for name in testDir/a testDir/b testDir/sub/c; do echo x > $name; chmod 777 $name; done
"""
MODES_RIGHT = b"""if find testDir -type f ! -perm 644 | grep -q .; then echo "Not all are right."
else echo "All files have the correct permissions."; fi
"""
BREAKS = b"""if [ "$(cat output.txt)" = "$(printf '1<br/>\\n2<br/>\\n3<br/>')" ]
then echo "Success: The task has been completed correctly."; else echo "Error"; fi
"""
PHOTOS = dict.fromkeys(
    (
        "monk252520thailand252520wat252520arun252520scaled25255B225255D.jpg",
        *("hong-kong-china.jpg", "hk_group_photo.jpg", "us_3.png", "emnlp2023.jpg"),
    ),
    b"a picture",
)

OS = [
    gsetting(
        "os/a4d98375", "screensaver lock-enabled true", "screensaver idle-activation-enabled true"
    ),
    gsetting("os/bedcedc4", "session idle-delay 0", "session idle-delay 3600"),
    gsetting(
        "os/f9be0997", "notifications show-banners false", "notifications show-in-lock-screen false"
    ),
    Play(
        "os/6f56bf42",
        "`setup.sh`, `eval.sh`",
        "types a loop of `cp` into the terminal",
        "leaves the third folder out",
        oracle=at_prompt("for i in 1 2 3; do cp file1 dir$i; done"),
        miss=at_prompt("for i in 1 2; do cp file1 dir$i; done"),
        files={"setup.sh": COPIES, "eval.sh": COPIED},
    ),
    Play(
        "os/4d117223",
        "`setup.sh`, `eval.sh`",
        "types `find ... -exec chmod 644` into the terminal",
        "changes the folder's own files alone",
        oracle=at_prompt("find . -type f -exec chmod 644 {} +"),
        miss=at_prompt("chmod 644 a b"),
        files={"setup.sh": MODES, "eval.sh": MODES_RIGHT},
    ),
    Play(
        "os/5ced85fc",
        "`eval.sh`",
        "types `sed` into the terminal",
        "puts it before each line",
        oracle=at_prompt("printf '1\\n2\\n3\\n' | sed 's|$|<br/>|' > output.txt"),
        miss=at_prompt("printf '1\\n2\\n3\\n' | sed 's|^|<br/>|' > output.txt"),
        files={"eval.sh": BREAKS},
    ),
    Play(
        "os/23393935",
        "five pictures",
        "`find ... -exec cp`",
        "copies those of one folder",
        oracle=command("cd Desktop; find photos -name '*.jpg' -exec cp {} cpjpg ';'"),
        miss=command("cp Desktop/photos/vacation/hk/*.jpg Desktop/cpjpg"),
        files=PHOTOS,
    ),
]


def prefs(key: str, value: object) -> Acts:
    """A setting of the browser's, as its page of settings sets it."""

    def act(player: Player) -> None:
        with player.page("chrome://settings/") as page:
            done = "(k, v) => new Promise(d => chrome.settingsPrivate.setPref(k, v, '', d))"
            assert page.evaluate(done, key, value)
            player.browser_saves()

    return act


def sent(url: str, name: str, *arguments: object) -> Acts:
    """What a page of the browser's sends it where its form is filled in."""

    def act(player: Player) -> None:
        with player.page(url) as page:
            assert page.evaluate("(n, a) => { chrome.send(n, a); return true }", name, arguments)
            player.browser_saves()

    return act


def bookmark(title: str, url: str | None = None) -> Acts:
    made = {"parentId": "1", "title": title} | ({} if url is None else {"url": url})

    def act(player: Player) -> None:
        with player.page("chrome://bookmarks/") as page:
            done = "made => new Promise(done => chrome.bookmarks.create(made, done))"
            assert page.evaluate(done, made)
            player.browser_saves()

    return act


CHROME = [
    Play(
        "chrome/030eeff7",
        "nothing",
        'the setting "Do Not Track"',
        "safe browsing instead",
        oracle=prefs("enable_do_not_track", True),
        miss=prefs("safebrowsing.enabled", True),
    ),
    Play(
        "chrome/2ad9387a",
        "nothing",
        "a folder on the bookmarks bar",
        "a page of that name instead",
        oracle=bookmark("Favorites"),
        miss=bookmark("Favorites", "about:blank"),
    ),
    Play(
        "chrome/2ae9ba84",
        "nothing",
        "the profile's name",
        "`thomas` in small letters",
        oracle=sent("chrome://settings/manageProfile", "setProfileName", "Thomas"),
        miss=sent("chrome://settings/manageProfile", "setProfileName", "thomas"),
    ),
    Play(
        "chrome/af630914",
        "nothing",
        "the font size 24",
        "12",
        oracle=prefs("webkit.webprefs.default_font_size", 24),
        miss=prefs("webkit.webprefs.default_font_size", 12),
    ),
]


def vlcrc(line: str) -> Acts:
    """A line of VLC's settings, as its window of preferences saves it."""
    key = line.partition("=")[0]
    path = ".config/vlc/vlcrc"
    return command(
        f"mkdir -p .config/vlc; touch {path}; sed -i '/^#*{key}=/d' {path}; echo '{line}' >> {path}"
    )


def vlc(task: str, right: str, wrong: str) -> Play:
    return Play(
        task,
        "nothing",
        f"`{right}` in VLC's settings",
        f"`{wrong}`",
        oracle=vlcrc(right),
        miss=vlcrc(wrong),
        programs=("vlc",),
    )


BLACK = "qt-slider-colours=10;10;10;20;20;20;15;15;15;25;25;25"
RED = "qt-slider-colours=10;10;10;20;20;20;15;15;15;255;25;25"

VLC = [
    vlc(
        "vlc/8ba5ae7a",
        "input-record-path=/home/user/Desktop",
        "input-record-path=/home/user/Videos",
    ),
    vlc("vlc/9195653c", "qt-max-volume=200", "qt-max-volume=150"),
    vlc("vlc/a5bbbcd5", "qt-minimal-view=1", "qt-bgcone=0"),
    vlc("vlc/d06f0d4d", BLACK, RED),
    vlc("vlc/f3977615", "one-instance-when-started-from-file=0", "one-instance=0"),
]
