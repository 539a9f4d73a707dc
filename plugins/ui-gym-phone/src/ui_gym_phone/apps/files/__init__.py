"""The Files app: the shared storage, its folders, and what can be done with files."""

from __future__ import annotations

from ui_gym_phone.apps.files import browse, picker, viewer
from ui_gym_phone.apps.files.view import BROWSE, PACKAGE
from ui_gym_phone.apps.phone_app import app_of

APP = app_of(PACKAGE)

APP.screen(BROWSE)(browse.browse)
APP.screen(picker.PICK)(picker.pick)
APP.screen(viewer.VIEWER)(viewer.viewer)
APP.screen(viewer.INSPECTOR)(viewer.inspector)
