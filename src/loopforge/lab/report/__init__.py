"""The report of a run or a sweep: its sections, and the page they stand in."""
