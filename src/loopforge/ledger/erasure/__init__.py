"""Forgetting texts: what is erased, what quotes it, and files that are scrubbed."""
