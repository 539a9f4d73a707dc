"""Phone: favourites, the call log, a dial pad, and the screen of a call."""

from ui_gym_phone.apps.dialer import calls, main
from ui_gym_phone.apps.dialer.main import APP

__all__ = ["APP", "calls", "main"]
