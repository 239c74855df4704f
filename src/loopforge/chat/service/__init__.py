"""Rooms as a whole: closing, deleting lines, the list of rooms, failed deliveries."""
