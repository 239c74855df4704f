"""Money: amounts exactly, for whom something is paid, and what budgets say to it. All pure."""
