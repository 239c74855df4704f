"""The city as a test sees it: people who do things, faults on order, and records.

Every method is one command to a twin, in this process or in another: only `perform` differs.
What the commands do stands in town.py and people.py.
"""

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import msgspec

from tests.telegram.records import (
    Body,
    Bot,
    Call,
    Chat,
    Deviation,
    Draft,
    FaultKind,
    Line,
    Person,
    doubled,
)

T = TypeVar("T")
Perform = Callable[[str, Body], Awaitable[Any]]
Place = Chat | Bot
"""Where something is said; a bot stands for the private chat with it."""
PATIENCE = 120.0
"""Seconds that `until` waits before it says that nothing came."""


class City:
    """Commands and questions. See twin.py for an example. `base` is where bots ask.

    A command that cannot be done (a person who is not in the chat, say) raises ValueError.
    """

    def __init__(self, perform: Perform, base: str = "") -> None:
        self._perform, self.base = perform, base

    async def _do(self, kind: type[T], name: str, /, **arguments: Any) -> T:
        result = await self._perform(name, msgspec.to_builtins(arguments))
        return msgspec.convert(result, kind, strict=False)

    # who and where

    async def bot(
        self,
        name: str,
        username: str = "",
        *,
        reads_all: bool = False,
        meets_bots: bool = False,
    ) -> Bot:
        """A new bot. `reads_all`: privacy mode is off; `meets_bots`: bot-to-bot mode is on."""
        modes = {"reads_all": reads_all, "meets_bots": meets_bots}
        return await self._do(Bot, "bot", name=name, username=username, **modes)

    async def person(self, name: str, username: str = "") -> Person:
        """A new person."""
        return await self._do(Person, "person", name=name, username=username)

    async def private(self, person: Person, bot: Bot, *, topics: bool = False) -> Chat:
        """The private chat of the two. It is opened if it was not: the bot may write first.

        `topics`: whoever made the bot let people have several talks with it.
        """
        return await self._do(Chat, "private", person=person.id, bot=bot.id, topics=topics)

    async def group(
        self, title: str, members: Sequence[Person | Bot], admins: Sequence[Person | Bot] = ()
    ) -> Chat:
        """A basic group; the first person owns it. Bots that come in are told (my_chat_member)."""
        return await self._group("group", title, members, admins)

    async def supergroup(
        self,
        title: str,
        members: Sequence[Person | Bot],
        admins: Sequence[Person | Bot] = (),
        *,
        forum: bool = False,
        direct: bool = False,
    ) -> Chat:
        """A supergroup. `forum`: it has topics; `direct`: it is a channel's private talks."""
        kinds = {"forum": forum, "direct": direct}
        return await self._group("supergroup", title, members, admins, **kinds)

    async def _group(
        self, kind: str, title: str, members: Sequence[Any], admins: Sequence[Any], **more: Any
    ) -> Chat:
        ids = {"members": [m.id for m in members], "admins": [a.id for a in admins]}
        return await self._do(Chat, "group", kind=kind, title=title, **ids, **more)

    async def channel(
        self, title: str, owner: Person, bots: Sequence[Bot], *, linked: Chat | None = None
    ) -> Chat:
        """A channel, in which these bots may post; its posts are repeated in a `linked` group."""
        ids = [bot.id for bot in bots]
        return await self._do(Chat, "channel", title=title, owner=owner.id, bots=ids, linked=linked)

    async def topic(self, person: Person, chat: Chat, name: str) -> int:
        """Open a topic; its message_thread_id."""
        return await self._do(int, "topic", person=person.id, chat=chat, name=name)

    async def retopic(
        self, person: Person, chat: Chat, topic: int, what: str, name: str = ""
    ) -> None:
        """Let a topic be "closed", "reopened", "edited" (with another name) or "deleted"."""
        given = {"person": person.id, "chat": chat, "topic": topic, "what": what, "name": name}
        await self._do(type(None), "retopic", **given)

    async def retitle(self, person: Person, chat: Chat, title: str) -> None:
        """Give a group another name."""
        await self._do(type(None), "retitle", person=person.id, chat=chat, title=title)

    # what people do

    async def say(
        self,
        person: Person | Bot,
        place: Place,
        text: str = "",
        *,
        reply_to: Line | None = None,
        topic: int | None = None,
        entities: Sequence[Body] | None = None,
        document: tuple[str, bytes] | None = None,
        origin: Person | None = None,
        anonymous: bool = False,
        channel: Chat | None = None,
        poll: Sequence[str] | None = None,
        album: str = "",
        location: Sequence[float] | None = None,
        content: Body | None = None,
        kind: str = "document",
        quote: str = "",
    ) -> Line:
        """Say something; with a file the text is its caption.

        Commands, mentions and links in it become entities as Telegram's apps make them, unless
        `entities` are given. `document` is (name, bytes); `origin` whose words are forwarded.
        `anonymous`: said as the group itself, or as a `channel` of theirs. `poll`: a question, and what may be chosen.
        `album`: a number that several files have, which are given at once. `location`: where
        they are, live. `content`: what else a message may hold, as Telegram tells it (a game, say);
        `kind` as what a document comes (a voice); `quote` the part of what it answers that it is to.
        """
        chat = await self._place(person, place)
        return await self._do(
            Line,
            "say",
            person=person.id,
            chat=chat,
            text=text,
            reply=reply_to.key if reply_to else None,
            topic=topic,
            entities=None if entities is None else list(entities),
            name=document[0] if document else "",
            document=b64encode(document[1]).decode() if document else None,
            origin=origin.id if origin else None,
            anonymous=anonymous,
            channel=channel,
            poll=list(poll) if poll else None,
            album=album,
            location=list(location) if location else None,
            content=content,
            kind=kind,
            quote=quote,
        )

    async def _place(self, person: Person | Bot, place: Place) -> Chat:
        if not isinstance(place, Bot):
            return place
        assert isinstance(person, Person), "no bot writes to another in private here"
        return await self.private(person, place)

    async def command(
        self,
        person: Person | Bot,
        place: Place,
        name: str,
        arguments: str = "",
        *,
        of: Bot | None = None,
    ) -> Line:
        """Press "/name"; `of`: that bot's, from the menu of a group ("/name@bot")."""
        word = f"/{name}@{of.username}" if of else f"/{name}"
        return await self.say(person, place, f"{word} {arguments}".strip())

    async def move(self, person: Person, line: Line, location: Sequence[float]) -> Line:
        """Be elsewhere, in a location that is shared live."""
        given = {"person": person.id, "key": line.key, "location": list(location)}
        return await self._do(Line, "move", **given)

    async def edit(self, person: Person, line: Line, text: str) -> Line:
        """Change one's own message."""
        return await self._do(Line, "edit", person=person.id, key=line.key, text=text)

    async def press(self, person: Person, line: Line, label: str = "", *, data: str = "") -> str:
        """Press a button, by what stands on it (or send other data there); what it was told."""
        number = await self.pressing(person, line, label, data=data)

        async def answered() -> str | None:
            return await self._do(str | None, "pressed", number=number)  # type: ignore[arg-type]

        return await self.until(answered) or ""

    async def pressing(self, person: Person, line: Line, label: str = "", *, data: str = "") -> str:
        """Press it, and wait for nothing; the press' number."""
        given = {"person": person.id, "key": line.key, "label": label, "data": data}
        return await self._do(str, "press", **given)

    async def delete(self, person: Person, line: Line) -> None:
        """Delete a message. Telegram tells no bot of it."""
        await self._do(type(None), "delete", person=person.id, key=line.key)

    async def react(self, person: Person, line: Line, *emoji: str, anonymous: bool = False) -> None:
        """Set the person's (or, `anonymous`, the group's) reactions to a message; none: none."""
        given = {"person": person.id, "key": line.key, "emoji": list(emoji)}
        await self._do(type(None), "react", **given, anonymous=anonymous)

    async def add(self, person: Person, bot: Bot, chat: Chat) -> None:
        """Take a bot into a group."""
        await self._do(type(None), "add", person=person.id, bot=bot.id, chat=chat)

    async def kick(self, person: Person, bot: Bot, chat: Chat, *, restricted: bool = False) -> None:
        """Throw a bot out of a group; one that was `restricted` there is called so afterwards."""
        given = {"person": person.id, "bot": bot.id, "chat": chat, "restricted": restricted}
        await self._do(type(None), "kick", **given)

    async def block(self, person: Person, bot: Bot) -> None:
        """Stop a bot: what it writes to the person is refused with 403."""
        await self._do(type(None), "block", person=person.id, bot=bot.id, stop=True)

    async def unblock(self, person: Person, bot: Bot) -> None:
        """Start a bot again."""
        await self._do(type(None), "block", person=person.id, bot=bot.id, stop=False)

    async def upgrade(self, chat: Chat) -> Chat:
        """Make a supergroup of a group; the old id then answers with migrate_to_chat_id."""
        return await self._do(Chat, "upgrade", chat=chat)

    # trouble

    async def fault(
        self,
        method: str,
        kind: FaultKind,
        *,
        times: int = 1,
        skip: int = 0,
        bot: Bot | None = None,
        chat: Chat | None = None,
        retry_after: int = 1,
        code: int = 403,
        description: str = "Forbidden: bot was blocked by the user",
    ) -> None:
        """Order trouble for the next calls of a method ("*": any but getUpdates).

        A file is fetched by "download", which can only be held, before its first byte; of those
        that were, `calls` tells.

        After `skip` calls it strikes `times` calls (of that bot, to that chat).

        - flood: 429 with retry_after, nothing done
        - before: 502, nothing done
        - after: 502, but it is done and the client does not know
        - late: 502, and it is done `retry_after` seconds later
        - cut: done, and the connection breaks in the middle of the answer
        - drop: the connection breaks without an answer, nothing done
        - hold: done; the answer comes only after `release()`
        - refuse: `code` and `description`, nothing done
        - page: `code` and a page for people, as of a proxy on the way, nothing done
        - again: for getUpdates alone: what it acknowledges is delivered once more
        - spoil: for getUpdates alone: the first update it tells is unreadable from then on
        """
        await self._do(
            type(None),
            "fault",
            method=method,
            kind=kind,
            times=times,
            skip=skip,
            bot=bot.id if bot else 0,
            chat=chat.id if chat else 0,
            retry_after=retry_after,
            code=code,
            description=description,
        )

    async def release(self) -> None:
        """Let all held answers go, and those that are to be held."""
        await self._do(type(None), "release")

    # records

    async def lines(
        self, place: Chat | None = None, by: Person | Bot | None = None, last: int = 0
    ) -> list[Line]:
        """Every message (of a chat, of an author) in order, service messages too.

        `last`: only the newest so many.
        """
        author = by.id if by else 0
        return await self._do(list[Line], "lines", chat=place, author=author, last=last)

    async def calls(self, method: str = "", bot: Bot | None = None) -> list[Call]:
        """Every request (of a method, of a bot) in order."""
        return await self._do(list[Call], "calls", method=method, bot=bot.id if bot else 0)

    async def drafts(self) -> list[Draft]:
        """Every state of a draft that somebody saw, in order."""
        return await self._do(list[Draft], "drafts")

    async def waiting(self, bot: Bot) -> int:
        """How many updates the bot has not acknowledged."""
        return await self._do(int, "waiting", bot=bot.id)

    async def deviations(self) -> list[Deviation]:
        """Whatever was not as the official documents say, on either side."""
        return await self._do(list[Deviation], "deviations")

    async def doubled(self, place: Chat | None = None) -> list[list[Line]]:
        """Groups of lines that say the same twice."""
        return doubled(await self.lines(place))

    async def forgive(self) -> list[Deviation]:
        """The deviations so far, which are then forgotten: a test has strayed on purpose."""
        return await self._do(list[Deviation], "forgive")

    async def until(self, check: Callable[[], Awaitable[T]], patience: float = PATIENCE) -> T:
        """Ask again whenever something happened in the city, until the answer is true.

        Raises TimeoutError with the last answer.
        """
        last: T | None = None
        try:
            async with asyncio.timeout(patience):
                while True:
                    version = await self._do(int, "version")
                    last = await check()
                    if last:
                        return last
                    await self._perform("changed", {"version": version, "seconds": patience})
        except TimeoutError:
            raise TimeoutError(f"after {patience} s it was still {last!r}") from None

    async def heard(
        self, place: Chat, by: Bot, count: int = 1, patience: float = PATIENCE
    ) -> list[Line]:
        """Wait until a bot has said so many lines in a chat; what it said there."""

        async def enough() -> list[Line]:
            said = await self.lines(place, by)
            return said if len(said) >= count else []

        return await self.until(enough, patience)
