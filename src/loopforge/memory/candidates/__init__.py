"""Which passages are worth ranking: out of arrays and mapped files, or out of PostgreSQL itself."""
