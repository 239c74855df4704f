"""Learning from attempts: scored, looked back on, kept, and put before the next one."""
