"""What may be taken: amounts of money exactly, budgets, bounds of turns, markup and diffs. Pure."""
