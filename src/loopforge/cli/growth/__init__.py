"""How mates grow, on the command line: their changes, forks, merges, traits and story."""
