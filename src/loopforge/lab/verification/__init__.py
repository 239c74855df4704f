"""Whether a run's file is whole and true: replayed, hashed, asked twelve questions."""
