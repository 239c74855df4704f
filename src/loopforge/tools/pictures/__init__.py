"""Pictures: of a page of the web, and asking a model that sees what is on one."""
