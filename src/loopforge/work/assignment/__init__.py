"""Who does a task, and by what: the files of roles, and the tools that may be used."""
