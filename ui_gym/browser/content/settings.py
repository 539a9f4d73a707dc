"""Settings of made-up apps: sections, their pages, and what can be switched or chosen there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Setting(NamedTuple):
    label: str
    hint: str
    options: tuple[str, ...]
    """What can be chosen; nothing for a switch, whose values are 0 and 1."""

    @property
    def values(self) -> range:
        return range(len(self.options) or 2)


class SettingsPage(NamedTuple):
    title: str
    hint: str
    settings: tuple[Setting, ...]


class SettingsGroup(NamedTuple):
    title: str
    icon: str
    settings: tuple[Setting, ...]
    pages: tuple[SettingsPage, ...]


class App(NamedTuple):
    name: str
    icon: str
    sections: tuple[SettingsGroup, ...]


def places(sections: tuple[SettingsGroup, ...]) -> Iterator[tuple[int, int, Setting]]:
    """Every setting with its section and its page in it (-1: the section itself), as shown."""
    for number, section in enumerate(sections):
        for setting in section.settings:
            yield number, -1, setting
        for at, page in enumerate(section.pages):
            for setting in page.settings:
                yield number, at, setting


def read(text: str) -> tuple[SettingsGroup, ...]:
    """A tree as it is written below: a section with its icon, `>` its pages, and the settings:
    ``label``, ``label = option, option`` each with ``| hint`` if one is needed."""
    sections: list[SettingsGroup] = []
    for line in text.strip().splitlines():
        body, _, hint = line.strip().partition(" | ")
        if not line.startswith(" "):
            sections.append(SettingsGroup(body, hint, (), ()))
        elif body.startswith("> "):
            page = SettingsPage(body[2:], hint, ())
            sections[-1] = sections[-1]._replace(pages=(*sections[-1].pages, page))
        else:
            label, _, options = body.partition(" = ")
            setting = Setting(label, hint, tuple(options.split(", ")) if options else ())
            sections[-1] = _with(sections[-1], setting)
    return tuple(sections)


def _with(section: SettingsGroup, setting: Setting) -> SettingsGroup:
    """A section with one more setting, on its last page if it has begun one."""
    if not section.pages:
        return section._replace(settings=(*section.settings, setting))
    *most, last = section.pages
    last = last._replace(settings=(*last.settings, setting))
    return section._replace(pages=(*most, last))


CHAT = """
Account | person
  Show my status | Others see whether you are here
  Status = Available, Busy, Away
  Show my phone number
  Sign out after = 1 day, 1 week, 1 month, Never
  > Profile | What others see of you
    Show my birthday
    Show my time zone
    Name is shown as = Full name, First name, Nickname
  > Devices | Where you are signed in
    Remember this device
    Ask for a code = Always, Once a week, On new devices
    Tell me about new devices
Notifications | bell
  Show message previews | The first words appear in the notification
  Pause at night | From 10 pm to 7 am
  Remind me after = 15 minutes, 1 hour, 4 hours
  Badge shows = All messages, Mentions, Nothing
  > Direct messages | Messages to you alone
    Play a sound
    Show on lock screen
    Sound = Chime, Knock, Ripple, Bell
  > Mentions | When somebody names you
    Play a sound
    Show on lock screen
    Sound = Chime, Knock, Ripple, Bell
  > Threads | Replies to what you wrote
    Play a sound
    Show on lock screen
    Sound = Chime, Knock, Ripple, Bell
Appearance | eye
  Theme = Light, Dark, As the system
  Text size = Small, Medium, Large
  Compact list | More conversations at once
  Animate pictures
  Show faces in lists
Privacy | shield
  Read receipts | Others see that you have read
  Typing indicator
  Who may call me = Everyone, Contacts, Nobody
  Who may add me to groups = Everyone, Contacts, Nobody
  > History | How long messages are kept
    Keep messages for = 30 days, 1 year, For ever
    Keep files as well
    Show deleted messages
  > Diagnostics | What is sent to the makers
    Send crash reports
    Send usage numbers
    Report every = Day, Week, Month
Calls | people
  Camera on when joining
  Microphone on when joining
  Ring for = 15 seconds, 30 seconds, 60 seconds
  Layout = Grid, Speaker, Side by side
  > Video | Picture of your camera
    Blur the background
    Mirror my picture
    Quality = Low, Medium, High
  > Audio | Sound of your voice
    Cancel noise
    Adjust volume by itself
    Quality = Low, Medium, High
Files | folder
  Download pictures by themselves
  Ask before opening links
  Largest download = 10 MB, 50 MB, 200 MB, No limit
  Save files to = Downloads, Desktop, Ask each time
Language | globe
  Language = English, Deutsch, Español, Français
  First day of the week = Monday, Saturday, Sunday
  24-hour clock
  Check spelling
  Translate messages
"""

HOME = """
Lights | star
  Dim slowly | Lights go on and off within two seconds
  All off at midnight
  After a power cut = On, Off, As before
  Default colour = Warm, Neutral, Cold
  > Living room | Four lamps
    Motion sensor
    Off when nobody is there
    Evening brightness = 20 %, 40 %, 60 %, 80 %
  > Bedroom | Two lamps
    Motion sensor
    Off when nobody is there
    Evening brightness = 20 %, 40 %, 60 %, 80 %
  > Hallway | Three lamps
    Motion sensor
    Off when nobody is there
    Evening brightness = 20 %, 40 %, 60 %, 80 %
Heating | chart
  Holiday mode | Keeps the house at 12 °C
  Mode = Comfort, Eco, Frost guard
  Lower at night
  Pause when a window is open
  > Living room | Two radiators
    Learn my habits
    Lock the thermostat
    Target = 18 °C, 19 °C, 20 °C, 21 °C
  > Bedroom | One radiator
    Learn my habits
    Lock the thermostat
    Target = 16 °C, 17 °C, 18 °C, 19 °C
  > Bathroom | Floor heating
    Learn my habits
    Lock the thermostat
    Target = 20 °C, 21 °C, 22 °C, 23 °C
Security | shield
  Arm when everybody leaves
  Siren = Off, Short, Long
  Call me on alarm
  Record when armed
  > Front door | Lock and camera
    Lock behind me
    Ring at night
    Keep videos for = 1 day, 1 week, 1 month
  > Garage | Gate and camera
    Close after ten minutes
    Light when opened
    Keep videos for = 1 day, 1 week, 1 month
Sound | bell
  Doorbell in all rooms
  Chime = Classic, Birds, Marimba
  Volume at night = Off, Low, Medium
  Speak the weather at breakfast
  Stop music on calls
Energy | table
  Charge the car at night
  Use the battery first
  Tariff = Day and night, Flat, By the hour
  Report = Every day, Every week, Every month
  Warn me above = 2 kW, 4 kW, 8 kW
Network | globe
  Guest network
  Frequency = Automatic, 2.4 GHz, 5 GHz
  Restart once a week
  Block unknown devices
  > Children's devices | Tablet and console
    Safe search
    Off at bedtime
    Daily limit = 1 hour, 2 hours, 3 hours
System | gear
  Install updates by itself
  Update at = 2 am, 3 am, 4 am
  Units = Metric, Imperial
  Send crash reports
  Voice control
"""

PHOTOS = """
Backup | refresh
  Only while charging
  Quality = Original, High, Small
  Include screenshots
  Delete from the device afterwards
  > Phone | Last backup today
    Back up this device
    Use mobile data
    Folders = Camera, Camera and downloads, All
  > Tablet | Last backup on Monday
    Back up this device
    Use mobile data
    Folders = Camera, Camera and downloads, All
  > Laptop | Last backup in March
    Back up this device
    Only at home
    Folders = Pictures, Desktop, All
Sharing | share
  Suggest people to share with
  New albums are = Private, For family, For friends
  Show where a picture was taken
  Allow downloads
  > Family | Five people
    May add pictures
    May comment
    Tell me about new pictures
    Sees = Everything, Shared albums, Favourites
  > Friends | Twelve people
    May add pictures
    May comment
    Tell me about new pictures
    Sees = Everything, Shared albums, Favourites
Memories | heart
  Show memories
  How often = Every day, Every week, Every month
  Hide people I removed
  Play music
  Music = Calm, Happy, None
Faces | person
  Group pictures by face
  Recognize pets
  Show names on pictures
  Ask about new faces = At once, Every week, Never
Display | image
  Theme = Light, Dark, As the system
  Pictures in a row = 3, 5, 8
  Show file names
  Play videos in the list
  Sort by = Date taken, Date added, Name
Notifications | bell
  Backup is done
  Storage is nearly full
  Somebody commented
  Send by = App, Mail, App and mail
  > Newsletter | From the makers
    New features
    Offers
    Send it = Every week, Every month, Never
Storage | archive
  Empty the bin after = 7 days, 30 days, 60 days
  Find duplicates
  Compress videos
  Warn me at = 80 %, 90 %, 95 %
  > Video | 61 GB
    Keep originals
    Resolution = 720p, 1080p, 4K
    Drop clips under two seconds
"""

APPS = {
    "chat": App("Harbor", "mail", read(CHAT)),
    "home": App("Hearth", "home", read(HOME)),
    "photos": App("Fernbox", "image", read(PHOTOS)),
}
