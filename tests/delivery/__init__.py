"""Delivery: many lines through a platform that fails, by a home that is killed, and the count."""
