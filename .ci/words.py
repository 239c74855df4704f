"""Words that stand in no file of this repository: registries, this machine's paths, things to do.

Nor do two versions of one text. Looks at every text file that git knows or would add. Exits 1 and
names file and line.
"""

import re
import subprocess
import sys
from pathlib import Path

# A letter in brackets keeps each pattern from matching itself.
FORBIDDEN = {
    r"[p]ypi\.org|[p]ythonhosted\.org|[n]pmjs\.org|[d]ebian\.org": "a registry's host name",
    r"(?<![\w.])/([w]ork/(main|shared|\.\w+)|[r]oot/|[o]pt/|[h]ome/\w+/|[t]mp/lab/)": (
        "a path of one machine"  # the pages of tasks have addresses of their own below /work
    ),
    r"\b([T]ODO|[F]IXME|[X]XX)\b": "a thing to do; do it, or say in docs what is not covered",
    r"^([<]{7}|[>]{7}) ": "two versions of a text, of which one is to be chosen",
}


def main() -> int:
    """Print every hit and return 1 if there is one."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )
    hits = [hit for name in listed.stdout.splitlines() for hit in _hits(Path(name))]
    for hit in hits:
        print(hit)
    return 1 if hits else 0


def _hits(path: Path) -> list[str]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    return [
        f"{path}:{number}: {why}: {found.group()}"
        for number, line in enumerate(lines, 1)
        for pattern, why in FORBIDDEN.items()
        if (found := re.search(pattern, line))
    ]


if __name__ == "__main__":
    sys.exit(main())
