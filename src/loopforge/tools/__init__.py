"""Tools that mates may be granted. In this version: a clock."""
