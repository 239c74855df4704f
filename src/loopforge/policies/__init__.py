"""Minds: pure generators from a perception to a plan. They know the core and nothing else.

Prompts are passed in as texts by name (`Prompts`); nothing here reads a file.
"""
