"""A benchmark of tasks: instances with tests that decide, worked on and counted."""
