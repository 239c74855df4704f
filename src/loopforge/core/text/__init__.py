"""Text in the core: erasable words, egress, labels, and what models write."""
