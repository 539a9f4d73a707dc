"""AndroidWorld's task classes on any device of the suite: its code sets up and judges."""
