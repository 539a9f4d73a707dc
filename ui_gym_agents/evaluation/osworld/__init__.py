"""Evaluation as OSWorld does it: its options, its result folders, its scores.

Source of the options and the layout: https://github.com/xlang-ai/OSWorld (``run_multienv*.py``,
``lib_run_single.py``, ``show_result.py``).
"""
