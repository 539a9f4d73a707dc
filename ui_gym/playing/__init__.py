"""How tasks are played: envs, vector envs, their slots, and the lending of devices."""
