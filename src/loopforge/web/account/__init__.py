"""Pages of one's own account: signing in, sessions, linked accounts."""
