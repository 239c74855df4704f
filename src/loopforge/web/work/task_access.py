"""Who may see a task in the browser, and how they stand to it there.

    a task of a room       whoever was in the room when it began, and still is
    a task of no room      who gave it, and the owner of the home

For anybody else the task does not exist, as a room that one is not in. What they may do about it is
decided in work/threads/task_rights.py. The command line is the owner's, and shows all.
"""

from datetime import datetime
from typing import NamedTuple

from msgspec import Struct

from loopforge.chat.room.permissions import Grant, grant_in_room
from loopforge.chat.room.room_store import PREFIX as ROOM
from loopforge.chat.service.room_list import titled_for
from loopforge.core.room_vocabulary import PersonJoined
from loopforge.errors import Unknown
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.server.page_context import PageContext
from loopforge.work.task_state import TaskState
from loopforge.work.threads.task_rights import TaskRights, may_give

NOWHERE = "There is no such task, or it is not yours to see."


class TaskAccess(Struct, frozen=True, kw_only=True):
    """A task as one visitor stands to it; `room` is its room's slug, "" for none."""

    visitor: Visitor
    rights: TaskRights
    room: str = ""
    title: str = ""

    @property
    def state(self) -> TaskState:
        """The task as it stands."""
        return self.rights.state


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


async def task_access(site: PageContext, visitor: Visitor, task: str) -> TaskAccess:
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
    site: PageContext, visitor: Visitor, state: TaskState, rooms: RoomStands | None = None
) -> TaskAccess | None:
    """How the visitor stands to a task; None for one that they may not see.

    `rooms` keeps how they stand to rooms, for who asks of many tasks at once.
    """
    if state.opened is None:
        return None
    gave = site.people.same(state.task.person) == site.people.same(visitor.person)
    owner = visitor.right == "owner"
    if not state.thread.startswith(ROOM):
        rights = TaskRights(state=state, gave=gave, owner=owner)
        return TaskAccess(visitor=visitor, rights=rights) if gave or owner else None
    room, rooms = state.thread.removeprefix(ROOM), {} if rooms is None else rooms
    if room not in rooms:
        rooms[room] = await _stand(site, visitor, room)
    stand = rooms[room]
    if stand is None or not (gave or stand.sees(state.opened.at)):
        return None
    rights = TaskRights(
        state=state,
        gave=gave,
        owner=owner,
        tools=stand.tools,
        granted=frozenset(stand.held.tools if stand.tools else ()),
        change="change" in stand.held.rights,
        stop="stop" in stand.held.rights,
    )
    return TaskAccess(visitor=visitor, rights=rights, room=room, title=stand.title)


async def _stand(site: PageContext, visitor: Visitor, room: str) -> RoomStand | None:
    me, rooms = visitor.person, site.front.rooms
    sight = await site.front.lobby.sight(room, me)
    if not sight.here:
        return None
    came, past = None, False
    for event in await site.ledger.read(ROOM + room, kinds=["room.person_joined"]):
        if isinstance(event.body, PersonJoined) and event.body.person == me:
            came, past = event.at, event.body.past
    scene = titled_for(await rooms.scene(room, me), sight)
    held = grant_in_room(await rooms.state(room), me, owner=visitor.right == "owner")
    tools = not visitor.guest and "tools" in held.rights and may_give(held.tools)
    return RoomStand(scene.called, held, came, past, tools)
