"""The built-in phone's state: everything that its apps, its shell and its screen share."""
