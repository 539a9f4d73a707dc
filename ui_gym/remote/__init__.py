"""Slots on other machines: ``ui-gym serve``, its client, and what both say to each other."""
