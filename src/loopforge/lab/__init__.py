"""The Factory: a city of robots under a Supervisor, and the instruments to watch it with."""
