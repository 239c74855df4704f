"""The head of a git bundle: what it brings, and what it needs. Pure; believes nothing else of it.

# v2 git bundle
-<commit> what is needed
<commit> <ref>
(an empty line, then the pack)
"""

import re
from typing import NamedTuple

from loopforge.errors import RepositoryError

LONGEST = 64_000
"""Bytes that the head of a bundle may have."""
_LINE = re.compile(rb"(?P<needed>-?)(?P<commit>[0-9a-f]{40})(?: (?P<rest>[^\n\0]*))?")


class BundleHead(NamedTuple):
    """What stands in it. `pack` is where the pack begins."""

    refs: dict[str, str]
    pack: int


def read_head(data: bytes) -> BundleHead:
    """Read it. Raises RepositoryError for what is no bundle, or one of another kind."""
    head, found, _ = data[:LONGEST].partition(b"\n\n")
    first, _, rest = head.partition(b"\n")
    if not found or first != b"# v2 git bundle":
        raise RepositoryError("What came out of the clone is no bundle that git writes.")
    refs = dict[str, str]()
    for line in rest.split(b"\n") if rest else ():
        match = _LINE.fullmatch(line)
        if match is None:
            raise RepositoryError("The bundle has a head that cannot be read.")
        if match["needed"]:
            continue
        name = (match["rest"] or b"").decode("utf-8", "replace")
        if name in refs:
            raise RepositoryError("The bundle names a ref twice.")
        refs[name] = match["commit"].decode()
    return BundleHead(refs, len(head) + 2)


def only_commit(data: bytes, ref: str) -> tuple[str, bytes]:
    """The commit of the one ref that a bundle may bring, and its pack. Raises RepositoryError."""
    head = read_head(data)
    if set(head.refs) != {ref}:
        others = ", ".join(sorted(set(head.refs) - {ref}))[:200] or "none"
        raise RepositoryError(f"The bundle brings other refs than the result: {others}.")
    return head.refs[ref], data[head.pack :]
