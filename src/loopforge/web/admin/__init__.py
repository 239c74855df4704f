"""Pages for the owner: people and invites, usage, the ledger."""
