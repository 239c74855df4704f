"""One run of the city: steps, minds, the log, forks, and runs in processes of their own."""
