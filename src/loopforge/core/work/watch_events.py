"""Watches over repositories: what happens to each, in a stream of its own ("watch:REPOSITORY").

    began -> first look: the head alone is remembered
          -> new commits seen -> docstrings are missing -> a task is given -> decided on -> ...

Up to which commit a repository was looked at stands here and nowhere else, so that each commit is
seen once, whatever was restarted in between. What becomes of a task stands in its own stream.
"""

from msgspec import Struct


class CodePlace(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A function or class: its file, its name with those of its classes, its line."""

    path: str
    name: str
    line: int = 0


class WatchBegan(Struct, frozen=True, tag="watch.began", kw_only=True, omit_defaults=True):
    """A person had a registered repository watched, or has it watched otherwise from now on.

    It is looked at by `rule` (RRULE) from `start` on, local in `zone`. Its tasks are done by
    `mate` ("": the mate of the role), in `thread`, for `budget` US dollars each at most.
    """

    repo: str
    person: str
    rule: str
    start: str
    zone: str
    budget: float
    mate: str = ""
    thread: str = ""


class WatchEnded(Struct, frozen=True, tag="watch.ended", kw_only=True):
    """It is watched no longer."""

    by: str


class LookWanted(Struct, frozen=True, tag="watch.look_wanted", kw_only=True):
    """A person wants it looked at now."""

    by: str


class CommitsSeen(Struct, frozen=True, tag="watch.commits_seen", kw_only=True, omit_defaults=True):
    """Its branch was looked at up to commit `head`, from `before` on.

    `before` is "" on the first look, and where history was rewritten: then nothing counts as new.
    `missing` are all places that wait for a docstring now, of earlier commits, too; `unread` are
    files that could not be read as Python, `left` is how many places were too many.
    """

    head: str
    before: str = ""
    missing: tuple[CodePlace, ...] = ()
    unread: tuple[str, ...] = ()
    left: int = 0


class DocstringsWanted(Struct, frozen=True, tag="watch.docstrings_wanted", kw_only=True):
    """A task is given for these places; the event's id is the task's."""

    places: tuple[CodePlace, ...]


class DocstringsDecided(Struct, frozen=True, tag="watch.docstrings_decided", kw_only=True):
    """What came of that task was taken, or not; then its places are not offered again."""

    task: str
    taken: bool


WatchEvent = (
    WatchBegan | WatchEnded | LookWanted | CommitsSeen | DocstringsWanted | DocstringsDecided
)
