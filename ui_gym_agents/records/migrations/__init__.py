"""Alembic's migrations of the records database; run by `database`, never by a file of settings."""
