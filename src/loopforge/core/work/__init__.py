"""Tasks: the vocabulary of the workspace, the life of a task, and the rules over both."""
