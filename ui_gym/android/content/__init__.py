"""What the tasks' phones hold: people, messages, files, appointments, all drawn from a seed."""
