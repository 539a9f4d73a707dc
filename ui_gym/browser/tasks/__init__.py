"""The tasks of the browser suite, a module each family."""
