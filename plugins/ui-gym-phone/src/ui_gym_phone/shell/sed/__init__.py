"""sed: the language of its scripts, and the editor that runs them."""
