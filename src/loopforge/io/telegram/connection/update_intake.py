"""Intake: updates of one bot, taken in chat by chat, and up to where it may be acknowledged.

The updates of a chat are taken in one after the other, chats side by side: a file that comes slowly
holds up its own chat alone. Telegram forgets whatever stands before the number that is asked for
next. So that is the first that is not taken in yet, what stands behind it comes again until then,
and is known by its number here. Telegram tells a hundred updates at once: so far the other chats
can run ahead of a slow one. What cannot be kept is dropped with what waits behind it in its chat,
and comes again in that order.

The messages of an album come one by one, and are taken in as one, with a moment for the rest.

Does not know what an update means, but that a group which becomes a supergroup stays one chat.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from itertools import takewhile
from typing import Any

import telegram
from loopforge.runtime.background_tasks import BackgroundTasks

Read = Callable[[Sequence[dict[str, Any]]], Sequence[telegram.Update]]
Take = Callable[[Sequence[telegram.Update]], Awaitable[None]]
Sleep = Callable[[float], Awaitable[None]]
Lane = tuple[int, int]
"""A chat, and in it the message under which is pressed; 0 for all that is no press."""
ALBUM = 10
"""Messages that Telegram lets an album have."""
REST = 1.5
"""Seconds for which more of an album is waited for: longer than until Telegram is asked again."""


class UpdateIntake:
    """The updates of one bot. `take` takes one in, or all that are one album.

    If it raises, they have to come again.
    """

    def __init__(self, read: Read, take: Take, sleep: Sleep = asyncio.sleep) -> None:
        self._read, self._take, self._sleep = read, take, sleep
        self._tasks = BackgroundTasks()
        self._lanes: dict[Lane, deque[telegram.Update]] = {}
        self._working: dict[Lane, asyncio.Task[None]] = {}
        self._page: list[int] = []
        self._done: set[int] = set()
        self._grown: dict[int, int] = {}
        self._failed: Exception | None = None

    @property
    def offset(self) -> int | None:
        """The number to ask for next; None before the first answer."""
        if not self._page:
            return None
        return next((each for each in self._page if each not in self._done), self._page[-1] + 1)

    def put(self, came: Sequence[dict[str, Any]], offset: int | None) -> None:
        """Begin with what came, asked for from `offset` on; what is under way or done stays so."""
        self._done = {each for each in self._done if offset is not None and each >= offset}
        known = self._done.union(each.update_id for lane in self._lanes.values() for each in lane)
        new = {each["update_id"]: each for each in came if each["update_id"] not in known}
        self._page = [each["update_id"] for each in came] or self._page
        updates = self._read(list(new.values()))
        self._done |= new.keys() - {each.update_id for each in updates}
        for update in updates:
            key = self._lane(update)
            if (lane := self._lanes.get(key)) is None:
                lane = self._lanes[key] = deque()
                self._working[key] = self._tasks.spawn(self._work(key, lane), "a telegram chat")
            lane.append(update)

    async def settle(self, seconds: float) -> None:
        """Wait until all of it is taken in, so long at most. Raises what `take` raised."""
        if self._working:
            await asyncio.wait(self._working.values(), timeout=seconds)
        failed, self._failed = self._failed, None
        if failed is not None:
            raise failed

    async def _work(self, key: Lane, lane: deque[telegram.Update]) -> None:
        try:
            while lane:
                whole = await self._whole(lane)
                await self._take(whole)
                for each in whole:
                    self._done.add(each.update_id)
                    lane.popleft()
        except Exception as error:
            self._failed = error
        finally:
            del self._lanes[key], self._working[key]

    async def _whole(self, lane: deque[telegram.Update]) -> list[telegram.Update]:
        """What is first, with the rest of its album."""
        album, found = _album(lane[0]), 0
        while True:
            same = list(takewhile(lambda each: _album(each) == album, lane)) if album else [lane[0]]
            if not album or len(same) in (found, ALBUM) or len(lane) > len(same):
                return same[:ALBUM]
            found = len(same)
            await self._sleep(REST)

    def _lane(self, update: telegram.Update) -> Lane:
        """Whose order an update keeps: a supergroup's is that of the group which it was.

        A press of a button waits only for others on its message: Telegram wants an answer to each
        within seconds.
        """
        chat = update.effective_chat.id if update.effective_chat else 0
        if query := update.callback_query:
            return chat, query.message.message_id if query.message else 0
        if message := update.message:
            if message.migrate_to_chat_id:
                self._grown[message.migrate_to_chat_id] = chat
            if message.migrate_from_chat_id:
                self._grown[chat] = message.migrate_from_chat_id
        return self._grown.get(chat, chat), 0

    async def close(self) -> None:
        """Take in nothing more; what was not taken in comes again to whoever asks next."""
        await self._tasks.close()


def _album(update: telegram.Update) -> str:
    """The album that a message is of; "" for none."""
    message = update.message or update.channel_post
    return (message.media_group_id or "") if message else ""
