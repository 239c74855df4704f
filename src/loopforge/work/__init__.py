"""The task: its workspace, the repository it works on, and the loop that works in them."""
