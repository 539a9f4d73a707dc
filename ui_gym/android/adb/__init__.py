"""The Android Debug Bridge, as far as a client needs it: transports, shell, files, screenshots.

Two transports offer one interface, `Connection` (`ui_gym.android.adb.stream`): `DirectConnection`
speaks to a device itself, `ServerConnection` goes through an adb server, which can do what the
former cannot: USB, keys, encryption. Shell, sync and screenshots are written once over it.
"""
