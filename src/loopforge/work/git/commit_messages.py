"""The message of a task's commit: what was done, which files, and what its tests said. Pure.

A mate's words go into it as words: no escape, no sign that is not seen, and no line at its end that
would say who else signed it.
"""

import re
from collections.abc import Sequence

from loopforge.core.egress.egress_filter import strip_control_characters
from loopforge.work.git.change_review import PathChange, shown_path

SUBJECT, BODY, LISTED = 72, 4_000, 50
"""Signs of the first line, of the rest of what the mate says, and files that are named."""
_TRAILER = re.compile(r"^(\s*[A-Za-z-]+-by[ \t]*:)", re.IGNORECASE | re.MULTILINE)


def branch_name(title: str, task: str) -> str:
    """A branch named after a task: `title` as a slug, and `task`, which keeps it apart."""
    return f"task/{title}-{task}" if title else f"task/{task}"


def commit_message(
    summary: str, changes: Sequence[PathChange], tests: Sequence[str] = (), mate: str = ""
) -> str:
    """The whole message. `tests` are lines that say which tests were run, and how they ended."""
    first, _, rest = strip_control_characters(summary).strip().partition("\n")
    subject = " ".join(first.split())
    if len(subject) > SUBJECT:
        rest = f"{subject}\n{rest}"
        subject = f"{subject[: SUBJECT - 1].rsplit(' ', 1)[0]}…"
    files = [f"- {_kind(change)} {shown_path(change.path)}" for change in changes[:LISTED]]
    if more := len(changes) - len(files):
        files.append(f"- and {more:,} more")
    told = [strip_control_characters(line).replace("\n", " ")[:300] for line in tests]
    blocks = [
        subject or "Work of a task",
        _TRAILER.sub(r"| \1", rest.strip()[:BODY]),
        "\n".join(["Files", *files]) if files else "",
        "\n".join(["Tests", *(f"- {line}" for line in told)] if told else ["Tests", "- none ran"]),
        f"Made by the mate {strip_control_characters(mate)} in a task of Loopforge."
        if mate
        else "",
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _kind(change: PathChange) -> str:
    if change.goes:
        return "deleted"
    return "added" if change.was == "000000" else "changed"
