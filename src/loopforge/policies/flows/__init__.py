"""Flows: the minds by which a mate works on a task, one file each, and what they ask with."""
