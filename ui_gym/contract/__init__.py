"""The contract: what an env gives at each step, what a task and a device promise, and who raises.

Held true by ``tests/core/test_env.py`` and, for every task, by `ui_gym.testing.check_ui_env`.

**What `reset` and `step` return**

| | first (`reset`) | middle | last | failed (the device) |
|---|---|---|---|---|
| `observation["goal"]` | the goal | the same | the same | the same |
| `observation["screenshot"]` | the start | after the actions | after the actions | the last one |
| `observation["feedback"]` | `""` | what was wrong with the text, or `""` | as before | `""` |
| `reward` | - | 0; with `"progress"` the gain | the score; the gain | 0 |
| `terminated` | - | False | True: the judge is done, or the agent ended it | False |
| `truncated` | - | False | True: `max_steps` is reached, if it did not terminate | True |
| `info["step"]` | 0 | 1, 2, ... | the last number | the last number |
| `info["score"]`, `["success"]` | 0, False | the verdict's | the verdict's | 0, False |
| `info["action_error"]` | None | the kind of `ActionError`, or None | as before | None |
| `info["failure"]` | None | None | None | `"device: ..."` |

With ``reward="progress"`` the score of a `reset` may be above 0: gains are counted from there. A
wrong action text counts as a step and leaves the device as it was.

**What a task promises.** `sample` draws all that varies from its generator alone. `setup` brings
any device of the suite to the starting state of the params, goal not yet reached: the same params
give the same first screenshot to the byte. `judge` is a function of the device's state, the params
and the actions done; it changes nothing, unless the task is `judged` at the end. Its score becomes
0 while something is changed that `may_change` does not name (`harm`). `oracle` reaches score 1
through the same actions, harming nothing. No params are in two splits. A task knows no registry
and no env.

**What a device promises.** `perform` does one action, or raises and leaves the screen as it was.
`capture` waits until the input is handled and shows the settled screen. Every method has a
deadline; `close` may be called from any thread, at any time, more than once, and leaves nothing
behind.

**Who raises what**

| who is to blame | class | where it ends |
|---|---|---|
| the agent | `ActionError` | the observation's `feedback`; it never leaves `step` |
| the device | `DeviceError` | a failed step; from `reset` only when healing failed as well |
| the task | `TaskError` | it is raised, and names the task and the method |
| the user | `UserError` | it is raised, and names the nearest right word |
| the caller | Gymnasium's `ResetNeeded`, `ClosedEnvironmentError` | it is raised |
"""
