"""A recipe: a small Debian machine for the ``qemu:`` device, with ui-gym's own server in it."""
