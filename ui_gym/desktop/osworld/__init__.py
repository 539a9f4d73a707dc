"""OSWorld's task files: setup steps, getters and metrics by OSWorld's own names.

Source of the format: https://github.com/xlang-ai/OSWorld (``evaluation_examples`` and
``desktop_env``).
"""
