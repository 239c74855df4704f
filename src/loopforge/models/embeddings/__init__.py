"""Texts as vectors, behind one port: a small table, a small model, or a server of one's choice."""
