"""The built-in phone's shell: a subset of mksh with the commands of toybox and of Android.

`run` runs a line on a machine and returns what it wrote, in time order, with its exit code.
"""

from ui_gym_phone.shell.budget import Limits
from ui_gym_phone.shell.registry import Context, Machine, command
from ui_gym_phone.shell.run import Output, run
from ui_gym_phone.shell.session import Session

__all__ = ["Context", "Limits", "Machine", "Output", "Session", "command", "run"]
