"""The writer: writes a room's events into the transcript.

Decides what becomes an entry, a mark or a notice; when a heading may be left out; when a new day
begins; and what becomes of drafts and of lines that are not yet taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo
from weakref import WeakValueDictionary

from textual.content import Content
from textual.widget import Widget

from loopforge.chat.room.event_wording import line_asides
from loopforge.core.events import AnyBody, Event
from loopforge.core.mates.mate_colours import default_colour
from loopforge.core.room_vocabulary import (
    ConversationBegan,
    ConversationEnded,
    EnergySet,
    Heard,
    LineDeleted,
    LineEdited,
    MateJoined,
    PersonJoined,
    PersonReacted,
    Reacted,
    Said,
    Told,
)
from loopforge.io.socket.socket_client import UnsentLine
from loopforge.io.terminal.client_state import ClientState
from loopforge.io.terminal.side_panes import mate_colour, mate_face
from loopforge.io.terminal.terminal_markup import render_prose
from loopforge.io.terminal.terminal_wording import (
    clock_time,
    files_of,
    line_quotation,
    line_reference,
    line_text,
    long_date,
    notice_sentence,
    tool_progress_text,
)
from loopforge.io.terminal.transcript_view import (
    FEWEST,
    LineMark,
    Notice,
    Transcript,
    TranscriptEntry,
)
from loopforge.io.terminal.typed_lines import one_line, safe_for_terminal
from loopforge.runtime.ports import Draft, Rested, Thinking, ToolProgress, Withdrawn

TOGETHER = timedelta(minutes=5)
"""Lines of one speaker that follow within this time share a heading."""
DOTS = ("●  ·  ·", "·  ●  ·", "·  ·  ●", "·  ●  ·")


@dataclass
class TranscriptPlace:
    """Where the pen stands: the line and the day before, the last line of a person.

    `begun`: somebody has spoken.
    """

    before: Event | None = None
    day: date | None = None
    asked: str = ""
    begun: bool = False


class TranscriptWriter:
    """Writes into one transcript. `zone` is the time zone that is shown, None for the machine's."""

    def __init__(
        self, transcript: Transcript, minutes: ClientState, zone: tzinfo | None = None
    ) -> None:
        self._transcript, self._minutes, self._zone = transcript, minutes, zone
        self._foot = TranscriptPlace()
        self._drafts: dict[str, TranscriptEntry] = {}
        self._spoken: dict[str, str] = {}
        self._uses: dict[str, ToolProgress] = {}
        self._waiting: dict[str, TranscriptEntry] = {}
        self._entries: WeakValueDictionary[str, TranscriptEntry] = WeakValueDictionary()
        self._beat = 0
        self.oldest = 0

    # ------------------------------------------------------------ what happened

    def write(self, events: Sequence[Event]) -> None:
        """Put what happened at the foot. Of very much only the end, the rest can be scrolled to."""
        if not events:
            return
        if len(events) > FEWEST:
            self.clear()  # else older lines would stand above the gap
            self._transcript.append(
                [LineMark("earlier lines are above", line="┄", classes="quiet")]
            )
            events = events[-FEWEST:]
        for event in events:
            self._replace_by_line(event)
        if not self.oldest:
            self.oldest = events[0].seq
        self._transcript.append(self._widgets_of(events, self._foot))

    def clear(self) -> None:
        """Let all go that was said; what is said from now on stands alone."""
        self._transcript.clear()
        self._entries.clear()
        self._foot = TranscriptPlace()
        self.oldest = 0

    async def earlier(self, events: Sequence[Event]) -> None:
        """Put these at the top."""
        if not events:
            self._transcript.complete = True
            await self._transcript.prepend([])
            return
        self.oldest = events[0].seq
        place = TranscriptPlace()
        widgets = self._widgets_of(events, place)
        first = next(iter(self._transcript.written), None)
        if isinstance(first, LineMark) and first.when is not None and first.when == place.day:
            await first.remove()
        await self._transcript.prepend(widgets)

    def trim(self) -> None:
        """Let the oldest lines go if there are too many."""
        self.oldest = self._transcript.trim() or self.oldest

    def _widgets_of(self, events: Sequence[Event], place: TranscriptPlace) -> list[Widget]:
        made: list[Widget] = []
        for event in events:
            made += self._widgets_of_event(event, place)
        return made

    def _widgets_of_event(self, event: Event, place: TranscriptPlace) -> list[Widget]:
        body = event.body
        if isinstance(body, Reacted | PersonReacted) and body.to in self._entries:
            self._entries[body.to].add(self._reaction_text(body))
            return []
        if isinstance(body, LineEdited | LineDeleted) and self._rewrite_line(body.line):
            return []
        if isinstance(body, Heard | Said):
            widget: Widget = self._line_entry(event, body, place)
        elif (text := notice_sentence(event, self._minutes)) is None or self._plain_to_see(
            body, place
        ):
            return []
        elif isinstance(body, ConversationBegan | ConversationEnded):
            widget = LineMark(text, line="┄", classes="boundary")
        else:
            told = isinstance(body, Told)
            widget = Notice(f"{'◆' if told else '·'} {text}", classes="told" if told else "")
        made: list[Widget] = []
        today = event.at.astimezone(self._zone).date()
        if today != place.day:
            made.append(LineMark(long_date(today), when=today, classes="day"))
        place.day = today
        place.before = event if isinstance(body, Heard | Said) else None
        place.begun = place.begun or place.before is not None
        place.asked = event.id if isinstance(body, Heard) else place.asked
        return [*made, widget]

    def _reaction_text(self, body: Reacted | PersonReacted) -> Content:
        scene = self._minutes.scene
        if isinstance(body, Reacted):
            did = scene.mate(body.mate).name
        else:
            did = one_line(scene.person(body.person), 40) + " took it back" * body.back
        return Content.assemble(one_line(body.emoji, 8), (f" {did}", "$quiet"))

    def _plain_to_see(self, body: AnyBody, place: TranscriptPlace) -> bool:
        """Whether this need not be told: that one is here oneself, and how a room begins."""
        if isinstance(body, PersonJoined):
            return body.person == self._minutes.scene.you
        return isinstance(body, MateJoined | EnergySet) and not place.begun

    def _line_entry(
        self, event: Event, body: Heard | Said, place: TranscriptPlace
    ) -> TranscriptEntry:
        before = place.before
        follows = (
            before is not None
            and before.actor == event.actor
            and event.at - before.at < TOGETHER
            and event.at.astimezone(self._zone).date() == place.day
        )
        quoted = ""
        answered = {before.id} if before is not None else set()
        if isinstance(body, Said):
            answered.add(place.asked)  # several mates answer one line of a person
        if body.reply_to and body.reply_to not in answered:
            quoted, follows = body.reply_to, False
        colour, heading = (
            self._mate_heading(body.mate)
            if isinstance(body, Said)
            else self._person_heading(body.person)
        )
        entry = TranscriptEntry(
            key=event.id,
            seq=event.seq,
            colour=colour,
            heading=heading,
            time=clock_time(event.at, self._zone),
            number=line_reference(event),
            follows=follows,
            ground="$surface" if self._minutes.mine(event) else "",
            quoted=quoted,
        )
        self._entries[event.id] = entry
        return entry.fill(self._words_of(event), self._quote_of(quoted) if quoted else None)

    def _words_of(self, event: Event) -> Content:
        """What a line says, and what is to be said of it quietly."""
        event = self._minutes.line(event.id) or event
        parts = [self._prose_of(line_text(event, self._minutes), files_of(event))]
        if known := line_asides(event):
            parts.append(Content.assemble((f"({', '.join(known)})", "italic $quiet")))
        return Content("\n").join(parts)

    def _rewrite_line(self, line: str) -> bool:
        """A line was changed: show what it says now, if it stands here."""
        for entry in self._entries.values():
            event = self._minutes.line(entry.key)
            if event is not None and line in (entry.key, entry.quoted):
                entry.fill(
                    self._words_of(event), self._quote_of(entry.quoted) if entry.quoted else None
                )
        return line in self._entries

    def _quote_of(self, line: str) -> Content:
        wide = self._transcript.size.width or 80
        room = min(wide, 116) - (8 if wide < 64 else 16)
        text = line_quotation(self._minutes.line(line), self._minutes, max(room, 20))
        return Content.assemble((f"↳ {text}", "italic $quiet"))

    def _prose_of(self, text: str, files: Sequence[str] = ()) -> Content:
        scene = self._minutes.scene
        names = {card.handle.casefold(): mate_colour(card) for card in scene.mates}
        names |= {name.casefold(): default_colour(name) for _, name in scene.people}
        parts = [render_prose(text, names)] if text.strip() else []
        parts += [Content.assemble(("▤ ", "$primary"), (about, "$quiet")) for about in files]
        return Content("\n").join(parts)

    def _mate_heading(self, handle: str) -> tuple[str, Content]:
        card = self._minutes.scene.mate(handle)
        colour = mate_colour(card)
        heading = Content.assemble(
            (f"{mate_face(card)} ", colour), (safe_for_terminal(card.name), f"bold {colour}")
        )
        return colour, heading

    def _person_heading(self, person: str) -> tuple[str, Content]:
        name = one_line(self._minutes.scene.person(person), 40)
        colour = default_colour(name)
        return colour, Content.assemble((name, f"bold {colour}"))

    # ------------------------------------------------------------ what is being said

    @property
    def speaking(self) -> dict[str, str]:
        """Who is at something: handles, and what they are doing; tools may go on after a turn."""
        at_tools = {use.mate: tool_progress_text(use) for use in self._uses.values()}
        return at_tools | {
            entry.who: "typing…" if self._spoken[turn] else at_tools.get(entry.who, "thinking…")
            for turn, entry in self._drafts.items()
        }

    @property
    def silent(self) -> bool:
        """Whether somebody has a turn and has said nothing in it yet."""
        return not all(self._spoken.values())

    def breathe(self, breath: Thinking | Draft | Withdrawn | Rested | ToolProgress) -> None:
        """Show what is in the air, of those who belong here."""
        if not self._minutes.scene.has(breath.mate):
            return
        match breath:
            case Thinking():
                self._draft_entry(breath.turn, breath.mate)
            case Draft(text=text):
                entry = self._draft_entry(breath.turn, breath.mate)
                self._spoken[breath.turn] = text
                entry.fill(Content.assemble(self._prose_of(text), ("▌", "$quiet")))
            case Withdrawn(why=why):
                self._withdraw_draft(breath.turn, breath.mate, why)
            case Rested():
                self._drop_draft(breath.turn)
            case ToolProgress(over=True):
                self._uses.pop(breath.effect, None)
            case ToolProgress():
                self._uses[breath.effect] = breath

    def beat(self) -> None:
        """Move the dots of those who have not begun."""
        self._beat += 1
        for turn, entry in self._drafts.items():
            if not self._spoken[turn]:
                uses = [tool_progress_text(use) for use in self._uses.values() if use.turn == turn]
                told = "\n".join([DOTS[self._beat % len(DOTS)], *uses])
                entry.fill(Content.assemble((told, "$quiet")))

    def hush(self) -> None:
        """The host went away, and with it everything that was in the air."""
        self._uses.clear()
        for turn in tuple(self._drafts):
            self._drop_draft(turn)

    def _draft_entry(self, turn: str, mate: str) -> TranscriptEntry:
        if turn not in self._drafts:
            colour, heading = self._mate_heading(mate)
            before = self._foot.before
            follows = before is not None and before.actor == f"mate:{mate}"
            entry = TranscriptEntry(
                key=turn,
                colour=colour,
                heading=heading,
                follows=follows,
                who=mate,
                classes="draft",
            )
            self._drafts[turn] = entry.fill(Content.assemble((DOTS[0], "$quiet")))
            self._spoken[turn] = ""
            self._transcript.begin(entry)
        return self._drafts[turn]

    def _drop_draft(self, turn: str) -> None:
        self._spoken.pop(turn, None)
        if (entry := self._drafts.pop(turn, None)) is not None:
            entry.remove()

    def _withdraw_draft(self, turn: str, mate: str, why: str) -> None:
        text = self._spoken.get(turn, "")
        self._drop_draft(turn)
        if not text.strip():
            return  # nobody saw anything of it
        _, heading = self._mate_heading(mate)
        entry = TranscriptEntry(key=turn, colour="$faint", heading=heading, classes="withdrawn")
        entry.fill(Content.assemble((safe_for_terminal(text), "strike $quiet")))
        self._leave_unsaid(entry, ("✕ taken back: ", "$warning"), safe_for_terminal(why))

    def _leave_unsaid(self, entry: TranscriptEntry, sign: tuple[str, str], why: str) -> None:
        """Let stand what did not become a line, with the reason."""
        entry.add(Content.assemble(sign, (why, "$quiet")))
        self._foot.before = None
        self._transcript.append([entry])

    # ------------------------------------------------------------ what this person says

    def say(self, source: str, text: str) -> None:
        """Show a line that is on its way."""
        you = self._minutes.scene.you
        colour, heading = self._person_heading(you)
        entry = TranscriptEntry(
            key=source, colour=colour, heading=heading, ground="$surface", classes="waiting"
        )
        self._waiting[source] = entry.fill(self._prose_of(text))
        self._transcript.begin(entry)

    def unsaid(self, unsaid: UnsentLine) -> None:
        """A line was not taken; it stays to be seen, with the reason."""
        if (entry := self._waiting.pop(unsaid.source, None)) is not None:
            entry.remove()
        _, heading = self._person_heading(self._minutes.scene.you)
        left = TranscriptEntry(
            key=unsaid.source, colour="$error", heading=heading, classes="unsaid"
        )
        left.fill(Content.assemble((one_line(unsaid.text, 500), "$quiet")))
        self._leave_unsaid(left, ("✕ not said: ", "$error"), str(unsaid.error))

    def _replace_by_line(self, event: Event) -> None:
        """A line came: what stood for it until then goes."""
        body = event.body
        if isinstance(body, Heard):
            if (entry := self._waiting.pop(body.source, None)) is not None:
                entry.remove()
        elif isinstance(body, Said):
            self._drop_draft(body.turn)
