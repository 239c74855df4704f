"""Backups of a home: made, kept by rule, checked and restored."""
