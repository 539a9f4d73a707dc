"""The tasks of the Android suite, a module each family."""
