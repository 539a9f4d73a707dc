"""The tasks of the desktop suite, a module each family."""
