"""Pages of tasks: the list, one task as it goes, and what people may do about it."""
