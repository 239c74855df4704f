"""The ledger as a page: its newest events, and whether all of it is as it was written.

The words of an event are read only where the owner was in the room when it happened; of all others
they see that something happened, when, and which kind. Of a turn's record no words are shown here:
"why?" shows them, to whom it may.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, get_args

from litestar import get, post
from litestar.params import Parameter
from litestar.response import Redirect, Template
from msgspec import Struct

from loopforge.chat.room.room_store import PREFIX
from loopforge.core.events import Body, Event
from loopforge.core.text.erasable_text import Words
from loopforge.core.text.name_labels import truncate_text
from loopforge.errors import LoopforgeError
from loopforge.ledger.chain_verify import LedgerVerification
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.ledger.storage.event_reading import EventListing, newest_events
from loopforge.people.accounts.account_values import Visitor
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock
from loopforge.web.admin.hidden_rooms import OPEN, HiddenRooms, veil_of
from loopforge.web.server.page_context import Asked, PageContext, render_page

PAGE = 50
BRIEF = 160
"""Characters of an event that are shown."""
HIDDEN = "[private]"
SPOKEN = ("room.heard", "room.said", "room.told", "room.titled", "room.person_joined")
"""Kinds of event whose words the owner sees, if they were there."""
FINDINGS = 100
"""Findings of a verifying that are shown one by one."""

Name = Annotated[str, Parameter(max_length=300)]


class LedgerEntry(Struct, frozen=True, kw_only=True):
    """One event as it is listed. `why` is the address of its flight record, where there is one."""

    id: str
    stream: str
    seq: int
    kind: str
    actor: str
    at: datetime
    brief: str
    hidden: bool
    why: str = ""


# ---------------------------------------------------------------- the newest events


async def newest(
    ledger: SqlLedger, veil: HiddenRooms, stream: str, kind: str, before: str
) -> list[tuple[Event, bool]]:
    """The events before an id, newest first, and whether each may be read; one more than a page."""

    def told(event: Event) -> bool:
        seen = veil.sees(event.stream, event.seq)
        return seen and (event.stream in OPEN or event.kind in SPOKEN)

    listing = EventListing(stream=stream, kind=kind, before=before, limit=PAGE + 1)
    found = await newest_events(ledger, listing, told)
    return [(event, veil.sees(event.stream, event.seq)) for event in found]


def entry(event: Event, veil: HiddenRooms, names: Mapping[str, str], *, open: bool) -> LedgerEntry:
    """An event as it is listed; `names` are those of people by their actor."""
    room = event.stream.removeprefix(PREFIX)
    told = open and event.kind == "room.said"
    return LedgerEntry(
        id=event.id,
        stream=veil.name(event.stream),
        seq=event.seq,
        kind=event.kind,
        actor=names.get(event.actor, event.actor),
        at=event.at,
        # names are veiled before it is clipped: half of one would not be found
        brief=truncate_text(veil.over(brief(event)), BRIEF) if open else HIDDEN,
        hidden=not open,
        why=f"/rooms/{room}/why/{event.id}" if told and veil.here(event.stream) else "",
    )


def brief(event: Event) -> str:
    """What an event says, in one line: its text if it has one, else its plain fields."""
    words = event.stream in OPEN or event.kind in SPOKEN
    text = getattr(event.body, "text", None)
    if words and isinstance(text, Words) and event.stream not in OPEN:
        said = f"“{text}”"
    else:
        fields = {name: getattr(event.body, name) for name in event.body.__struct_fields__}
        said = " ".join(
            f"{name}={told}" for name, value in fields.items() if (told := _told(value, words))
        )
    return "".join(sign if sign.isprintable() else " " for sign in said)


def _told(value: object, words: bool) -> str:
    """A field in short; "" where it says nothing that could be shown."""
    match value:
        case Words():
            return repr(str(value)) if value and (words or value.public) else ""
        case bool():
            return "yes" if value else ""
        case str() | int():
            return str(value)
        case tuple() | list() | dict():
            return f"[{len(value)}]" if value else ""
        case _:
            return ""


@get("/admin/ledger")
async def ledger(
    request: Asked,
    site: PageContext,
    owner: Visitor,
    stream: Name = "",
    kind: Name = "",
    before: Name = "",
) -> Template:
    """The newest events, and what the last verifying found."""
    veil = await veil_of(site.ledger, owner.person)
    # an id is hex; whatever else somebody writes there is no place to begin
    before = before if re.fullmatch(r"[0-9a-f]{32}", before) else ""
    stream, kind = _plain(stream), _plain(kind)
    wanted = veil.stream(stream)
    found = await newest(site.ledger, veil, wanted, kind, before)
    names = {f"person:{one.person}": one.name for one in await site.accounts.signing.accounts()}
    entries = [entry(event, veil, names, open=open) for event, open in found[:PAGE]]
    heads = await site.ledger.heads()
    return render_page(
        "admin-ledger.html",
        owner,
        here="admin",
        section="ledger",
        entries=entries,
        more=entries[-1].id if len(found) > PAGE else "",
        stream=veil.name(wanted),
        kind=kind,
        before=before,
        streams=sorted(veil.name(name) for name in heads),
        kinds=KINDS,
        count_of=sum(heads.values()),
        sinks=await site.sinks.standings() if site.sinks is not None else (),
        **shown(examiner_of(request), veil),
    )


def _plain(name: str) -> str:
    return name.strip() if name.isprintable() else ""


KINDS = tuple(sorted(str(body.__struct_config__.tag) for body in get_args(Body)))

# ---------------------------------------------------------------- is it as it was written?


class LedgerExaminer:
    """Verifies the ledger in the background, one time at a time, and keeps what was found last."""

    def __init__(self, ledger: SqlLedger, clock: Clock) -> None:
        self._ledger, self._clock, self._tasks = ledger, clock, BackgroundTasks()
        self.running = False
        self.began: datetime | None = None
        self.took = 0.0
        self.found: LedgerVerification | None = None
        self.failed = ""

    def start(self) -> None:
        """Begin, unless it runs already."""
        if not self.running:
            self.running, self.began = True, self._clock.now()
            self._tasks.spawn(self._run(), "web: verifying the ledger")

    async def _run(self) -> None:
        ticks = self._clock.ticks()
        try:
            self.found, self.failed = await self._ledger.verify(), ""
        except LoopforgeError as error:
            self.found, self.failed = None, str(error)
        finally:
            self.took = self._clock.ticks() - ticks
            self.running = False

    async def close(self) -> None:
        """Wait for nobody."""
        await self._tasks.close()


def examiner_of(request: Asked) -> LedgerExaminer:
    """The examiner of this server."""
    state = request.app.state
    if "examiner" not in state:
        site: PageContext = state["site"]
        state["examiner"] = LedgerExaminer(site.ledger, site.clock)
    examiner: LedgerExaminer = state["examiner"]
    return examiner


def shown(examiner: LedgerExaminer, veil: HiddenRooms) -> dict[str, Any]:
    """What the page says of the last verifying."""
    findings: Sequence[str] = ()
    if examiner.found:
        findings = [
            f"{each.trouble}: {veil.over(each.says)}" for each in examiner.found.findings[:FINDINGS]
        ]
    return {"examiner": examiner, "findings": findings}


@post("/admin/ledger/verify")
async def verify(request: Asked, owner: Visitor) -> Redirect:  # noqa: ARG001
    """Begin to verify; the page tells what is found."""
    examiner_of(request).start()
    return Redirect("/admin/ledger#verified", status_code=303)


@get("/admin/ledger/verified")
async def verified(request: Asked, site: PageContext, owner: Visitor) -> Template:
    """How far it is, as a fragment."""
    veil = await veil_of(site.ledger, owner.person)
    return render_page("admin-ledger-verified.html", owner, **shown(examiner_of(request), veil))


async def close(app: Any) -> None:
    """When the server ends: verify no more."""
    if "examiner" in app.state:
        await app.state["examiner"].close()
