"""What may be taken: amounts of money exactly, budgets, bounds of turns and of markup. All pure."""
