"""Watching repositories: new commits are looked at, and docstrings that are missing are offered."""
