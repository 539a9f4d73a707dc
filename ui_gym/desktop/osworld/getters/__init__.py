"""The getters: what a task file's ``result`` and ``expected`` may name. Each module registers its
own."""
