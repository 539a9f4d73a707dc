"""Messages: conversations are read, written, copied from and deleted by touch."""

from __future__ import annotations

import gallery_messages
import pytest
from driving import back, find, has, long_press, seen, tap, write

from ui_gym_phone.state import contacts, messages
from ui_gym_phone.state.phone import Phone

ADA = "+15550104477"


def rows(phone: Phone, sql: str) -> list[tuple[object, ...]]:
    """What a reader of the database sees."""
    return phone.databases.connection("mmssms.db").execute(sql).fetchall()


def sent(phone: Phone) -> list[tuple[object, ...]]:
    return rows(phone, "SELECT address, body, date FROM sms WHERE type = 2 ORDER BY _id")


@pytest.fixture
def inbox(phone: Phone) -> Phone:
    """A phone with conversations, of which the list is open."""
    gallery_messages.fill(phone)
    phone.launch("com.android.messaging")
    return phone


def test_a_text_goes_to_a_number_that_is_typed(phone, screen):
    phone.launch("com.android.messaging")
    tap(screen, "Start chat")
    write(screen, "Type a name or phone number", "+1 555 777 0199")
    tap(screen, "Send to +1 555 777 0199")
    write(screen, "Text message", "The key is under the mat.")
    now = phone.clock.ms
    tap(screen, "Send SMS")
    assert sent(phone) == [("+1 555 777 0199", "The key is under the mat.", now)]
    assert has(screen, "The key is under the mat.")
    assert find(screen, "compose_message_text").text == "Text message"


def test_a_text_goes_to_a_contact_that_is_suggested(phone, screen):
    contacts.add(phone, "Ada Lovelace", ADA)
    contacts.add(phone, "Adam Ant", "5550111222")
    phone.launch("com.android.messaging")
    tap(screen, "Start chat")
    write(screen, "Type a name or phone number", "love")
    assert not has(screen, "Adam Ant")
    tap(screen, "Ada Lovelace")
    write(screen, "Text message", "Hello")
    tap(screen, "Send SMS")
    assert [row[:2] for row in sent(phone)] == [(ADA, "Hello")]


def test_the_newest_message_is_uppermost_and_its_answer_goes_back(inbox, screen):
    told = seen(screen)
    assert told.index("Ada Lovelace") < told.index("5550199123") < told.index("22000")
    tap(screen, "Ada Lovelace")
    write(screen, "Text message", "Packed.")
    tap(screen, "Send SMS")
    assert sent(inbox)[-1][:2] == (ADA, "Packed.")
    back(screen)
    assert messages.threads(inbox)[0].snippet == "Packed."


def test_reading_marks_as_read_and_takes_the_notification_away(inbox, screen):
    assert rows(inbox, "SELECT COUNT(*) FROM sms WHERE read = 0") == [(2,)]
    tap(screen, "5550199123")
    assert rows(inbox, "SELECT address FROM sms WHERE read = 0") == [(ADA,)]
    assert [posted.title for posted in inbox.notifications] == ["Ada Lovelace"]


def test_an_incoming_message_is_read_where_its_conversation_is_open(inbox, screen):
    tap(screen, "Ada Lovelace")
    messages.receive(inbox, ADA, "Are you there?")
    assert has(screen, "Are you there?")
    assert rows(inbox, "SELECT COUNT(*) FROM sms WHERE read = 0 AND address = '+15550104477'") == [
        (0,)
    ]


def test_nothing_is_sent_of_an_empty_field(inbox, screen):
    tap(screen, "Ada Lovelace")
    before = sent(inbox)
    tap(screen, "Send SMS")
    write(screen, "Text message", "   ")
    tap(screen, "Send SMS")
    assert sent(inbox) == before


def test_nothing_is_sent_in_airplane_mode(inbox, screen):
    inbox.put("global", "airplane_mode_on", 1)
    tap(screen, "Ada Lovelace")
    before = sent(inbox)
    write(screen, "Text message", "Up in the air")
    tap(screen, "Send SMS")
    assert sent(inbox) == before
    assert inbox.toasting == "Turn off airplane mode to send messages"
    assert has(screen, "Up in the air"), "what was written is kept"


def test_a_message_is_copied_and_pasted_into_another_conversation(inbox, screen):
    tap(screen, "22000")
    assert not has(screen, "Paste"), "nothing was copied yet"
    long_press(screen, "Your parcel is at the counter. Code 4471.")
    tap(screen, "Copy")
    assert inbox.clipboard == "Your parcel is at the counter. Code 4471."
    back(screen)
    tap(screen, "Ada Lovelace", "Paste", "Send SMS")
    assert sent(inbox)[-1][:2] == (ADA, "Your parcel is at the counter. Code 4471.")


def test_one_message_is_deleted(inbox, screen):
    tap(screen, "Ada Lovelace")
    long_press(screen, "Are you coming tonight?")
    tap(screen, "Delete")
    assert has(screen, "Delete this message?")
    tap(screen, "Delete")
    left = rows(inbox, "SELECT body FROM sms WHERE address = '+15550104477' ORDER BY date")
    assert left == [("Yes, at eight!",), ("Lovely. Bring the cards?",)]


def test_a_conversation_is_deleted_from_the_list(inbox, screen):
    count = len(messages.threads(inbox))
    long_press(screen, "5550199123")
    tap(screen, "Delete", "Cancel")
    assert len(messages.threads(inbox)) == count
    tap(screen, "Delete", "Delete")
    assert rows(inbox, "SELECT COUNT(*) FROM sms WHERE address = '5550199123'") == [(0,)]
    assert len(messages.threads(inbox)) == count - 1


def test_a_conversation_is_deleted_from_its_menu(inbox, screen):
    tap(screen, "Ada Lovelace", "More options", "Delete", "Delete")
    assert inbox.activity.cls == ".ConversationListActivity"
    assert not has(screen, "Ada Lovelace")


def test_a_search_finds_what_was_written(inbox, screen):
    tap(screen, "Search messages")
    screen.text("at eight")
    assert has(screen, "Ada Lovelace")
    assert not has(screen, "22000")
    back(screen)
    back(screen)
    assert has(screen, "22000")


def test_a_conversation_is_first_seen_at_its_end(phone, screen):
    for i in range(60):
        messages.receive(phone, ADA, f"Message {i}", phone.clock.ms - (60 - i) * 1000)
    phone.start("com.android.messaging", ".ConversationActivity", {"number": ADA})
    assert has(screen, "Message 59")
    assert not has(screen, "Message 0")


def test_an_unknown_number_can_be_made_a_contact(inbox, screen):
    tap(screen, "5550199123", "More options", "Add contact")
    write(screen, "First name", "Buyer")
    tap(screen, "Save")
    found = contacts.find(inbox, "Buyer")
    assert found is not None
    assert found.number == "5550199123"
    inbox.launch("com.android.messaging")
    assert has(screen, "Buyer")


def test_an_intents_text_waits_in_the_field(phone, screen):
    extras = {"number": "5550100", "body": "Call me"}
    phone.start("com.android.messaging", ".ConversationActivity", extras)
    assert has(screen, "Call me")
    assert sent(phone) == []
