"""Statistics of runs: rates, times until something happens, responses to a dose."""
