"""Plugins: finding what is installed, and declaring settings."""
