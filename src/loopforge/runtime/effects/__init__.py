"""Effects: uses of tools, worked off outside the lanes, and those within the use of another."""
