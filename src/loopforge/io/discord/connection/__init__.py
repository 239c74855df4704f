"""Connections to Discord: accounts, their clients, limits and errors."""
