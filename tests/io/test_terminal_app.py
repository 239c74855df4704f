"""The terminal app, driven by Textual's pilot over a real socket."""

import asyncio
import contextlib
import os
import pty
import select
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from textual import _time as textual_clock
from textual.pilot import Pilot

from loopforge.core.room_vocabulary import (
    ConversationBegan,
    Heard,
    PersonJoined,
    Reacted,
    Said,
    Told,
)
from loopforge.core.text.erasable_text import Words
from loopforge.errors import HostTaken, Unknown
from loopforge.io.socket.socket_client import SocketLink
from loopforge.io.terminal.input_composer import InputPen
from loopforge.io.terminal.side_panes import OverlayPage
from loopforge.io.terminal.terminal_app import Terminal
from loopforge.io.terminal.transcript_view import LineMark, Notice, TranscriptEntry
from loopforge.runtime.ports import Thinking
from tests.io.commons import HOSTED, START, Commons, Temper, hosting
from tests.io.test_socket_client import link, watching

R = "commons"
WIDE, NARROW = (92, 30), (40, 24)


class Seat:
    """Somebody in front of a terminal."""

    rooms: Commons

    def __init__(self, app: Terminal, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    async def until(self, condition: Callable[[], Any], what: str = "") -> None:
        """Wait until something is so on the screen."""
        async with asyncio.timeout(60):
            while not condition():
                await self.pilot.pause(0.02)

    async def sees(self, *texts: str) -> None:
        """Wait until all these texts stand on the screen."""
        try:
            await self.until(lambda: all(text in self.screen() for text in texts))
        except TimeoutError:
            missing = [text for text in texts if text not in self.screen()]
            pytest.fail(f"{missing} not on the screen:\n{self.screen()}")

    def screen(self) -> str:
        """What can be read on the screen, row by row."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    async def types(self, text: str, *keys: str) -> None:
        """Type a text, then press keys."""
        pen = self.app.query_one(InputPen)
        pen.insert(text)
        await self.pilot.pause()
        await self.pilot.press(*keys)

    @property
    def typed(self) -> str:
        """What stands in the composer."""
        return self.app.query_one(InputPen).text

    def heard(self, text: str, who: str = "ben", **more: Any) -> Any:
        """Somebody else says something."""
        body = Heard(person=f"p-{who}", text=Words(text), **more)
        return self.rooms.add(R, body, f"person:p-{who}")

    def said(self, text: str, mate: str = "maya", turn: str = "t", **more: Any) -> Any:
        """A mate says something."""
        body = Said(turn=turn, mate=mate, text=Words(text), **more)
        return self.rooms.add(R, body, f"mate:{mate}")


@contextlib.asynccontextmanager
async def seat(
    home: Path, temper: Temper | None = None, size: tuple[int, int] = WIDE, **person: object
) -> AsyncIterator[Seat]:
    """A terminal that is in the room, hosting it."""
    made = link(home, "ana", temper or Temper(answer=lambda text: None), **person)
    async with seated(made, size) as ana:
        ana.rooms = HOSTED[home]
        yield ana


@pytest.fixture
async def ana(tmp_path: Path) -> AsyncIterator[Seat]:
    """One whose mates are silent."""
    async with seat(tmp_path) as ana:
        yield ana


@contextlib.asynccontextmanager
async def seated(made: SocketLink, size: tuple[int, int] = WIDE) -> AsyncIterator[Seat]:
    """A terminal over this link, that is in the room."""
    async with made:
        app = Terminal(made)
        async with app.run_test(size=size) as pilot:
            ana = Seat(app, pilot)
            await ana.until(lambda: app.minutes.scene.room)
            yield ana


async def test_the_first_screen_says_who_is_here_and_what_to_type(ana: Seat) -> None:
    """An empty room names its mates, the keys that matter, and the model that answers."""
    await ana.sees("You are in commons.", "Maya", "keeper of old books", "/why", "/help")
    await ana.sees("Answers come from a small embedded model", "docs/adding-models.md")
    await ana.sees("▮▮▮▮▯▯ 4/6")


async def test_a_line_is_drawn_by_a_machine_that_is_late(
    ana: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy one, on which its moment has passed as it is waited for: else nothing came any more."""
    right, reads = textual_clock.get_time, count(1)
    monkeypatch.setattr(textual_clock, "get_time", lambda: right() + 0.005 * next(reads))
    for text in ("the kettle sings", "the tea is ready"):
        ana.heard(text)
        await ana.sees(text)


async def test_what_is_said_is_answered_on_the_screen(tmp_path: Path) -> None:
    """A typed line appears with its number, and the answer below it; the composer is empty."""
    async with seat(tmp_path, Temper(step=0.001)) as ana:
        await ana.types("hello there", "enter")
        await ana.sees("hello there", "You said: hello there", "Maya")
        assert ana.typed == ""
        await ana.until(lambda: HOSTED[tmp_path].seen_up_to.get("p-ana", 0) >= 4)
        assert "#3" in ana.screen()
        assert not ana.app.query(".waiting, .draft")


async def test_escape_stops_whoever_speaks(ana: Seat) -> None:
    """Esc while a mate has a turn is /stop; the bar shows it until somebody speaks."""
    await ana.pilot.press("escape")
    ana.rooms.signals.publish(R, Thinking(turn="t", mate="maya"))
    await ana.sees("Esc stops")
    assert ana.rooms.acts == []
    await ana.pilot.press("escape")
    await ana.sees("■ stopped", "Mates stay still until somebody speaks to them")
    assert [name for _, name, _ in ana.rooms.acts] == ["stop"]
    ana.heard("go on, please")
    await ana.until(lambda: "■ stopped" not in ana.screen())


async def test_slash_completes_and_explains(ana: Seat) -> None:
    """A slash lists commands with help; Tab takes one, Up and Down choose, Esc closes."""
    await ana.types("/")
    await ana.sees("/why [LINE]", "why a mate said its last line")
    await ana.types("s")
    await ana.sees("/search WORDS", "/spent LINE")
    await ana.pilot.press("down", "down", "down", "tab")
    assert ana.typed == "/search "
    await ana.until(lambda: "find lines" not in ana.screen())
    await ana.pilot.press("ctrl+c")
    await ana.types("/e")
    await ana.sees("/energy [N]")
    await ana.pilot.press("escape")
    await ana.until(lambda: "/energy [N]" not in ana.screen())
    assert ana.typed == "/e"


async def test_enter_completes_a_command_that_is_only_begun(ana: Seat) -> None:
    """Enter on the beginning of a command completes it first; on a whole one it is done."""
    await ana.types("/hel", "enter")
    assert ana.typed == "/help"
    await ana.pilot.press("enter")
    await ana.sees("Everything else you type is said to the room")
    assert isinstance(ana.app.screen, OverlayPage)
    await ana.pilot.press("escape")
    await ana.until(lambda: not isinstance(ana.app.screen, OverlayPage))


async def test_a_command_that_is_typed_to_its_end_is_given_at_once(ana: Seat) -> None:
    """Enter completes what is begun; what nothing is left to complete of, it gives to the room."""
    await ana.types("/talk cal", "enter")
    await ana.until(lambda: ana.typed == "/talk called")
    await ana.pilot.press("enter")
    await ana.until(lambda: ("p-ana", "talk", "called") in ana.rooms.acts)
    ana.app.query_one(InputPen).set_text("")
    await ana.types("/remove merlin", "enter")
    await ana.until(lambda: ("p-ana", "remove", "merlin") in ana.rooms.acts)


async def test_at_completes_names(ana: Seat) -> None:
    """Tab after @ completes a mate's handle, wherever it stands in the line."""
    await ana.types("ask @me")
    await ana.sees("@merlin", "keeper of old books")
    await ana.types("", "tab")
    assert ana.typed == "ask @merlin "
    await ana.types("why", "enter")
    await ana.sees("ask @merlin why")


async def test_what_was_said_before_comes_back(ana: Seat) -> None:
    """Up goes back through what was typed, Down forth again to what was begun."""
    await ana.types("one", "enter")
    await ana.types("two", "enter")
    await ana.types("thr", "up")
    assert ana.typed == "two"
    await ana.pilot.press("up", "up")
    assert ana.typed == "one"
    await ana.pilot.press("down", "down")
    assert ana.typed == "thr"


async def test_several_lines_can_be_pasted_and_typed(ana: Seat) -> None:
    """A paste of several lines stands as it is, without escapes, and is one line of the room."""
    from textual import events

    pen = ana.app.query_one("#pen")
    pen.post_message(events.Paste("first\r\n  second \x1b[31mred\x1b[0m\nthird\x00"))
    await ana.until(lambda: "third" in ana.typed)
    await ana.types("\nfourth", "enter")
    await ana.sees("#3", "first", "second red", "fourth")
    (line,) = (e.body for e in ana.rooms.events(R) if isinstance(e.body, Heard))
    assert str(line.text) == "first\n  second red\nthird\nfourth"


async def test_why_opens_a_page_about_the_last_line_of_a_mate(ana: Seat) -> None:
    """/why without a number asks about the last mate's line, with one about that line."""
    first = ana.said("first words", turn="a")
    last = ana.said("last words", "merlin", turn="b")
    ana.heard("a person's line")
    await ana.sees("a person's line")
    await ana.types("/why", "enter")
    await ana.sees("Why? Merlin: last words", f"Event {last.id}")
    await ana.pilot.press("end", "home", "pagedown", "down", "up", "q")
    await ana.until(lambda: not isinstance(ana.app.screen, OverlayPage))
    await ana.types(f"/why #{first.seq}", "enter")
    await ana.sees("Why? Maya: first words", f"Event {first.id}")


async def test_a_reply_names_the_line_it_answers(ana: Seat) -> None:
    """/reply n shows what is answered, the next line carries it, and Esc lets it be."""
    one = ana.heard("the first question")
    ana.heard("the second question")
    await ana.sees("the second question")
    await ana.types(f"/reply {one.seq}", "enter")
    await ana.sees("↳ somebody: the first question")
    await ana.pilot.press("escape")
    await ana.until(lambda: "↳" not in ana.screen())
    await ana.types(f"/reply {one.seq}", "enter")
    await ana.sees("↳")
    await ana.types("my answer", "enter")
    await ana.sees("#5", "my answer")
    answers = [e.body for e in ana.rooms.events(R) if isinstance(e.body, Heard)]
    assert answers[-1].reply_to == one.id
    await ana.sees("↳ somebody: the first question")


async def test_what_an_answer_answers_is_quoted_only_where_it_is_not_plain(tmp_path: Path) -> None:
    """Two mates that answer a person's last line quote nothing; one that answers another line does."""
    async with seat(tmp_path, size=(92, 40)) as ana:
        one = ana.heard("the first question")
        two = ana.heard("the second question")
        ana.said("an answer", turn="a", reply_to=two.id)
        ana.said("another answer", "merlin", turn="b", reply_to=two.id)
        ana.said("a late answer", "pixel", turn="c", reply_to=one.id)
        await ana.sees("a late answer", "↳ somebody: the first question")
        assert ana.screen().count("↳") == 1


async def test_days_boundaries_and_notices(tmp_path: Path) -> None:
    """A new day and a new conversation are rules; joins are dim; a reaction stands at its line."""
    async with seat(tmp_path, size=(92, 40)) as ana:
        ana.rooms.add(
            R, PersonJoined(person="p-ben", name=Words("Ben"), surface="t"), "person:p-ben"
        )
        said = ana.said("a line to like")
        ana.rooms.add(R, Reacted(turn="t", mate="merlin", to=said.id, emoji="+1"), "mate:merlin")
        ana.rooms.add(R, Told(text=Words("The next model is asked.")), "room")
        tomorrow = START + timedelta(days=1)
        ana.rooms.add(R, ConversationBegan(why="idle"), "room", tomorrow)
        await ana.sees("Ben came in.", "+1 Merlin", "◆ The next model is asked.")
        await ana.sees("Thursday, 8 October 2026", "Friday, 9 October 2026", "A new conversation")
        assert "ana came in" not in ana.screen()


async def test_lines_of_one_speaker_share_a_heading(tmp_path: Path) -> None:
    """Lines that follow within minutes have one heading; later ones, or after another, their own."""
    async with seat(tmp_path, size=(92, 40)) as ana:
        for n, minutes in enumerate((0, 1, 2, 30)):
            body = Said(turn=f"t{n}", mate="maya", text=Words(f"line {n}"))
            ana.rooms.add(R, body, "mate:maya", START + timedelta(minutes=minutes))
        await ana.sees("line 3")
        follows = [entry.has_class("follows") for entry in ana.app.query(TranscriptEntry)]
        assert follows == [False, True, True, False]


async def test_scrolling_up_loads_what_was_before(tmp_path: Path) -> None:
    """At the top earlier lines are loaded, in order and once, until the beginning."""
    async with seat(tmp_path) as first:
        for n in range(200):
            first.heard(f"line {n:03}")
    async with seat(tmp_path, tail=50) as ana:
        await ana.sees("line 199")
        assert len(ana.app.query(TranscriptEntry)) <= 50
        transcript = ana.app.query_one("#transcript")
        for _ in range(400):
            await ana.pilot.press("pageup")
            if transcript.scroll_y == 0 and len(ana.app.query(TranscriptEntry)) == 200:
                break
        await ana.sees("line 000")
        numbers = [entry.seq for entry in ana.app.query(TranscriptEntry)]
        assert numbers == sorted(set(numbers))
        assert len(numbers) == 200
        days = [mark.when for mark in ana.app.query(LineMark) if mark.when]
        assert len(days) == len(set(days))
        await ana.pilot.press("ctrl+end")
        await ana.sees("line 199")


async def test_new_lines_do_not_pull_away_who_reads_above(ana: Seat) -> None:
    """While somebody reads above, new lines are counted in the frame; Esc goes to them."""
    for n in range(60):
        ana.heard(f"line {n}")
    await ana.sees("line 59")
    await ana.pilot.press("pageup", "pageup")
    await ana.until(lambda: "line 59" not in ana.screen())
    ana.heard("something new")
    await ana.sees("↓ 1 new")
    assert "something new" not in ana.screen()
    await ana.pilot.press("escape")
    await ana.sees("something new")
    await ana.until(lambda: "↓ 1 new" not in ana.screen())


@pytest.mark.patient
async def test_lines_from_before_a_burst_do_not_stand_in_its_gap(ana: Seat) -> None:
    """What a burst left out lies above it: paging up, every line stands once, in order.

    Only some of the lines are widgets.
    """
    ana.heard("before the burst")
    await ana.sees("before the burst")
    for n in range(900):
        ana.heard(f"line {n}")
    await ana.sees("line 899")
    await ana.until(lambda: len(ana.app.query(TranscriptEntry)) <= 500)
    for _ in range(40):
        await ana.pilot.press("pageup")
        numbers = [entry.seq for entry in ana.app.query(TranscriptEntry)]
        assert numbers == sorted(set(numbers))


async def test_a_narrow_terminal_has_everything(tmp_path: Path) -> None:
    """At forty columns there is no margin, numbers stand in the heading, and nothing is cut off."""
    async with seat(tmp_path, Temper(), size=NARROW) as ana:
        await ana.sees("You are in commons.", "Merlin", "keeper of old books")
        await ana.types("hello there, this is longer than forty columns", "enter")
        await ana.sees("ana  14:01 #3", "hello there, this is longer than", "forty columns")
        await ana.sees("You said:", "#4")
        await ana.types("/")
        await ana.sees("/why [LINE]")
        await ana.pilot.press("escape", "ctrl+c", "ctrl+b")
        await ana.sees("MATES", "PEOPLE", "@pixel")
        assert all(len(row) <= 40 for row in ana.screen().splitlines())


async def test_growing_and_shrinking(ana: Seat) -> None:
    """The layout follows the size: a side when there is room, no margin when there is none."""
    ana.heard("hello")
    await ana.sees("hello")
    assert "MATES" not in ana.screen()
    await ana.pilot.resize_terminal(140, 30)
    await ana.sees("MATES", "● ana you")
    await ana.pilot.resize_terminal(40, 20)
    await ana.until(lambda: "MATES" not in ana.screen())
    await ana.sees("hello", "#3")


async def test_a_line_that_is_refused_comes_back_to_be_mended(tmp_path: Path) -> None:
    """A line the room did not take is shown with the reason, and stands in the composer again."""
    async with seat(tmp_path, Temper(full=True)) as ana:
        await ana.types("precious", "enter")
        await ana.sees("✕ not said: The disk is full; nothing was written.")
        await ana.until(lambda: ana.typed == "precious")
        assert not ana.app.query(".waiting")


async def test_a_wrong_command_is_explained_and_kept(ana: Seat) -> None:
    """An unknown command, a wrong number, a missing file: a sentence, and the text to mend."""
    for typed, why in (
        ("/wyh", "Did you mean /why?"),
        ("/why 99", "There is no line 99 here."),
        ("/file nosuch.txt", "There is no file nosuch.txt."),
        ("/search", "say what to look for"),
    ):
        await ana.types(typed, "escape", "enter")
        await ana.sees(why)
        await ana.until(lambda typed=typed: ana.typed == typed)  # type: ignore[misc]
        await ana.pilot.press("ctrl+c")


async def test_a_file_is_given_to_the_room(tmp_path: Path, ana: Seat) -> None:
    """/file reads the file here and shows its name and size at the line."""
    path = tmp_path / "notes.txt"
    path.write_text("the tide is late")
    await ana.types(f"/file '{path}' my notes", "enter")
    await ana.sees("my notes", "▤ notes.txt, 16 bytes")
    (line,) = (e.body for e in ana.rooms.events(R) if isinstance(e.body, Heard))
    assert str(line.files[0].text) == "the tide is late"


async def test_a_question_is_answered_by_a_key(tmp_path: Path) -> None:
    """F3 shows what a mate asks: y is a yes, a one for good; n writes the no, for its reason."""
    async with seat(tmp_path, Temper(answer=lambda text: None)) as ana:
        await ana.pilot.press("f3")
        await ana.sees("No mate asks anything here.")
        for number, key, did in ((1, "y", "1"), (2, "a", "2 always")):
            asked = Told(text=Words(f"Maya asks first: {number}."), asks=number)
            ana.rooms.add(R, asked, "room")
            await ana.sees(f"Waits for a yes: {number}", "F3 answers")
            await ana.pilot.press("f3")
            await ana.sees(f"Question {number}", f"Maya asks first: {number}.", "y: yes ·")
            await ana.pilot.press(key)
            await ana.until(partial(did_it, ana, ("approve", did)))
            ana.app.minutes.asks.clear()
        ana.rooms.add(R, Told(text=Words("Maya asks first."), asks=3), "room")
        await ana.sees("Waits for a yes: 3")
        await ana.pilot.press("f3")
        await ana.pilot.press("escape")
        await ana.until(lambda: not isinstance(ana.app.screen, OverlayPage))
        assert ana.typed == ""
        await ana.pilot.press("f3", "n")
        await ana.until(lambda: ana.typed == "/deny 3 ")
        assert len(acts(ana)) == 2


def did_it(ana: Seat, act: tuple[str, str]) -> bool:
    """Whether this command reached the room."""
    return act in acts(ana)


def acts(ana: Seat) -> list[tuple[str, str]]:
    """The commands that reached the room."""
    return [(name, argument) for _, name, argument in ana.rooms.acts]


async def test_search_who_and_short_answers(tmp_path: Path) -> None:
    """/search and /who open pages, /energy and /title answer in the transcript."""
    async with seat(tmp_path, size=(92, 40)) as ana:
        ana.heard("a needle in the hay")
        await ana.sees("needle")
        await ana.types("/search needle", "enter")
        await ana.sees("Lines with “needle”", "somebody: a needle in the hay")
        await ana.pilot.press("escape")
        await ana.types("/who", "enter")
        await ana.sees("ana (you)", "Merlin  @merlin")
        await ana.pilot.press("escape")
        await ana.types("/energy", "enter")
        await ana.sees("4 of 6 lines are left to mates.")
        await ana.types("/title The sea", "enter")
        await ana.sees("commons  The sea", "ana called the room “The sea”.")


async def test_what_others_write_cannot_break_the_screen(tmp_path: Path) -> None:
    """Escapes, markup, very long words and wide letters are shown as text."""
    async with seat(tmp_path, size=(40, 50)) as ana:
        ana.heard("\x1b[2J\x1b]0;owned\x07plain [bold]markup[/bold] \u202eright\n" + "x" * 300)
        ana.heard("漢字とかな🙂 and [/nonsense]")
        await ana.sees("plain [bold]markup[/bold] right", "漢字", "[/nonsense]")


async def test_marked_words_can_be_copied(ana: Seat) -> None:
    """What a mouse has marked in a line is copied by Ctrl+C, without the margin."""
    ana.said("The quick brown fox jumps over the lazy dog. " * 3)
    await ana.sees("quick")
    rows = ana.screen().splitlines()
    row = next(n for n, text in enumerate(rows) if "quick" in text)
    column = rows[row].index("quick")
    await ana.pilot.mouse_down(offset=(column, row))
    await ana.pilot.hover(offset=(12, row + 1))
    await ana.pilot.mouse_up(offset=(12, row + 1))
    await ana.until(ana.app.screen.get_selected_text)
    await ana.pilot.press("ctrl+c")
    await ana.until(lambda: ana.app.clipboard.startswith("quick brown fox"))
    assert "▌" not in ana.app.clipboard


async def test_ctrl_c_twice_ctrl_d_and_quit_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl+C clears, then asks, then leaves; Ctrl+D leaves an empty line; /quit leaves."""
    monkeypatch.setattr("loopforge.io.terminal.terminal_app.LEAVING", 60.0)
    async with seat(tmp_path) as ana:
        await ana.types("draft", "ctrl+c")
        assert ana.typed == ""
        await ana.pilot.press("ctrl+c")
        await ana.sees("Press Ctrl+C again to leave.")
        assert ana.app.is_running
        await ana.pilot.press("ctrl+c")
        await ana.until(lambda: not ana.app.is_running)
    async with seat(tmp_path) as ana:
        await ana.pilot.press("ctrl+d")
        await ana.until(lambda: not ana.app.is_running)
    async with seat(tmp_path) as ana:
        await ana.types("/quit", "enter")
        await ana.until(lambda: not ana.app.is_running)


async def test_the_host_goes_away_and_the_room_goes_on(tmp_path: Path) -> None:
    """Lost connection: a quiet sign, drafts gone, a waiting line kept; then all is there again."""
    silent = Temper(answer=lambda text: None)
    free = asyncio.Event()

    def waiting() -> contextlib.AbstractAsyncContextManager[Commons]:
        if not free.is_set():
            raise HostTaken("Another process has this home.")
        return hosting(tmp_path, silent)

    async with contextlib.AsyncExitStack() as host:
        await host.enter_async_context(watching(link(tmp_path, "host", silent)))
        made = link(tmp_path, "ana")
        made._become_host = waiting
        async with seated(made) as ana:
            HOSTED[tmp_path].signals.publish(R, Thinking(turn="t", mate="maya"))
            await ana.sees("Maya is thinking…")
            await host.aclose()
            await ana.sees("The host went away. Looking for it again…")
            await ana.until(lambda: "thinking" not in ana.screen())
            await ana.types("still here?", "enter")
            await ana.sees("still here?")
            await ana.until(lambda: ana.app.query(".waiting"))
            free.set()
            await ana.until(lambda: "went away" not in ana.screen())
            await ana.until(lambda: not ana.app.query(".waiting"))
            await ana.sees("#4", "still here?")
            assert ana.screen().count("still here?") == 1
            heard = [e.body for e in HOSTED[tmp_path].events(R) if isinstance(e.body, Heard)]
            assert [str(body.text) for body in heard] == ["still here?"]


async def test_what_breaks_the_link_closes_the_screen_with_that_error(tmp_path: Path) -> None:
    """An unknown mate is raised to the caller after the screen is closed."""
    async with link(tmp_path, "ana", mates=("nobody",)) as made:
        app = Terminal(made)
        async with app.run_test() as pilot:
            while app.is_running:
                await pilot.pause(0.02)
        assert isinstance(app.broken, Unknown)
        assert "nobody" in str(app.broken)


def test_notices_hold_text_and_no_markup() -> None:
    """A notice shows square brackets as they are."""
    assert "[b]" in str(Notice("a [b] c").render())


LATIN = """
import sys
from textual.app import App
from loopforge.io.terminal.terminal_app import LenientDriver
class Screen(App):
    def on_key(self, event):
        if event.key == "q":
            self.exit("left")
if __name__ == "__main__":
    sys.exit(Screen(driver_class=LenientDriver).run() != "left")
"""


def test_bytes_that_are_no_text_end_nothing() -> None:
    """What a terminal sends that is not set to UTF-8 is passed over, and the next key is heard."""
    ours, theirs = pty.openpty()
    ends = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    with subprocess.Popen([sys.executable, "-c", LATIN], **ends) as screen:  # type: ignore[call-overload]
        os.close(theirs)
        os.read(ours, 1000)
        os.write(ours, b"\xe9\xff")
        with contextlib.suppress(OSError):  # it closed its end
            while screen.poll() is None:
                os.write(ours, b"q")
                if select.select([ours], [], [], 0.1)[0]:
                    os.read(ours, 10_000)
    os.close(ours)
    assert screen.returncode == 0
