"""The Messages app's screens, each brought about as a person would."""

from __future__ import annotations

from driving import Scene, holding, scene, tap, typing, write

from ui_gym_phone.state import contacts, messages
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

MESSAGES = "com.android.messaging"
HOUR = 3_600_000
LONG = (
    "Dear all, the meeting about the north wing moved to the small hall next to the library, "
    "because the projector there works. Please bring the drawings, and tell those who are not "
    "on this list: https://intranet.example/rooms/north-wing/small-hall?floor=2&day=monday"
)


def fill(phone: Phone) -> None:
    """Contacts, and conversations with them and with others."""
    now = phone.clock.ms
    contacts.add(phone, "Ada Lovelace", "+1 555-010-4477")
    contacts.add(phone, "Barbara Liskov", "+1 555-010-9080", kind=contacts.WORK)
    contacts.add(phone, "Δημήτρης Νικολάου", "5550137000")
    for ago, number, body in (
        (400 * 24, "22000", "Your parcel is at the counter. Code 4471."),
        (30, "5550137000", "Καλημέρα! Τα λέμε αύριο στις δέκα;"),
        (26, "+15550109080", LONG),
        (3, "+15550104477", "Are you coming tonight?"),
    ):
        messages.receive(phone, number, body, now - ago * HOUR, notify=False)
        messages.mark_read(phone, number)
    messages.insert(phone, "+15550104477", "Yes, at eight!", messages.SENT, ms=now - 2 * HOUR)
    messages.receive(phone, "+15550104477", "Lovely. Bring the cards?", now - 60_000)
    messages.receive(phone, "5550199123", "Hi, is the bike still for sale?", now - 5 * 60_000)


def open_inbox(phone: Phone, screen: PhoneScreen) -> None:
    fill(phone)
    phone.launch(MESSAGES)


def copied(phone: Phone, screen: PhoneScreen) -> None:
    phone.clipboard = "Clip"
    open_inbox(phone, screen)


def answer(screen: PhoneScreen) -> None:
    for i in range(6):
        write(screen, "compose_message_text", f"Answer {i}")
        tap(screen, "Send SMS")


BAG = "I will, and the long board as well, if it fits in the bag"
selection = scene(open_inbox, holding("Ada Lovelace"), "5550199123")
conversation = scene(open_inbox, "Ada Lovelace")
message = scene(conversation, holding("Yes, at eight!"))
new = scene(open_inbox, "Start chat")

SCENES: dict[str, Scene] = {
    "messages": open_inbox,
    "messages empty": scene(MESSAGES),
    "messages search": scene(open_inbox, "Search messages", typing("parcel")),
    "messages selection": selection,
    "messages delete": scene(selection, "Delete"),
    "conversation": conversation,
    "conversation writing": scene(copied, "Ada Lovelace", typing(BAG, "Text message")),
    "conversation writing much": scene(conversation, typing(LONG, "Text message")),
    "conversation long": scene(open_inbox, "Barbara Liskov", answer),
    "conversation message": message,
    "conversation message delete": scene(message, "Delete"),
    "conversation menu": scene(conversation, "More options"),
    "new conversation": new,
    "new conversation number": scene(new, typing("555010", "Type a name or phone number")),
}
