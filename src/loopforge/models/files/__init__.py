"""Files of models that run inside the program: which there are, fetching, keeping, choosing one."""
