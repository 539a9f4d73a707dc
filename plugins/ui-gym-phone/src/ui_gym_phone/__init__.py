"""The built-in phone: state, screen, apps, shell and adb server."""
