"""The stream of a room: everything that happens there, as server-sent events, from where one was.

Listening begins before the past is read, so that nothing falls between the two; what comes by both
ways goes out once. A browser that comes again names the last event it has (Last-Event-ID), a page
that is new names the last one on it (`after`).
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Annotated

from litestar import get
from litestar.params import Parameter
from litestar.response import Stream
from litestar.types import ASGIApp, Receive, Scope, Send

from loopforge.chat.room.event_wording import CHANGES, ERASED
from loopforge.chat.service.room_list import titled_for
from loopforge.web.rendering.line_html import change_of
from loopforge.web.rendering.live_hub import PageListener, server_sent_event
from loopforge.web.server.access_guards import RoomAccess, visitor_of
from loopforge.web.server.page_context import Asked, PageContext
from loopforge.web.server.request_limits import TooFast

PATIENCE = 15.0
"""Seconds after which a sign of life goes out, so that nobody on the way takes it for dead."""
BATCH = 200
KEPT = b": alive\n\n"
MOST, OF_ONE = 100, 200
"""Streams at once of one session, and of one person; most have a page or two of a few rooms."""
WAIT = 30.0
REWOUND = "This home is as it was at an earlier time."
RETRY = 1500
"""Milliseconds after which a browser comes again."""


class CountedEvents:
    """Counts the streams that are open, and refuses those beyond the number."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises TooFast."""
        visitor = await visitor_of(Asked(scope), scope["litestar_app"].state["site"])
        whose = (visitor.session, visitor.person) if visitor else ()
        for one, most in zip(whose, (MOST, OF_ONE), strict=False):
            if self._open[one] >= most:
                raise TooFast(f"You have {most} pages open at once. Close some of them.", WAIT)
        self._open.update(whose)
        try:
            await self._app(scope, receive, send)
        finally:
            self._open -= Counter(whose)  # and those that are none any more go


def event_stream_response(
    request: Asked, after: int, events: Callable[[int], AsyncIterator[bytes]]
) -> Stream:
    """The events after this one, or after the last that a browser had which comes again."""
    last = request.headers.get("last-event-id", "")
    after = int(last) if last.isdecimal() and len(last) < 16 else after
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return Stream(events(after), media_type="text/event-stream", headers=headers)


@get("/rooms/{room:str}/stream", middleware=[CountedEvents])
async def stream(
    request: Asked,
    site: PageContext,
    place: RoomAccess,
    after: Annotated[int, Parameter(ge=0, le=2**53)] = 0,
) -> Stream:
    """The stream; ends when the room, the stay or the session does."""
    return event_stream_response(request, after, partial(_events, request, site, place))


async def _events(
    request: Asked, site: PageContext, place: RoomAccess, after: int
) -> AsyncIterator[bytes]:
    if site.hub.closed:  # browsers come back at once, and are to find the next server
        return
    visitor = place.visitor
    listener = PageListener(visitor.person, visitor.session, place.sight, owner=place.owner)
    channel = site.hub.join(place.room, listener)
    try:
        # Whatever ended between the gate and here was not told to this listener.
        if await visitor_of(request, site) is None:
            return
        if await site.front.lobby.sight(place.room, listener.person) != place.sight:
            return
        yield b"retry: %d\n\n" % RETRY
        if after > (await site.front.rooms.state(place.room)).seq:
            yield server_sent_event("gone", {"why": REWOUND})
            return
        yield server_sent_event("hello", {"seq": after, "boot": site.boot})
        async for seq, data in _missed(site, place, after):
            after = max(after, seq)
            yield data
        for data in await _now(site, place):
            yield data
        async for data in _live(listener, after):
            yield data
    finally:
        site.hub.leave(channel, listener)


async def _missed(
    site: PageContext, place: RoomAccess, after: int
) -> AsyncIterator[tuple[int, bytes]]:
    """What happened since; where nothing is known yet, the last of it."""
    erased = await site.front.forgotten(place.room, after)
    while True:
        events = await site.front.history(place.room, after=after, limit=BATCH, sight=place.sight)
        scene = await site.front.rooms.scene(place.room, place.visitor.person)
        for event in events:
            if event.kind in CHANGES:
                yield event.seq, server_sent_event("change", change_of(event, scene), event.seq)
            else:
                html = await site.hub.render.line(event, scene, place.owner)
                yield event.seq, server_sent_event("line", html, event.seq)
        if len(events) < BATCH or not after:
            break
        after = events[-1].seq
    if erased:
        yield erased, server_sent_event("change", {"kind": ERASED, "seq": erased})


async def _now(site: PageContext, place: RoomAccess) -> list[bytes]:
    """Who is at it at this moment, and how the room stands."""
    scene = titled_for(await site.front.rooms.scene(place.room, place.visitor.person), place.sight)
    found = [server_sent_event("scene", site.hub.render.scene(scene))]
    for handle in scene.thinking:
        if scene.has(handle):
            told = {"turn": "", "mate": handle, "name": scene.mate(handle).name}
            found.append(server_sent_event("thinking", told))
    return found


async def _live(listener: PageListener, after: int) -> AsyncIterator[bytes]:
    while True:
        given = await listener.next(PATIENCE)
        if given is None:
            if listener.closed:
                return
            yield KEPT
            continue
        seq, data = given
        if not seq or seq > after:
            yield data
