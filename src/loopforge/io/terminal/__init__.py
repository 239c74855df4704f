"""The terminal: a room on the whole screen, or as plain lines."""
