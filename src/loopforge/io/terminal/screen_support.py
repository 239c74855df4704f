"""Whether the terminal at hand can show a room on its whole screen, and whether it is still there.

Asks the terminal's description, as every full-screen program does. Where it cannot move its cursor
or has no colours ("dumb", or something very old), the plain form serves. Draws nothing.
"""

import curses
import os
import signal
import threading

COLOURS = 8
"""Fewest colours with which faces and speakers can be told apart."""


def is_screen_capable(descriptor: int) -> bool:
    """Whether the terminal behind this file descriptor will do; yes if nobody has described it."""
    try:
        curses.setupterm(fd=descriptor)
    except curses.error:
        return True
    return curses.tigetstr("cup") is not None and curses.tigetnum("colors") >= COLOURS


LOOK = 1.0
"""Seconds between two looks whether the terminal is still there."""


def exit_with_terminal(descriptor: int) -> None:
    """End this process once the terminal behind this file descriptor is gone: its window closed.

    Who leads the session (make, a launcher) is told of that by a signal, and we are not; reading
    from a terminal that is gone returns at once, for ever. Nothing is lost by it: a home may end
    at any moment.
    """

    def watch() -> None:
        never = threading.Event()
        while os.isatty(descriptor):
            never.wait(LOOK)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="terminal", daemon=True).start()
