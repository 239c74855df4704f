"""What may be taken: money, budgets, bounds of turns, markup, diffs and mappings, waits. Pure."""
