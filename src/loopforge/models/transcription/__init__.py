"""Voice notes written down: which model does it, and one attempt at it."""
