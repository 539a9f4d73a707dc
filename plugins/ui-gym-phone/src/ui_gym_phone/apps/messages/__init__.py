"""Messages: SMS, by the people that they are exchanged with."""

from ui_gym_phone.apps.messages import conversation, inbox
from ui_gym_phone.apps.messages.inbox import APP

__all__ = ["APP", "conversation", "inbox"]
