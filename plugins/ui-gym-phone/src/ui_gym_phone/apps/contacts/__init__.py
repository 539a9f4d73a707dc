"""Contacts: the people that the phone knows."""

from ui_gym_phone.apps.contacts import editor, people, person
from ui_gym_phone.apps.contacts.people import APP

__all__ = ["APP", "editor", "people", "person"]
