"""Pages of the Factory: runs, the map of a city, forks, stories."""
