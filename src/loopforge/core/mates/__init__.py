"""The file of a mate: its front matter and what it says of it."""
