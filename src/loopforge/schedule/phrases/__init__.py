"""What people say of when, in four languages: a table of words for each, and one reader of all."""
