"""Who may call a built-in phone."""

from __future__ import annotations

import socket

import pytest

from ui_gym.errors import UserError
from ui_gym_phone.adbd import AdbServer
from ui_gym_phone.handset import Handset


def test_adb_which_asks_for_no_key_is_served_to_this_machine_alone() -> None:
    handset = Handset()
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        with pytest.raises(UserError, match="to this machine only"):
            AdbServer(handset, host)
    server = AdbServer(handset)
    try:
        socket.create_connection(("127.0.0.1", server.port), 5).close()  # there it is open
    finally:
        server.close()
