"""Text as platforms take it: split, in columns, measured in characters."""
