"""The monitor: a live page over runs, groups and episodes.

`sources` read what others write: runs' folders, evaluations, databases, results of other programs.
`index` keeps what lists, counts and searches need, in a file of the monitor's own. `watching` looks
for what is new and tells the pages, `api` answers them, `app` serves them, and `static` is the page
itself. Nothing is written to a run but overrides and orders, each into a file of their own.
"""
