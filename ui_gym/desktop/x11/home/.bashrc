# The same prompt wherever the desktop runs.
PS1='user@desktop:\w\$ '
PROMPT_COMMAND=
unset HISTFILE
