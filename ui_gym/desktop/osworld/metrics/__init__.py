"""The metrics: what a task file's ``func`` may name. Each module registers its own."""
