"""People: who is known to this home. Accounts and rights come with the surfaces that need them."""
