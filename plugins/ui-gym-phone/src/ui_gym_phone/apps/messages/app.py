"""The Messages app's package."""

from __future__ import annotations

from ui_gym_phone.apps.phone_app import PhoneApp
from ui_gym_phone.state.messages import PACKAGE
from ui_gym_phone.state.packages import Package

CONVERSATIONS = ".ConversationListActivity"
CONVERSATION = ".ConversationActivity"
NEW = ".NewConversationActivity"

APP = PhoneApp(
    Package(
        PACKAGE, "Messages", CONVERSATIONS, icon="message-text", colour="#1a73e8",
        permissions={"READ_SMS": True, "READ_CONTACTS": True, "POST_NOTIFICATIONS": True},
    )
)  # fmt: skip
