"""Budgets: what language models were used for, and what it cost."""
