"""What the mails of the mail tasks say.

A text has slots, which `mailbox.draw_slots` fills; ``mailtexts.toml`` says which.
"""

from __future__ import annotations

from ui_gym.browser.content.data import table

Text = tuple[str, ...]
"""Paragraphs."""

PERSONAL: tuple[tuple[str, Text], ...] = table("mailtexts")["personal"]
"""(subject, text) of mails that people write."""

SERVICES: tuple[tuple[str, str, tuple[tuple[str, Text], ...]], ...] = tuple(
    (one["name"], one["mail"], one["texts"]) for one in table("mailtexts")["services"]
)
"""(name, address, its mails) of the firms that write by machine."""

CONVERSATIONS: tuple[tuple[str, tuple[tuple[int, Text], ...]], ...] = tuple(
    (one["subject"], one["turns"]) for one in table("mailtexts")["conversations"]
)
"""(subject, turns): who speaks (0 began the conversation) and what they say."""

ANSWERS: tuple[str, ...] = table("mailtexts")["answers"]
"""What is to be answered, in one sentence."""

NOTES: tuple[str, ...] = table("mailtexts")["notes"]
"""What is to be written above a forwarded mail."""

ROOMS: tuple[str, ...] = table("mailtexts")["rooms"]
CITIES: tuple[str, ...] = table("mailtexts")["cities"]
DAYS: tuple[str, ...] = table("mailtexts")["days"]
