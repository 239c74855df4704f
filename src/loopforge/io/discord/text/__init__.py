"""Text between Discord and the house: markup, names, incoming messages as words."""
