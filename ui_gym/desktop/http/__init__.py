"""A desktop over HTTP: the device of machines that run OSWorld's server, and that server over ours.

Source of the interface: https://github.com/xlang-ai/OSWorld (``desktop_env/server/main.py``).
"""
