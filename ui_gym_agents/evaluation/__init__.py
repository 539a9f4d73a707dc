"""Measuring agents: evaluations, their reports, and OSWorld's."""
