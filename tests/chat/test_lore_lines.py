"""lore_lines: what a mate's lore puts before it."""

from datetime import UTC, datetime

from loopforge.chat.turns.lore_lines import BYTES, LoreReader, most_lore
from loopforge.core.context_window import ContextEntry
from loopforge.core.mates.mate_file import Mate, parse_mate
from loopforge.core.perception import Line
from loopforge.core.text.erasable_text import Words, set_words_text
from loopforge.runtime.ports import ModelFacts

FILE = "---\nname: Otto\n---\nYou are Otto.\n\n## Lore\n\n### *\nIt is winter.\n\n### tower\nNo door.\n"


def said(*texts: str) -> list[ContextEntry]:
    """Lines of a person, oldest first."""
    at = datetime(2026, 11, 21, tzinfo=UTC)
    return [
        ContextEntry(id=f"l{n}", seq=n, kind="heard", at=at, who="ana", text=Words(text))
        for n, text in enumerate(texts)
    ]


def told(lines: tuple[Line, ...]) -> list[str]:
    """The texts of lines."""
    return [str(line.text) for line in lines]


def test_lore_is_told_while_it_is_spoken_of() -> None:
    """What is known always stands before the lines; the rest after them, for a few lines."""
    mate, facts = parse_mate(FILE, "otto.md"), ModelFacts(name="m", window=32_000, small=False)
    found = LoreReader().lines(
        "room:x", mate, said("hello", "who lives in the tower?", "a", "b", "c"), facts
    )
    assert (told(found.standing), told(found.recalled)) == (["It is winter."], ["No door."])
    found = LoreReader().lines("room:x", mate, said("the tower!", "a", "b", "c", "d"), facts)
    assert (told(found.standing), told(found.recalled)) == (["It is winter."], [])
    assert LoreReader().lines(
        "room:x", parse_mate(FILE.partition("\n\n## L")[0], "o.md"), said("tower"), facts
    ) == (
        (),
        (),
    )


def test_a_small_model_is_told_little() -> None:
    """Lore that is long gives way where the model is small, and is counted with the prompt."""
    long: Mate = parse_mate(FILE.replace("No door.", "No door. " * 60), "otto.md")
    for small, count in ((True, 0), (False, 1)):
        facts = ModelFacts(name="m", window=32_000, small=small)
        assert len(LoreReader().lines("room:x", long, said("the tower"), facts).recalled) == count
    assert most_lore(long, ModelFacts(name="m", window=32_000, small=False)) < 2 * BYTES // 3


def test_what_is_told_again_is_stored_once() -> None:
    """The Words of lore stay the same from turn to turn; once forgotten they are made anew."""
    mate, reader = parse_mate(FILE, "otto.md"), LoreReader()
    facts, lines = ModelFacts(name="m", window=32_000), said("the tower")
    (first,) = reader.lines("room:x", mate, lines, facts).recalled
    (again,) = reader.lines("room:x", mate, lines, facts).recalled
    assert again.text is first.text
    set_words_text(first.text, None)
    (fresh,) = reader.lines("room:x", mate, lines, facts).recalled
    assert str(fresh.text) == "No door."
