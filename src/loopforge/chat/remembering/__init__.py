"""What mates make of talks in idle time: notes, facts, core memories, lessons."""
