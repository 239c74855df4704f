"""Discord: a room as a channel, a mate as one who speaks there."""
