"""What is kept of talks beyond them: the items of memory, and what happens to them."""
