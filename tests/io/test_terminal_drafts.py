"""What is in the air at the terminal: drafts that grow or are taken back, tools at work, typing."""

from pathlib import Path
from typing import Any

from loopforge.io.terminal.input_composer import InputPen
from loopforge.io.terminal.side_panes import OverlayPage
from loopforge.runtime.ports import Draft, Rested, Thinking, ToolProgress, Withdrawn
from tests.io.test_terminal_app import R, seat


async def test_a_draft_grows_in_place_and_becomes_the_line(tmp_path: Path) -> None:
    """Dots before the first word, then the text as it grows, then the line, once."""
    async with seat(tmp_path) as ana:
        signals = ana.rooms.signals
        signals.publish(R, Thinking(turn="t", mate="merlin"))
        await ana.sees("Merlin is thinking…", "·")
        signals.publish(R, Draft(turn="t", mate="merlin", text="The sea"))
        await ana.sees("Merlin is typing…", "The sea▌")
        signals.publish(R, Draft(turn="t", mate="merlin", text="The sea breathes"))
        await ana.sees("The sea breathes▌")
        ana.said("The sea breathes.", "merlin")
        signals.publish(R, Rested(turn="t", mate="merlin"))
        await ana.sees("The sea breathes.")
        await ana.until(lambda: "▌" not in ana.screen().replace("▌ ", ""))
        await ana.until(lambda: "is typing" not in ana.screen())
        assert ana.screen().count("The sea") == 1


async def test_a_tool_is_seen_at_work_also_after_its_turn(tmp_path: Path) -> None:
    """How far it is stands below the dots and in the bar, what it says of itself as mere text."""
    async with seat(tmp_path) as ana:

        def told(**more: Any) -> None:
            use = ToolProgress(effect="e", turn="t", mate="maya", tool="knit", **more)
            ana.rooms.signals.publish(R, use)

        ana.rooms.signals.publish(R, Thinking(turn="t", mate="maya"))
        await ana.sees("Maya is thinking…")
        told()
        await ana.sees("Maya uses knit…")
        told(text="row \x1b[2J[b]3", part=0.3)
        await ana.sees("uses knit: row [b]3, 30 %\n", "Maya uses knit: row [b]3, 30 %")
        ana.rooms.signals.publish(R, Rested(turn="t", mate="maya"))
        await ana.until(lambda: "·  ·" not in ana.screen())
        assert "Maya uses knit" in ana.screen()
        told(over=True)
        await ana.until(lambda: "knit" not in ana.screen())


async def test_a_draft_that_is_taken_back_stays_struck_with_its_reason(tmp_path: Path) -> None:
    """What was withdrawn is marked so, and says why."""
    async with seat(tmp_path) as ana:
        signals = ana.rooms.signals
        signals.publish(R, Thinking(turn="t", mate="maya"))
        signals.publish(R, Draft(turn="t", mate="maya", text="The key is 1234"))
        await ana.sees("The key is 1234")
        signals.publish(R, Withdrawn(turn="t", mate="maya", why="it would give away a key"))
        signals.publish(R, Rested(turn="t", mate="maya"))
        await ana.sees("✕ taken back: it would give away a key")
        entry = ana.app.query_one(".withdrawn")
        struck = [s.text for s in entry.render_line(1) if s.style and s.style.strike]
        assert "The key is 1234" in "".join(struck)
        ana.heard("what was that?")
        await ana.sees("what was that?")
        rows = ana.screen().splitlines()
        assert rows.index(next(r for r in rows if "1234" in r)) < rows.index(
            next(r for r in rows if "what was that" in r)
        )


async def test_what_the_room_does_by_itself_is_not_shown(tmp_path: Path) -> None:
    """The room's own turns, and a silence that nobody saw begin, leave nothing on the screen."""
    async with seat(tmp_path) as ana:
        signals = ana.rooms.signals
        for mate in ("room", "maya"):
            signals.publish(R, Thinking(turn=mate, mate=mate))
            signals.publish(R, Withdrawn(turn=mate, mate=mate, why="it decided to say nothing"))
            signals.publish(R, Rested(turn=mate, mate=mate))
        signals.publish(R, Thinking(turn="u", mate="merlin"))
        await ana.sees("Merlin is thinking…")
        assert "Room" not in ana.screen()
        assert "taken back" not in ana.screen()


async def test_what_is_typed_over_a_page_is_not_lost(tmp_path: Path) -> None:
    """A letter that is no key of a page, or a paste, closes it and goes on in the line."""
    from textual import events

    async with seat(tmp_path) as ana:
        pen = ana.app.query_one(InputPen)
        await ana.types("/who", "enter")
        await ana.until(lambda: isinstance(ana.app.screen, OverlayPage))
        await ana.pilot.press("h", "e", "y", "space", "j", "o")
        await ana.until(lambda: pen.text == "hey jo")
        await ana.pilot.press("ctrl+c")
        await ana.types("/who", "enter")
        await ana.until(lambda: isinstance(ana.app.screen, OverlayPage))
        ana.app.post_message(events.Paste("a paste"))
        await ana.until(lambda: pen.text == "a paste")
        assert not isinstance(ana.app.screen, OverlayPage)
