"""Git for tasks: a clone in the sandbox, its result reviewed and merged as it was shown."""
