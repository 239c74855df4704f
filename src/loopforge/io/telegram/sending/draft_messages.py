"""Drafts: how one looks; in groups, which message shows a turn in a place, and if that is over.

Asked and changed under the lock of the place, so that no draft is posted after its line. What a
draft was is in the ledger, too. Knows keys of places and turns; sends nothing.
"""

from typing import NamedTuple

from msgspec import Struct

from loopforge.io.telegram.text.markdown import LIMIT
from loopforge.io.text.spoilers import without_spoilers

CURSOR = " ▌"
"""Ends what is not said yet."""
REMEMBERED = 1000
"""Drafts of which it is remembered how they stand."""


def draft_as_message(text: str) -> str:
    """A draft as a message; what is hidden in a line stands in none of its drafts."""
    return without_spoilers(text[: 4 * LIMIT])[: LIMIT // 2] + CURSOR


class GroupDraftKey(NamedTuple):
    """A turn in a place."""

    place: str
    turn: str


class GroupDraft(Struct):
    """One of them. `message` shows it; 0 if this process posted none.

    `over`: it was said there, or taken back: nothing of it is drafted any more. `lost`: its posting
    broke off, so that it may stand there and nobody has looked for it.
    """

    message: int = 0
    over: bool = False
    lost: bool = False

    def end(self) -> int:
        """Nothing of it is drafted from now on; the message that showed it, or 0."""
        message, self.message, self.over = self.message, 0, True
        return message

    def lose(self) -> None:
        """It may stand there, and nobody knows as which message: it is drafted no more."""
        self.over = self.lost = True


class GroupDrafts(dict[GroupDraftKey, GroupDraft]):
    """How each stands that one surface may be asked of: the newest of them."""

    def __missing__(self, key: GroupDraftKey) -> GroupDraft:
        """One of which nothing is known."""
        found = self[key] = GroupDraft()
        while len(self) > REMEMBERED:
            del self[next(iter(self))]
        return found
