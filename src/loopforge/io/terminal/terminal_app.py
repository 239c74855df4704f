"""The terminal: a room on the whole screen, over a link.

The app takes updates from the link, lets the scribe write them, and gives what a person types to
the runner. It draws at most some fifteen times a second, however fast a mate speaks. Nothing of the
room is decided here.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, suppress
from datetime import tzinfo
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.drivers.linux_driver import LinuxDriver
from textual.theme import Theme
from textual.timer import Timer
from textual.widgets import Static

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, Said, Told
from loopforge.core.text.spoken_lists import join_as_prose
from loopforge.errors import LoopforgeError
from loopforge.io.socket.socket_client import (
    LineTaken,
    LinkJoined,
    LinkParted,
    SocketLink,
    UnsentLine,
    Update,
)
from loopforge.io.socket.wire_protocol import RoomSight, TextsForgotten
from loopforge.io.terminal.client_state import ClientState
from loopforge.io.terminal.command_runner import LARGEST, CommandAnswer, CommandRunner
from loopforge.io.terminal.input_composer import Composer, InputPen
from loopforge.io.terminal.plain_mode import run_plain
from loopforge.io.terminal.screen_support import is_screen_capable
from loopforge.io.terminal.side_panes import (
    ROOMY,
    OverlayPage,
    QuestionPage,
    RoomBar,
    Side,
    WelcomePane,
    key_hints,
)
from loopforge.io.terminal.terminal_commands import TypedCommand, parse_typed_line
from loopforge.io.terminal.terminal_wording import line_quotation
from loopforge.io.terminal.transcript_view import Notice, Transcript, TranscriptEntry
from loopforge.io.terminal.transcript_writer import TranscriptWriter
from loopforge.io.terminal.typed_lines import safe_for_terminal
from loopforge.runtime.ports import Draft, Rested, Thinking, ToolProgress, Withdrawn

FRAME = 1 / 15
"""Seconds between two drawings."""
BEAT = 0.4
"""Seconds between two moves of the dots."""
EARLIER = 60
"""Events loaded at once when somebody scrolls up."""
NARROW = 64
"""Columns below which there is no margin."""
LEAVING = 2.0
"""Seconds within which a second Ctrl+C leaves."""

DUSK = Theme(
    name="dusk",
    dark=True,
    primary="#e6b673",
    secondary="#7fb4ca",
    accent="#d27e99",
    warning="#e0a868",
    error="#e67e80",
    success="#98bb6c",
    foreground="#d8d4c8",
    background="#15151c",
    surface="#1c1c25",
    panel="#2b2b38",
    variables={
        "quiet": "#8c8a99",
        "faint": "#5a5968",
        "code": "#a9d1c0",
        "code-ground": "#23232e",
    },
)


class LenientDriver(LinuxDriver):
    """Reads keys, and lives through bytes that are no text, such as a latin-1 terminal sends.

    The plain one ends the app at them, and the home with it where it is run here. What was typed
    in the same moment is lost.
    """

    def run_input_thread(self) -> None:
        """Read until the app ends."""
        while True:
            with suppress(UnicodeDecodeError):
                super().run_input_thread()
                return


class Terminal(App[None]):
    """One person's terminal in one room."""

    CSS_PATH = "terminal.tcss"
    TITLE = "Loopforge"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+b,f2", "side", "Who is here", priority=True),
        Binding("f1", "help", "Help", priority=True),
        Binding("f3", "answer", "Answer a question", priority=True),
    ]

    def __init__(
        self,
        link: SocketLink,
        *,
        zone: tzinfo | None = None,
        largest: int = LARGEST,
        begin: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        """`begin` opens the link, once the first screen is shown; without it, it is open."""
        super().__init__(driver_class=LenientDriver)
        self.register_theme(DUSK)
        self.theme = DUSK.name
        self.broken: LoopforgeError | None = None
        self.minutes = ClientState()
        self._link, self._begin = link, begin
        self._runner = CommandRunner(link, self.minutes, largest=largest)
        self._bar, self._side = RoomBar(), Side()
        self._transcript, self._composer = Transcript(), Composer()
        self._scribe = TranscriptWriter(self._transcript, self.minutes, zone)
        self._inbox: list[Update] = []
        self._drawing = False
        self._beating: Timer | None = None
        self._drawn = 0.0
        self._reply_to = ""
        self._parted = ""
        self._unread = 0
        self._greeted = False
        self._side_chosen = False
        self._asked_to_leave = -LEAVING

    def compose(self) -> ComposeResult:
        """Bar, transcript and side, composer."""
        yield self._bar
        with Horizontal(id="middle"):
            yield self._transcript
            yield self._side
        yield self._composer

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colours that only this app has."""
        return DUSK.variables

    def on_mount(self) -> None:
        """Show where to type, then follow the room."""
        self._composer.pen.placeholder = "Say something…"
        self._composer.pen.focus()
        self._say_status()
        self.call_after_refresh(self._begin_following)

    def _begin_following(self) -> None:
        self.run_worker(self._follow_room(), name="follow", exit_on_error=False)

    async def _follow_room(self) -> None:
        try:
            if self._begin is not None:
                await self._begin()
            async for update in self._link:
                self._inbox.append(update)
                self._draw_soon()
        except LoopforgeError as error:
            self.broken = error
        self.exit()

    # ------------------------------------------------------------ drawing

    def _draw_soon(self) -> None:
        if not self._drawing:
            self._drawing = True
            since = asyncio.get_running_loop().time() - self._drawn
            self._call_after(FRAME - since, self._draw_updates)

    def _call_after(self, seconds: float, work: Callable[[], object]) -> None:
        """Do something in a while. Textual's own timer never does where it is late (8.2)."""
        asyncio.get_running_loop().call_later(max(seconds, 0.0), self.call_next, work)

    def _draw_updates(self) -> None:
        self._drawing = False
        self._drawn = asyncio.get_running_loop().time()
        updates, self._inbox = self._inbox, []
        fresh: list[Event] = []
        for update in _newest_drafts(updates):
            self.minutes.take(update)
            if isinstance(update, Event):
                fresh.append(update)
                continue
            self._write_events(fresh)
            fresh = []
            self._take_update(update)
        self._write_events(fresh)
        self._scribe.trim()
        self._draw_surroundings()

    def _write_events(self, fresh: list[Event]) -> None:
        if not fresh:
            return
        if not self._transcript.at_foot:
            self._unread += sum(isinstance(event.body, Heard | Said) for event in fresh)
        self._scribe.write(fresh)
        self._link.seen(fresh[-1].seq)

    def _take_update(self, update: Update) -> None:
        match update:
            case LinkJoined(again=again, anew=anew):
                self._parted = ""
                if anew:
                    self._scribe.clear()
                elif again:
                    self._scribe.hush()
                else:
                    self._transcript.open(WelcomePane(update.scene))
            case LinkParted(why=why):
                self._parted = why
                self._scribe.hush()
            case UnsentLine(text=text):
                self._scribe.unsaid(update)
                if not self._composer.pen.text:
                    self._composer.pen.set_text(text)
            case Thinking() | Draft() | Withdrawn() | Rested() | ToolProgress():
                self._scribe.breathe(update)
            case RoomSight():
                self._show_newest()
            case TextsForgotten():
                self.run_worker(self._link.anew(), group="anew", exit_on_error=False)
            case LineTaken() | Event():
                pass

    def _show_newest(self) -> None:
        """Once what was said before is shown: if the first screen is not, repeat its end."""
        if not self._greeted:
            self._greeted = True
            self.call_after_refresh(self._repeat_last_lines)

    def _repeat_last_lines(self) -> None:
        if not self._transcript.settled:
            self._call_after(FRAME, self._repeat_last_lines)
            return
        if self.minutes.newest() is None or not self._transcript.above:
            return
        notice = self.minutes.scene.notice
        told = [Notice(safe_for_terminal(notice), classes="told")] if notice else []
        self._transcript.append([*told, Static(key_hints(), classes="notice")])

    def _draw_surroundings(self) -> None:
        scene = self.minutes.scene
        speaking = self._scribe.speaking
        self._composer.pen.scene = scene
        self._bar.show(scene)
        self._side.show(scene, self.minutes.here, speaking, hosting=self._link.hosting)
        silent = self._scribe.silent
        if silent and self._beating is None:
            self._beating = self.set_interval(BEAT, self._scribe.beat)
        elif not silent and self._beating is not None:
            self._beating.stop()
            self._beating = None
        self._say_status()

    def _say_status(self) -> None:
        if self._transcript.at_foot:
            self._unread = 0
        status = Content("")
        if self._parted:
            status = Content.assemble(("◌ ", "$warning"), f"{self._parted} Looking for it again…")
        elif not self.minutes.scene.room:
            status = Content("Opening the home…")
        elif speaking := self._scribe.speaking:
            status = Content.assemble(self._describe_doing(speaking), ("  Esc stops", "$faint"))
        elif self.minutes.asks:
            numbers = join_as_prose([str(number) for number in self.minutes.asks], 4)
            status = Content.assemble((f"Waits for a yes: {numbers}", "$warning"), "  F3 answers")
        aside = f"↓ {self._unread} new  Esc" if self._unread else ""
        self._composer.show_status(status, Content.assemble((aside, "bold $primary")))

    def _describe_doing(self, speaking: dict[str, str]) -> str:
        names = {handle: self.minutes.scene.mate(handle).name for handle in speaking}
        for handle, doing in speaking.items():
            if doing not in ("typing…", "thinking…"):
                return f"{names[handle]} {doing}"
        who = f"{join_as_prose([*names.values()], 4)} {'are' if len(names) > 1 else 'is'}"
        return f"{who} {'typing' if 'typing…' in speaking.values() else 'thinking'}…"

    def _show_notice(self, text: str, kind: str) -> None:
        self._transcript.append([Notice(safe_for_terminal(text), classes=kind)])

    # ------------------------------------------------------------ what a person does

    @on(InputPen.Said)
    def _send_typed(self, message: InputPen.Said) -> None:
        self._transcript.foot()
        try:
            match parse_typed_line(message.text):
                case TypedCommand() as given:
                    self.run_worker(self._do_command(given, message.text), exit_on_error=False)
                case str(text):
                    source, notes = self._runner.say(text, self._reply_to)
                    self._scribe.say(source, text)
                    self._answer_to("")
                    for note in notes:
                        self._show_notice(f"In what you said, {note}.", "answer")
        except LoopforgeError as error:
            self._show_refusal(error, message.text)

    async def _do_command(self, given: TypedCommand, typed: str) -> None:
        try:
            answer = await self._runner.do(given)
        except LoopforgeError as error:
            self._show_refusal(error, typed)
        else:
            self._show_answer(answer)

    def _show_refusal(self, error: LoopforgeError, typed: str) -> None:
        self._show_notice(str(error), "error")
        if not self._composer.pen.text:
            self._composer.pen.set_text(typed)

    def _show_answer(self, answer: CommandAnswer) -> None:
        if answer.then == "quit":
            self.exit()
        elif answer.then == "reply":
            self._answer_to(answer.to)
        elif answer.page:
            self.push_screen(OverlayPage(answer.title, answer.text))
        elif answer.text:
            self._show_notice(answer.text, "answer")

    def _answer_to(self, line: str) -> None:
        self._reply_to = line
        quoted = line_quotation(self.minutes.line(line), self.minutes) if line else ""
        self._composer.show_reply(quoted)

    def action_back_off(self) -> None:
        """Let go what is answered, stop whoever speaks, or go to the newest line."""
        if self._reply_to:
            self._answer_to("")
        elif self._scribe.speaking:
            self.run_worker(self._do_command(TypedCommand(name="stop"), ""), exit_on_error=False)
        else:
            self._transcript.foot()

    def action_leave(self, surely: bool) -> None:
        """Leave; not surely, when it is asked for twice."""
        now = asyncio.get_running_loop().time()
        if surely or now - self._asked_to_leave < LEAVING:
            self.exit()
            return
        self._asked_to_leave = now
        self._composer.show_status(Content("Press Ctrl+C again to leave."), Content(""))
        self._call_after(LEAVING, self._say_status)

    def action_leaf(self, by: int) -> None:
        """Scroll the transcript: -1 up, 1 down, 0 to the foot."""
        self._transcript.leaf(by)

    @on(Transcript.Moved)
    def _note_scroll(self) -> None:
        if self._unread:
            self._say_status()

    @on(Transcript.WantsEarlier)
    def _want_earlier(self) -> None:
        self.run_worker(self._load_earlier(), group="earlier", exclusive=True, exit_on_error=False)

    async def _load_earlier(self) -> None:
        try:
            events = await self._link.history(self._scribe.oldest or None, EARLIER)
        except LoopforgeError as error:
            self._show_notice(str(error), "error")
            events = []
        for event in events:
            self.minutes.add(event)
        await self._scribe.earlier(events)

    def action_side(self) -> None:
        """Open or close the side."""
        self._side_chosen = True
        self._side.toggle_class("-open")

    def action_answer(self) -> None:
        """Show the question of a mate that waits longest, and take a key for it."""
        if isinstance(self.screen, OverlayPage):
            return
        if not self.minutes.asks:
            self._show_notice("No mate asks anything here.", "answer")
            return
        number, event = next(iter(self.minutes.asks.items()))
        asked = str(event.body.text) if isinstance(event.body, Told) else ""
        answered = partial(self._answer_question, number)
        self.push_screen(QuestionPage(f"Question {number}", asked), answered)

    def _answer_question(self, number: int, verb: str | None) -> None:
        """A no is written out, so that a reason can follow; a yes is given at once."""
        if not verb:
            return
        if verb == "deny":
            self._composer.pen.set_text(f"/deny {number} ")
            return
        more = " always" if verb == "always" else ""
        given = parse_typed_line(f"/approve {number}{more}")
        if isinstance(given, TypedCommand):
            self.run_worker(self._do_command(given, ""), exit_on_error=False)

    async def action_help(self) -> None:
        """Show what can be typed."""
        await self._do_command(TypedCommand(name="help"), "")

    async def action_quit(self) -> None:
        """Leave."""
        self.exit()

    def on_resize(self, event: events.Resize) -> None:
        """Fit into what room there is."""
        narrow = event.size.width < NARROW
        if narrow != self.has_class("-narrow"):
            self.set_class(narrow, "-narrow")
            for entry in self.query(TranscriptEntry):
                entry.redraw()
        if not self._side_chosen:
            self._side.set_class(event.size.width >= ROOMY, "-open")


def _newest_drafts(updates: Iterable[Update]) -> list[Update]:
    """Of the drafts of one turn only the last, where the first one stood."""
    kept: list[Update] = []
    places: dict[str, int] = {}
    for update in updates:
        if isinstance(update, Draft) and update.turn in places:
            kept[places[update.turn]] = update
            continue
        if isinstance(update, Draft):
            places[update.turn] = len(kept)
        elif isinstance(update, Withdrawn):
            places.pop(update.turn, None)
        kept.append(update)
    return kept


async def run_terminal(
    link: SocketLink, *, zone: tzinfo | None = None, largest: int = LARGEST
) -> int:
    """Show the room until the person leaves; the exit code. Raises what breaks the link.

    On a terminal that cannot show it, the plain form serves.
    """
    if not is_screen_capable(sys.stdout.fileno()):
        return await run_plain(link, sys.stdin.fileno(), sys.stdout, sys.stderr, largest=largest)
    async with AsyncExitStack() as stack:
        begin = partial(stack.enter_async_context, link)
        terminal = Terminal(link, zone=zone, largest=largest, begin=begin)
        await terminal.run_async()
    if terminal.broken is not None:
        raise terminal.broken
    return 0
