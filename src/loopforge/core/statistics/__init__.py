"""Statistics that both the lab and work on tasks rest on."""
