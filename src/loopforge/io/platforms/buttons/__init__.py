"""Buttons under lines: which there are, and what comes of a press."""
