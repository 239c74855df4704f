"""Docstrings of Python code: where they are missing, and whether a change is of nothing else."""
