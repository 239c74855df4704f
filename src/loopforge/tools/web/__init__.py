"""The web, as tools: pages read as text, and what search, Wikipedia and arXiv answer."""
