"""The workspace of a task: its files, commands in the sandbox, and checkpoints."""
