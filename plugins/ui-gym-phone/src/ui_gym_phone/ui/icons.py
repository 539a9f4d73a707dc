"""The built-in phone's icons: Material Design Icons by name, and each one's sign in the font."""

from ui_gym_phone import data

ICONS = {name: chr(point) for name, point in data.table("icons").items()}
"""Name as at pictogrammers.com -> the sign in ``assets/icons.ttf``."""
