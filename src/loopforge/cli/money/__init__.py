"""Commands about money: what was spent, and what may be."""
