"""MCP servers: described by files of the home, confined, started at their first use."""
