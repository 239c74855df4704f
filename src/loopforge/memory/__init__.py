"""Memory: what was said is kept findable, recalled where it may be, and forgotten with its line."""
