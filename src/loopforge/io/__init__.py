"""The edges: what comes in from people and goes out to them.

Each edge has a pure half that translates, and a thin half that touches the wire.
"""
