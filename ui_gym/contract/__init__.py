"""What a task, an action, a device and a suite are."""
