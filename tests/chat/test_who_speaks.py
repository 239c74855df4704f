"""Who speaks: a table of transcripts in fifteen languages, and how many of them are right."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from loopforge.chat.room.room_state import fold
from loopforge.chat.speaking.triggers import batches, weigh_triggers
from tests.strategies import Chronicle, Listening

TABLE = Path(__file__).with_name("who_speaks.txt")
HOUSE = {name.lower(): Listening(name) for name in ("Maya", "Merlin", "Zuzu")}
PEOPLE = ("ana", "ben", "cleo")
NOBODY, ANYBODY = "-", "*"


class Transcript(NamedTuple):
    """Lines, each (who, text), of which the last is weighed; the mates that it calls."""

    language: str
    lines: tuple[tuple[str, str], ...]
    calls: frozenset[str]


def transcripts(table: str) -> list[Transcript]:
    """The table as it is written."""
    found, language = list[Transcript](), ""
    for row in table.splitlines():
        if row.startswith("## "):
            language = row[3:]
        elif row and not row.startswith("#"):
            talk, _, calls = row.rpartition(" = ")
            lines = (line.partition("> ") for line in talk.replace("\\n", "\n").split(" | "))
            said = tuple((who.strip(), text) for who, _, text in lines)
            found.append(Transcript(language, said, frozenset(calls.split())))
    return found


def verdicts(talk: Transcript) -> dict[str, str]:
    """What each mate is to do after the last line."""
    story = Chronicle(mates=0, people=0)
    for person in PEOPLE:
        story.join(f"p-{person}")
    for mate in HOUSE:
        story.join_mate(mate)
    for who, text in talk.lines[:-1]:
        if who in HOUSE:
            story.weigh((who, story.lines[-1], "speak"))
            story.perceive(who)
            story.say(text)
            story.end()
        else:
            story.hear(text, f"p-{who}")
    story.hear(talk.lines[-1][1], f"p-{talk.lines[-1][0]}", after=20)
    state = fold(story.events)
    weights = weigh_triggers(state, batches(state.pending())[-1], HOUSE, story.now)
    return {weight.mate: weight.verdict for weight in weights}


def right(talk: Transcript, *, asked: bool) -> bool:
    """Whether those speak who are called, and no others; `asked`: to be asked is right, too."""
    told = verdicts(talk)
    speak = {mate for mate, verdict in told.items() if verdict == "speak"}
    awake = {mate for mate, verdict in told.items() if verdict != "pass"}
    if talk.calls == {ANYBODY}:
        return bool(awake)
    calls = talk.calls - {NOBODY}
    return speak <= calls <= (awake if asked else speak)


def asks(talk: Transcript) -> bool:
    """Whether a model is asked about a line that calls nobody."""
    return "ask" in verdicts(talk).values()


def share(some: list[bool]) -> float:
    """How many of them are so, from 0 to 1."""
    return sum(some) / len(some)


def test_who_is_called_speaks() -> None:
    """Of all transcripts 92 % are right where it is right that a mate is asked, else 82 %."""
    talks = transcripts(TABLE.read_text("utf-8"))
    assert len(talks) >= 150
    assert len(Counter(talk.language for talk in talks)) >= 10
    assert share([right(talk, asked=True) for talk in talks]) >= 0.92
    assert share([right(talk, asked=False) for talk in talks]) >= 0.82


def test_lines_to_nobody_ask_few_models() -> None:
    """Of lines that call nobody at most 35 % ask a model."""
    talks = transcripts(TABLE.read_text("utf-8"))
    assert share([asks(talk) for talk in talks if talk.calls == {NOBODY}]) <= 0.35
