"""What may be taken: amounts of money exactly, budgets, the bounds of one turn. All pure."""
