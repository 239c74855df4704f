"""The bots of ours that are there: who speaks for whom, who is in a group, who acts.

Several of our bots in a group are told the same: `acts` lets the first of them that comes do it. In
a basic group they do not even know it for the same, since each has numbers of its own for the
messages, and in a channel not who of us says something: one of them, the `ear`, hears and speaks
there for all.

Does not know rooms, and does not send.
"""

from collections.abc import Collection, Mapping, Sequence

import telegram
from loopforge.chat.speaking.name_mentions import first_named
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.core.mates.mate_file import Mate
from loopforge.io.telegram.connection.chat_keys import ChatKey
from loopforge.io.telegram.connection.polling import BotPolling
from loopforge.io.telegram.text.incoming_message import is_bot_mentioned

REMEMBERED = 1000
"""Messages of which it is remembered that one of us acted on them."""


class BotAccounts:
    """Our bots, by the accounts' order."""

    def __init__(self, polls: Sequence[BotPolling], mates: Mapping[str, Mate]) -> None:
        self._polls, self._mates = polls, mates
        self._acted: BoundedMapping[tuple[str, int], None] = BoundedMapping(REMEMBERED)

    def acts(self, place: str, message: int) -> bool:
        """Whether nobody of us acted on a message yet; whoever asks does now."""
        key = (place, message)
        if key in self._acted:
            return False
        self._acted[key] = None
        return True

    def failed(self, place: str, message: int) -> None:
        """Whoever acted on it could not: it may be tried again."""
        self._acted.pop((place, message), None)

    def ours(self) -> list[int]:
        """The ids of our bots."""
        return [each.number for each in self._polls]

    def names(self, message: telegram.Message) -> dict[str, str]:
        """The names of mates by the usernames that call them: a shared bot's, whom it names."""
        text, found = message.text or message.caption or "", dict[str, str]()
        for poll in self._polls if not message.forward_origin else ():
            here = {m: self._mates[m].name for m in self.mates_of(poll) if m in self._mates}
            mate = first_named(text, here) if poll.shared else poll.mates[0]
            if poll.known and mate in here:
                found[poll.bot.username] = here[mate]
        return found

    def called(self, message: telegram.Message) -> bool:
        """Whether a bot of ours is mentioned that is there for several mates."""
        return any(each.shared for each in self._mentioned(message))

    def mentioned(self, message: telegram.Message) -> bool:
        """Whether any bot of ours is mentioned."""
        return bool(self._mentioned(message))

    def _mentioned(self, message: telegram.Message) -> list[BotPolling]:
        known = [each for each in self._polls if each.known]
        return [each for each in known if is_bot_mentioned(message, each.bot.username)]

    def mates_of(self, poll: BotPolling) -> tuple[str, ...]:
        """The mates that are there by a bot; by a shared one those that have none of their own."""
        own = {each.mates[0] for each in self._polls if not each.shared}
        wanted = self._mates if "*" in poll.mates else poll.mates
        return tuple(each for each in wanted if not poll.shared or each not in own)

    async def here(
        self, poll: BotPolling, chat: int, known: Collection[int | None] = ()
    ) -> list[BotPolling]:
        """Those of us that are in a group in which this one is, and those `known` to have been."""
        return [
            each
            for each in self._polls
            if each is poll or await each.groups.member(chat, before=each.number in known)
        ]

    def ear(self, here: Sequence[BotPolling], known: Collection[int | None]) -> BotPolling:
        """Who of those in a chat is its ear: who was, or else one that hears all of it."""
        were = [each for each in here if each.number in known]
        may = [e for e in here if not e.known or e.bot.can_read_all_group_messages]
        return [*were, *may, *here][0]

    async def mates(self, poll: BotPolling, at: ChatKey) -> tuple[str, ...]:
        """The mates that are in a place: those of every bot of ours that is there."""
        polls = [poll] if at.private else await self.here(poll, at.chat)
        found: dict[str, None] = {}
        for each in polls:
            found |= dict.fromkeys(self.mates_of(each))
        return tuple(mate for mate in found if mate in self._mates)
