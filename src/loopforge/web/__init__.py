"""The web room: pages and event streams over the rooms of a home."""
