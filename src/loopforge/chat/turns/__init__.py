"""What a mate's turn in a room needs: its perception, its acts, its trace, its fallback."""
