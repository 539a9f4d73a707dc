"""Apps that are lists of records: a list, a record, a form, all drawn from a table in ``data``."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.phone_app import PhoneApp
from ui_gym_phone.apps.shelf.records import editing, listing, showing
from ui_gym_phone.apps.shelf.records.spec import EDIT, SHOW, RecordsSpec, spec_of
from ui_gym_phone.state import shelf


def app_of_records(package: str) -> PhoneApp:
    """The app of a package whose table in the shelf names a table of records."""
    spec: RecordsSpec = spec_of(package)
    app = PhoneApp(shelf.package_of(package))
    app.screens = {
        app.package.main: partial(listing.page, spec),
        SHOW: partial(showing.page, spec),
        EDIT: partial(editing.page, spec),
    }
    return app
