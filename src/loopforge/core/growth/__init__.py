"""The facts of how mates grow."""
