"""Taking in a picture of somebody: what stands beside their lines is small, and only a picture.

    small = await made_small(data)          # Raises BadLine, TooLarge
    await artifacts.put(small)

What people give is decoded in a process that is held to limits (avatar_resizer.py), and what comes
out is made anew of its pixels. Does not know whose picture it is.
"""

import logging
from pathlib import Path

from loopforge.artifacts.media_types import PICTURES, media_of, sides_of
from loopforge.errors import BadLine, TooLarge
from loopforge.runtime.installation.limited_process import run_limited

log = logging.getLogger(__name__)
SIDE = 128
"""Pixels of a side; a face is drawn at 86 at most, on screens of twice the pixels at 172."""
LARGEST = 10_000_000
"""Bytes that may be given: what a camera's photograph has."""
MOST_PIXELS = 50_000_000
SMALLEST = 16
"""Pixels of a side below which nobody is recognised."""
SECONDS, WALL, MEMORY = 10, 20.0, 768 * 1024 * 1024
KINDS = "PNG, JPEG, GIF or WebP"

_PROGRAM = Path(__file__).with_name("avatar_resizer.py")


async def shrink_avatar(data: bytes) -> bytes:
    """A WebP of at most SIDE pixels a side, without anything but pixels.

    Raises BadLine for what is no picture, TooLarge for what is too large to be looked at.
    """
    if len(data) > LARGEST:
        raise TooLarge(f"A picture may have {LARGEST // 1_000_000} MB; this one has more.")
    width, height = sides_of(data)
    if media_of(data[:64]) not in PICTURES or not (width and height):
        raise BadLine(f"This is no picture. Give one as {KINDS}.")
    if width * height > MOST_PIXELS:
        raise TooLarge(f"A picture of {width:,} x {height:,} pixels is too large; make it smaller.")
    if min(width, height) < SMALLEST:
        raise BadLine(f"A picture needs {SMALLEST} pixels a side; this one is smaller.")
    numbers = map(str, (SIDE, SECONDS, MEMORY))
    try:
        ended = await run_limited(_PROGRAM, tuple(numbers), data, WALL)
    except OSError as error:
        log.exception("no process could be started that would read a picture")
        raise BadLine("The picture could not be looked at now. Try again.") from error
    if ended.code or ended.code is None or not ended.output:
        log.info("a picture was not taken (%s): %s", ended.code, ended.complaint[-500:])
        raise BadLine(f"This picture is damaged, or too much. Give another one as {KINDS}.")
    return ended.output
