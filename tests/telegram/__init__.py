"""Telegram on loopback, for tests: a server that speaks the Bot API, and a city of people."""
