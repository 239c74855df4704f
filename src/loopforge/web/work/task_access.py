"""Who may see a task in the browser, and what they may do about it.

    a task of a room       whoever was in the room when it began, and still is
    a task of no room      who gave it, and the owner of the home
    stop                   who sees it, and in its room may stop mates
    say                    who sees it, and in its room may have tools used; no guest may
    thumbs                 who gave it, and the owner
    resume, yes, result    those two, and who may change its room and have tools used there
    what a repository gets the owner alone: it is theirs

For anybody else the task does not exist, as a room that one is not in. The command line is the
owner's, and shows all.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from msgspec import Struct

from loopforge.chat.room.permissions import RIGHTS, Grant, granted
from loopforge.chat.room.room_store import PREFIX as ROOM
from loopforge.chat.service.room_list import titled_for
from loopforge.core.room_vocabulary import PersonJoined, Right
from loopforge.errors import NotLetIn, Unknown
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.server.page_context import Site
from loopforge.work.task_state import TaskState
from loopforge.work.threads.thread_routing import may_give

DECIDING = ("resume", "allow", "deny", "approve", "reject", "undo")
DECIDERS = "Who gave the task, who may change its room and the owner of this home decide that."
NOWHERE = "There is no such task, or it is not yours to see."


class TaskAccess(Struct, frozen=True, kw_only=True):
    """A task as one visitor stands to it; `room` is its room's slug, "" for none.

    `rights` are those that they have there, all of them where there is no room; `tools`: they may
    have those of work used; `gave`: they gave it.
    """

    state: TaskState
    visitor: Visitor
    room: str = ""
    title: str = ""
    rights: tuple[Right, ...] = RIGHTS
    tools: bool = True
    gave: bool = False

    @property
    def stops(self) -> bool:
        """Whether they may stop it."""
        return self.gave or "stop" in self.rights

    @property
    def steers(self) -> bool:
        """Whether it heeds what they say."""
        return self.tools

    @property
    def rates(self) -> bool:
        """Whether their thumbs count."""
        return self.gave or self.owner

    @property
    def decides(self) -> bool:
        """Whether they may let it go on, allow a tool, and decide on what came of it."""
        return self.gave or self.owner or (self.tools and "change" in self.rights)

    @property
    def owner(self) -> bool:
        """Whether the visitor is the owner of the home."""
        return self.visitor.right == "owner"

    @property
    def merges(self) -> bool:
        """Whether they may have its result merged, or taken back."""
        return self.owner if self.state.task.repo else self.decides

    def must(self, act: str) -> None:
        """Raise NotLetIn for what this visitor may not do, however the task stands."""
        merging = act == "approve" or (act == "undo" and self.state.stage == "approved")
        if merging and self.state.task.repo and not self.merges:
            raise NotLetIn("Only the owner of this home decides what goes into a repository.")
        if act == "stop" and not self.stops:
            raise NotLetIn("You may not stop mates in the room of this task.")
        if act == "say" and not self.steers:
            raise NotLetIn("You may not have tools used in the room of this task.")
        if act in ("up", "down") and not self.rates:
            raise NotLetIn("Thumbs count of whoever gave the task, and of the owner of this home.")
        if act in DECIDING and not self.decides:
            raise NotLetIn(DECIDERS)


class RoomStand(NamedTuple):
    """How a visitor stands to a room that they are in: `came` is when they last came in.

    `tools`: they may have those of work used there, which no guest of the home may.
    """

    title: str
    held: Grant
    came: datetime | None
    past: bool
    tools: bool

    def sees(self, began: datetime) -> bool:
        """Whether they were there when something began, or may see what was before them."""
        return self.came is not None and (self.past or self.came <= began)


RoomStands = dict[str, RoomStand | None]
"""By room; None for one that they are not in."""


async def task_access(site: Site, visitor: Visitor, task: str) -> TaskAccess:
    """A task by its id, as the visitor stands to it. Raises Unknown, whether it exists or not."""
    try:
        state = await site.work.store.named(task)
    except Unknown:
        raise Unknown(NOWHERE) from None
    found = await access_to(site, visitor, state)
    if found is None:
        raise Unknown(NOWHERE)
    return found


async def access_to(
    site: Site, visitor: Visitor, state: TaskState, rooms: RoomStands | None = None
) -> TaskAccess | None:
    """How the visitor stands to a task; None for one that they may not see.

    `rooms` keeps how they stand to rooms, for who asks of many tasks at once.
    """
    if state.opened is None:
        return None
    gave = site.people.same(state.task.person) == site.people.same(visitor.person)
    if not state.thread.startswith(ROOM):
        if gave or visitor.right == "owner":
            return TaskAccess(state=state, visitor=visitor, gave=gave)
        return None
    room, rooms = state.thread.removeprefix(ROOM), {} if rooms is None else rooms
    if room not in rooms:
        rooms[room] = await _stand(site, visitor, room)
    stand = rooms[room]
    if stand is None or not (gave or stand.sees(state.opened.at)):
        return None
    return TaskAccess(
        state=state,
        visitor=visitor,
        room=room,
        title=stand.title,
        rights=stand.held.rights,
        tools=stand.tools,
        gave=gave,
    )


async def _stand(site: Site, visitor: Visitor, room: str) -> RoomStand | None:
    me, rooms = visitor.person, site.front.rooms
    sight = await site.front.lobby.sight(room, me)
    if not sight.here:
        return None
    came, past = None, False
    for event in await site.ledger.read(ROOM + room, kinds=["room.person_joined"]):
        if isinstance(event.body, PersonJoined) and event.body.person == me:
            came, past = event.at, event.body.past
    scene = titled_for(await rooms.scene(room, me), sight)
    held = granted(await rooms.state(room), me, owner=visitor.right == "owner")
    tools = not visitor.guest and "tools" in held.rights and may_give(held.tools)
    return RoomStand(scene.title or room, held, came, past, tools)
