"""Accounts of the web room: signing in, links that let in, passwords, credentials."""
