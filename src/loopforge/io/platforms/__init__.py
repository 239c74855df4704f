"""What platforms share: reception, live updates, accounts and their tokens."""
