"""Commands for what a home is set to: its settings, and the models that run inside it."""
