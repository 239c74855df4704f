"""The city and its robots: scenario, rules, dice, perception, acts and what they do."""
