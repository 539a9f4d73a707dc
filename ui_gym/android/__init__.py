"""The Android suite: phones by ADB, a built-in phone, and tasks that run on either."""
