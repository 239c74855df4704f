"""Plots from tables: the tool, and the program that reads a table and draws it within limits."""
