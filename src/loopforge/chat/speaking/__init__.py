"""Who is to speak next: whom a text calls, and which mate has cause to answer."""
