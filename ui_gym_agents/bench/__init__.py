"""The laptop benchmark: a protocol for learning claims, and the command that holds it."""
