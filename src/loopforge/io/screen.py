"""Whether the terminal at hand can show a room on its whole screen.

Asks the terminal's description, as every full-screen program does. Where it cannot move its cursor
or has no colours ("dumb", or something very old), the plain form serves. Draws nothing.
"""

from __future__ import annotations

import curses

COLOURS = 8
"""Fewest colours with which faces and speakers can be told apart."""


def suits(descriptor: int) -> bool:
    """Whether the terminal behind this file descriptor will do; yes if nobody has described it."""
    try:
        curses.setupterm(fd=descriptor)
    except curses.error:
        return True
    return curses.tigetstr("cup") is not None and curses.tigetnum("colors") >= COLOURS
