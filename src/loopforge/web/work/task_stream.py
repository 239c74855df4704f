"""The stream of a task: that something happened to it, as server-sent events.

It tells how far the task has come, never what happened: the page asks for itself again, and so
nobody is shown by the stream what the page would not show them.
"""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

from litestar import get
from litestar.params import Parameter
from litestar.response import Stream

from loopforge.people.accounts.account_values import Visitor
from loopforge.web.rendering.live_hub import server_sent_event
from loopforge.web.room.event_stream import (
    KEPT,
    PATIENCE,
    RETRY,
    CountedEvents,
    event_stream_response,
)
from loopforge.web.server.access_guards import visitor_of
from loopforge.web.server.page_context import Asked, PageContext
from loopforge.web.work.task_access import access_to, task_access
from loopforge.work.task_state import TaskState

SOON = 0.25
"""Seconds in which what happens is gathered."""
LOOK = 5.0
"""Seconds between two looks whether this page may still be told: each costs a millisecond and a
half, and one person may have two hundred pages open."""


@get("/work/{task:str}/stream", middleware=[CountedEvents])
async def follow_task(
    request: Asked,
    site: PageContext,
    visitor: Visitor,
    task: str,
    after: Annotated[int, Parameter(ge=0, le=2**53)] = 0,
) -> Stream:
    """How far the task has come, from event `after` on; ends when the session or the right does."""
    state = (await task_access(site, visitor, task)).state
    return event_stream_response(request, after, partial(_followed, request, site, state))


async def _followed(
    request: Asked, site: PageContext, state: TaskState, after: int
) -> AsyncIterator[bytes]:
    ear = site.work.store.listen(state.stream)
    site.hub.ears.add(ear)
    quiet, next_look, now = 0.0, 0.0, asyncio.get_running_loop().time
    try:
        yield b"retry: %d\n\n" % RETRY
        yield server_sent_event("hello", {"boot": site.boot, "seq": after})
        while not site.hub.closed:
            state = await site.work.store.state(state.stream)
            if now() >= next_look:
                next_look = now() + LOOK
                visitor = await visitor_of(request, site)
                if visitor is None or await access_to(site, visitor, state) is None:
                    yield server_sent_event("gone", {"why": "You no longer see this task."})
                    return
            if state.seq != after:
                after, quiet = state.seq, 0.0
                yield server_sent_event("changed", {"seq": after}, after)
            try:
                async with asyncio.timeout_at(next_look):
                    await anext(ear, None)
            except TimeoutError:
                quiet += LOOK
                if quiet >= PATIENCE:
                    quiet = 0.0
                    yield KEPT
            else:
                await site.clock.sleep(SOON)
    finally:
        site.hub.ears.discard(ear)
        ear.close()
