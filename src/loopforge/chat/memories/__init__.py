"""What mates keep, for the people whom it concerns: seen, corrected, let go, forgotten."""
