"""Desktops: real applications under X11, and OSWorld's machines and task files."""
