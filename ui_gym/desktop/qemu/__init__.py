"""The ``qemu:`` device: a virtual machine with OSWorld's server in it, set back by a snapshot."""
