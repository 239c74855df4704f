"""A model's file in llama.cpp's format (GGUF): whether it is one.

By its head alone: magic, version, number of tensors and of facts. try_loading.py loads it.
"""

import struct
from pathlib import Path

from loopforge.errors import InputError

HEAD = struct.Struct("<4sIQQ")
VERSIONS = (2, 3)
MOST = 1_000_000
"""Tensors or facts of one file; the largest models have some thousands."""


def check_gguf(path: Path, called: str = "") -> None:
    """Raises InputError, saying what is wrong, where this is no model's file by its head.

    `called` is what people know the file by, where that is not its path.
    """
    shown = called or path
    try:
        with path.open("rb") as file:
            head = file.read(HEAD.size)
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror}.") from error
    if head[:4] != b"GGUF":
        raise InputError(
            f"{shown} is no model in llama.cpp's format: such a file begins with the letters GGUF. "
            "Look for a file whose name ends in .gguf."
        )
    if len(head) < HEAD.size:
        raise InputError(f"{shown} ends after {len(head)} bytes; fetch it again.")
    _, version, tensors, facts = HEAD.unpack(head)
    if version not in VERSIONS:
        raise InputError(f"{shown} is GGUF of version {version}; versions 2 and 3 can be read.")
    if not 0 < tensors < MOST or not 0 < facts < MOST:
        raise InputError(
            f"{shown} holds no model (vocabulary alone, or damaged): it names {tensors} tensors."
        )
