"""The built-in phone's shell: a small mksh with the commands of toybox and of Android that real
clients, tasks and people use.

`run` runs a line on a machine and returns what it wrote, in time order, with its exit code.
"""

from ui_gym_phone.shell.budget import Limits
from ui_gym_phone.shell.registry import CommandContext, ShellMachine, command
from ui_gym_phone.shell.running import Output, run
from ui_gym_phone.shell.session import ShellSession

__all__ = ["CommandContext", "Limits", "Output", "ShellMachine", "ShellSession", "command", "run"]
