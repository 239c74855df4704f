"""The live hub: what is in the air of a room, rendered once and handed to every open page of it.

    room's air --> Channel (renders) --> Listener (one open page) --> server-sent events

A listener is given only what its person may see. One that does not read falls behind and is cut;
its browser comes again and is given what it missed. Nothing here is kept.
"""

import asyncio
import contextlib
import json
import logging
from collections import deque

from jinja2 import Environment
from litestar.response.sse import ServerSentEventMessage

from loopforge.chat.commands.approval_commands import ANSWER
from loopforge.chat.room.event_wording import CHANGES, ERASED, SHOWN
from loopforge.chat.room.member_visibility import MemberSight
from loopforge.chat.room.room_snapshot import RoomSnapshot
from loopforge.chat.rooms_api import RoomsApi, changed_line
from loopforge.chat.service.room_list import titled_for
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, LineEdited, PersonLeft, RoomClosed, Said
from loopforge.errors import LoopforgeError, Unreachable
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import (
    Draft,
    Listening,
    Rested,
    Signal,
    Thinking,
    ToolProgress,
    Withdrawn,
)
from loopforge.web.rendering import markdown_html
from loopforge.web.rendering.line_html import LineHtml, change_of, for_owner_too, names_of

log = logging.getLogger(__name__)
BEHIND = 1000
"""Messages a page may be behind before it is cut off."""
BREATHER = 0.08
"""Seconds between two looks at one room: drafts and changes of scene are gathered so long."""

SCENERY = frozenset(
    {
        "room.heard",
        "room.said",
        "room.line_edited",
        "room.line_deleted",
        "room.person_joined",
        "room.person_left",
        "room.mate_joined",
        "room.mate_left",
        "room.stood_in",
        "room.stood_down",
        "room.stopped",
        "room.titled",
        "room.energy_set",
        "room.policy_chosen",
        "room.conversation_began",
        "room.conversation_ended",
        "reminder.set",
        "reminder.moved",
        "reminder.cancelled",
        "reminder.fired",
        ERASED,
    }
)
"""Events after which the room's scene may be another."""


def server_sent_event(event: str, data: object, id: int | None = None) -> bytes:
    """One server-sent event; what is no text goes as JSON."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return ServerSentEventMessage(event=event, data=text, id=id, sep="\n").encode()


class LiveRenderer:
    """How a line, the side panel and the words of a draft look, by the templates of this site."""

    def __init__(self, front: RoomsApi, environ: Environment) -> None:
        self._front, self._lines = front, LineHtml(environ)
        self._panel = environ.get_template("room-members.html")

    async def line(self, event: Event, scene: RoomSnapshot, owner: bool) -> str:
        """A line with whom it answers; `owner`: for the owner's eyes."""
        replied = None
        if isinstance(event.body, Heard | Said) and event.body.reply_to:
            with contextlib.suppress(LoopforgeError):  # it may be known no more
                replied = await self._front.line(scene.room, event.body.reply_to)
        used = await self._front.used(event)
        return self._lines.render(event, scene, replied, used, owner=owner)

    def scene(self, scene: RoomSnapshot) -> str:
        """The side panel."""
        return self._panel.render(scene=scene)

    def words(self, text: str, scene: RoomSnapshot) -> str:
        """What a mate has said so far."""
        return str(markdown_html.render_markdown(text, names_of(scene), growing=True))

    def forget_all(self) -> None:
        """Texts were forgotten; nothing rendered may outlive them."""
        self._lines.forget_all()


class PageListener:
    """One open page: what it is still to be given. `session` ends it, `sight` bounds it."""

    def __init__(
        self, person: str, session: str, sight: MemberSight, *, owner: bool = False
    ) -> None:
        self.person, self.session, self.sight, self.owner = person, session, sight, owner
        self._waiting: deque[tuple[str, int, bytes]] = deque()
        self._wake = asyncio.Event()
        self.closed = False

    def put(self, data: bytes, *, seq: int = 0, about: int = 0, draft: str = "") -> None:
        """Hand it something; a newer draft of the same turn takes the place of an older one.

        `about` is the line that it changes: nobody hears of a line that they may not see.
        """
        if self.closed or any(each and not self.sight.sees(each) for each in (seq, about)):
            return
        if draft and self._waiting and self._waiting[-1][0] == draft:
            self._waiting.pop()
        self._waiting.append((draft, seq, data))
        if len(self._waiting) > BEHIND:
            self.close()
        self._wake.set()

    def close(self, farewell: bytes = b"") -> None:
        """Let it go, with a last word if there is one."""
        if farewell:
            self._waiting.append(("", 0, farewell))
        self.closed = True
        self._wake.set()

    async def next(self, patience: float) -> tuple[int, bytes] | None:
        """The next thing and its sequence number; None when nothing came, or it is over."""
        if not self._waiting and not self.closed:
            self._wake.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await self._wake.wait()
        if not self._waiting:
            return None
        _, seq, data = self._waiting.popleft()
        return seq, data


class PageChannel:
    """One room that somebody looks at."""

    def __init__(self, front: RoomsApi, room: str, render: LiveRenderer) -> None:
        self._front, self.room, self._render = front, room, render
        self.listeners: set[PageListener] = set()
        self._ear = front.rooms.listen(room)
        self._drafts: dict[str, Draft] = {}
        self._over: deque[str] = deque(maxlen=100)
        self._looking = asyncio.Event()
        self._stale = False
        self._shown = ""
        self._tasks = BackgroundTasks()
        self._tasks.spawn(self._listen_to_room(), f"web: listening in {room}")
        self._tasks.spawn(self._look_for_changes(), f"web: looking at {room}")

    async def close(self) -> None:
        """Stop listening."""
        self._ear.close()
        await self._tasks.close()

    def look_anew(self) -> None:
        """The scene may be another."""
        self._stale = True
        self._looking.set()

    def give(self, data: bytes, *, seq: int = 0, about: int = 0, draft: str = "") -> None:
        """Give all listeners something."""
        for listener in tuple(self.listeners):
            listener.put(data, seq=seq, about=about, draft=draft)

    async def _listen_to_room(self) -> None:
        async for what in self._ear:
            try:
                await self._hear_signal(what)
            except Exception:  # whatever one event does, the next one is heard
                log.exception("something could not be shown in %s", self.room)

    async def _hear_signal(self, what: Event | Signal) -> None:
        match what:
            case Event():
                await self._take_event(what)
            case Draft():
                self._drafts[what.turn] = what
                self._looking.set()
            case Thinking() | Rested():
                kind = "thinking" if isinstance(what, Thinking) else "rested"
                scene = await self._front.rooms.scene(self.room)
                if scene.has(what.mate):
                    name = scene.mate(what.mate).name
                    self.give(
                        server_sent_event(
                            kind, {"turn": what.turn, "mate": what.mate, "name": name}
                        )
                    )
                else:
                    self.look_anew()  # the room itself: it may be writing down a voice note
            case ToolProgress():
                scene = await self._front.rooms.scene(self.room)
                if scene.has(what.mate):
                    says = f"{scene.mate(what.mate).name} uses {what.tool}"
                    says += f": {what.text}" if what.text else ""
                    told = {"effect": what.effect, "mate": what.mate, "says": says}
                    self.give(
                        server_sent_event("progress", told | {"part": what.part, "over": what.over})
                    )
            case Withdrawn():
                self._over.append(what.turn)
                scene = await self._front.rooms.scene(self.room)
                if scene.has(what.mate):
                    told = {"turn": what.turn, "mate": what.mate, "why": what.why}
                    self.give(
                        server_sent_event("withdrawn", told | {"name": scene.mate(what.mate).name})
                    )

    async def _take_event(self, event: Event) -> None:
        if isinstance(event.body, RoomClosed):
            for listener in tuple(self.listeners):
                listener.close(server_sent_event("gone", {"why": "This room was deleted."}))
            return
        if isinstance(event.body, Said | LineEdited):
            self._over.append(event.body.turn)
        if event.kind in CHANGES:
            about = (await self._front.line(self.room, changed_line(event))).seq
            change = change_of(event, await self._front.rooms.scene(self.room))
            self.give(server_sent_event("change", change, event.seq), seq=event.seq, about=about)
        elif event.kind == ERASED:
            self.give(
                server_sent_event("change", {"kind": ERASED, "seq": event.seq}), seq=event.seq
            )
        elif event.kind in SHOWN:
            await self._give_line(event, await self._front.rooms.scene(self.room))
        elif isinstance(event.body, ANSWER) and (asked := await self._front.questions.about(event)):
            self.give(
                server_sent_event("change", {"kind": event.kind, "line": asked.id}), about=asked.seq
            )
        if isinstance(event.body, PersonLeft):
            for listener in tuple(self.listeners):
                if listener.person == event.body.person:
                    listener.close(server_sent_event("gone", {"why": "You have left this room."}))
        if event.kind in SCENERY:
            self.look_anew()

    async def _give_line(self, event: Event, scene: RoomSnapshot) -> None:
        """A line, in the owner's form to the owner's pages where it has one."""
        plain = server_sent_event("line", await self._render.line(event, scene, False), event.seq)
        more = plain
        if for_owner_too(event):
            more = server_sent_event("line", await self._render.line(event, scene, True), event.seq)
        for listener in tuple(self.listeners):
            listener.put(more if listener.owner else plain, seq=event.seq)

    async def _look_for_changes(self) -> None:
        """Show drafts as they have grown, and the scene where it has changed; not too often."""
        while True:
            await self._looking.wait()
            self._looking.clear()
            try:
                await self._show_changes()
            except Exception:
                log.exception("drafts or the scene could not be shown in %s", self.room)
            await asyncio.sleep(BREATHER)

    async def _show_changes(self) -> None:
        drafts, self._drafts = self._drafts, {}
        stale, self._stale = self._stale, False
        try:
            scene = await self._front.rooms.scene(self.room)
        except LoopforgeError:  # the room is gone
            return
        for draft in drafts.values():
            if scene.has(draft.mate) and draft.turn not in self._over:
                self.give(self._draft_message(draft, scene), draft=draft.turn)
        if stale and (html := self._render.scene(scene)) != self._shown:
            self._shown = html
            self._give_scene(scene, server_sent_event("scene", html))

    def _give_scene(self, scene: RoomSnapshot, whole: bytes) -> None:
        """The scene, without its title for those who could not hear what that was made of."""
        bare = b""
        for listener in tuple(self.listeners):
            theirs = titled_for(scene, listener.sight)
            if theirs is scene:
                listener.put(whole)
                continue
            bare = bare or server_sent_event("scene", self._render.scene(theirs))
            listener.put(bare)

    def _draft_message(self, draft: Draft, scene: RoomSnapshot) -> bytes:
        mate = scene.mate(draft.mate)
        html = self._render.words(draft.text, scene)
        told = {"turn": draft.turn, "mate": draft.mate, "name": mate.name, "html": html}
        told["anew"] = draft.anew
        return server_sent_event("draft", told)


class LiveHub:
    """The rooms that somebody looks at, and who does; `ears` are what other pages listen with."""

    def __init__(self, front: RoomsApi, render: LiveRenderer) -> None:
        self._front, self.render = front, render
        self._channels: dict[str, PageChannel] = {}
        self._tasks = BackgroundTasks()
        self._closed = False
        self.ears: set[Listening] = set()

    @property
    def closed(self) -> bool:
        """Whether everybody is let go, for the server ends."""
        return self._closed

    def join(self, room: str, listener: PageListener) -> PageChannel:
        """Listen in a room from now on. Raises Unreachable once everybody is let go."""
        if self._closed:
            raise Unreachable("Loopforge is stopping.")
        if room not in self._channels:
            self._channels[room] = PageChannel(self._front, room, self.render)
        channel = self._channels[room]
        channel.listeners.add(listener)
        return channel

    def leave(self, channel: PageChannel, listener: PageListener) -> None:
        """Listen no longer."""
        channel.listeners.discard(listener)
        if not channel.listeners and self._channels.get(channel.room) is channel:
            del self._channels[channel.room]
            self._tasks.spawn(channel.close(), f"web: leaving {channel.room}")

    def typing(self, room: str, person: str, name: str) -> None:
        """A person is typing; the others' pages show it."""
        if channel := self._channels.get(room):
            channel.give(server_sent_event("typing", {"person": person, "name": name}))

    def here(self, room: str) -> frozenset[str]:
        """The people whose pages are open on this room."""
        channel = self._channels.get(room)
        return frozenset(one.person for one in channel.listeners) if channel else frozenset()

    def look_anew(self) -> None:
        """Somebody looks otherwise than before, wherever they are."""
        self.render.forget_all()
        for channel in self._channels.values():
            channel.look_anew()

    def cut(self, session: str) -> None:
        """A session is over: its pages are told, and hear no more."""
        gone = server_sent_event("gone", {"why": "You are signed out."})
        for channel in self._channels.values():
            for listener in tuple(channel.listeners):
                if listener.session == session:
                    listener.close(gone)

    async def close(self) -> None:
        """Let everybody go; their browsers come again when there is a server again."""
        self._closed = True
        for ear in self.ears:
            ear.close()
        for channel in tuple(self._channels.values()):
            for listener in tuple(channel.listeners):
                listener.close()
            await channel.close()
        self._channels.clear()
        await self._tasks.close()
