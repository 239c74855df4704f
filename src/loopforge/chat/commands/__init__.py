"""The commands of a room: how they are read, what they ask, what they change."""
