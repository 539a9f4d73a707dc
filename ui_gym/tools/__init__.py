"""The command `ui-gym` and what it shows."""
