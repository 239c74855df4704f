"""The record: prompts and lines written as changes."""

from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.policy import Ask, Message
from loopforge.core.turn_events import PieceRun, TextPiece
from loopforge.runtime.turn_record import DEPTH, PLACES, Recorder

PLACE = ("room:x", "maya")
PROMPTS = st.lists(
    st.tuples(st.sampled_from("ab"), st.lists(st.sampled_from("pqr"), max_size=6)), max_size=40
)


def whole(runs: dict[str, PieceRun], event: str) -> tuple[TextPiece, ...]:
    """What an event's prompt reads as, over what it rests on."""
    run = runs[event]
    return (whole(runs, run.base)[: run.keep] if run.base else ()) + run.more


@given(PROMPTS)
def test_whatever_is_asked_reads_back_as_it_was(asked: list[tuple[str, list[str]]]) -> None:
    """Any sequence of prompts, written as changes upon each other, reads back word for word."""
    recorder, runs = Recorder(), {}
    for number, (kind, texts) in enumerate(asked):
        messages = tuple(Message("user", (f"{kind} {text}",)) for text in (kind, *texts))
        runs[str(number)] = recorder.prompt(PLACE, str(number), Ask(messages))
        read = [str(piece.words[0]) for piece in whole(runs, str(number))]
        assert read == [message.text for message in messages]


def test_unlike_prompts_do_not_push_each_other_out() -> None:
    """A mate that asks two kinds of question in turn still writes each as a change of its own."""
    recorder = Recorder()
    grown = [Message("system", ("talk",))]
    for number in range(6):
        grown.append(Message("user", (f"line {number}",)))
        run = recorder.prompt(PLACE, f"talk {number}", Ask(tuple(grown)))
        account = (Message("system", ("account",)), Message("user", (f"why {number}",)))
        other = recorder.prompt(PLACE, f"account {number}", Ask(account))
        assert len(run.more) == (2 if number == 0 else 1)
        assert len(other.more) == (2 if number == 0 else 1)


def test_changes_do_not_pile_up_without_end() -> None:
    """After a number of changes a whole record is written again."""
    recorder, bases = Recorder(), []
    for number in range(3 * DEPTH):
        messages = tuple(Message("user", (f"line {n}",)) for n in range(number + 1))
        bases.append(recorder.prompt(PLACE, str(number), Ask(messages)).base)
    assert bases.count("") == 3


def test_of_many_rooms_those_that_were_last_at_work_are_remembered() -> None:
    """What was written in rooms that are idle is let go, and what comes there is written whole."""
    recorder = Recorder()

    def prompt(room: str, event: str) -> str:
        return recorder.prompt((room, "maya"), event, Ask((Message("system", ("talk",)),))).base

    prompt("room:idle", "first")
    prompt("room:busy", "first")
    for number in range(3 * PLACES):
        assert prompt(f"room:{number}", "once") == ""
        anew = number % (DEPTH + 1) == DEPTH
        assert (prompt("room:busy", f"again {number}") == "") == anew
    assert prompt("room:idle", "second") == ""
