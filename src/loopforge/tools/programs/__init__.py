"""Programs that mates write: run in pydantic-monty, with the mate's other tools as functions."""
