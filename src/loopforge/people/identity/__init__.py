"""Who is who: persons, their selves, their names, and who asked to come in."""
