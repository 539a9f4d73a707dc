"""The Contacts app's package."""

from __future__ import annotations

from ui_gym_phone.apps.faces import CONTACTS
from ui_gym_phone.apps.phone_app import PhoneApp
from ui_gym_phone.state.packages import Package

PEOPLE = ".activities.PeopleActivity"
DUPLICATES = ".activities.DuplicatesActivity"

APP = PhoneApp(
    Package(
        CONTACTS, "Contacts", PEOPLE, icon="contacts", colour="#1a73e8",
        permissions={"READ_CONTACTS": True, "CALL_PHONE": True, "READ_SMS": False},
    )
)  # fmt: skip
