"""Open files: as many as the system lets a process have, and how many those are.

The usual soft limit of 1024 is meant for programs that use `select`; a home that many people
visit needs more, and every connection is a file.
"""

import contextlib
import errno
import resource

MOST = 65_536
"""Files that are asked for where the system sets no bound of its own."""
SCARCE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
"""What the system answers where it has nothing left to open another file with."""


def raise_limit() -> int:
    """Take what the system allows; how many files this process may have open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):  # some systems promise more than they give
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return most_open()


def most_open() -> int:
    """How many files this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else soft
