"""Slash commands and completion."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.chat.room.room_snapshot import MateCard, RoomSnapshot
from loopforge.errors import Unknown
from loopforge.io.terminal.terminal_commands import (
    COMMANDS,
    TypedCommand,
    complete_word,
    help_text,
    parse_typed_line,
)
from tests.io.test_terminal_app import seat

SCENE = RoomSnapshot(
    room="commons",
    you="p1",
    people=(("p1", "Ana"), ("p2", "Ben"), ("p3", "Mary Ann")),
    mates=(
        MateCard(handle="maya", name="Maya", role="host"),
        MateCard(handle="merlin", name="Merlin"),
        MateCard(handle="pixel", name="Q"),
    ),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("/stop", TypedCommand(name="stop")),
        ("  /WHY 12 ", TypedCommand(name="why", argument="12")),
        (
            "/title The sea\nand the moon",
            TypedCommand(name="title", argument="The sea\nand the moon"),
        ),
        ("/reply\n12 yes", TypedCommand(name="reply", argument="12 yes")),
        ("/exit", TypedCommand(name="quit")),
        ("hello /stop", "hello /stop"),
        ("//stop is a word", "/stop is a word"),
        ("/usr/bin/env is a path", "/usr/bin/env is a path"),
        ("/", "/"),
        ("  indented code", "  indented code"),
    ],
)
def test_a_line_is_a_command_or_is_said(text: str, found: TypedCommand | str) -> None:
    """What begins with one slash and a word is a command; two slashes say one; paths are said."""
    assert parse_typed_line(text) == found


def test_an_unknown_command_names_the_nearest() -> None:
    """A slip of the finger is answered with what was meant, and is not said to the room."""
    with pytest.raises(Unknown, match="Did you mean /energy"):
        parse_typed_line("/enrgy 3")
    with pytest.raises(Unknown, match="/help lists them"):
        parse_typed_line("/xyzzy")


@given(st.text())
def test_every_line_is_a_command_or_said_or_refused(text: str) -> None:
    """Whatever is typed, parse gives a command, a line, or Unknown."""
    try:
        found = parse_typed_line(text)
    except Unknown:
        return
    assert isinstance(found, TypedCommand | str)


def labels(text: str, cursor: int | None = None) -> list[str]:
    """What completion offers at the end of a text."""
    return [
        one.label for one in complete_word(text, len(text) if cursor is None else cursor, SCENE)
    ]


def test_slash_offers_every_command_with_its_help() -> None:
    """A slash at the beginning lists all commands; letters narrow the list; elsewhere it is text."""
    assert len(labels("/")) == len(COMMANDS)
    assert labels("/s") == ["/stop", "/status", "/spent LINE", "/search WORDS"]
    assert labels("/stop now") == []
    assert labels("and/or /") == []
    assert all(one.about for one in complete_word("/", 1, SCENE))


def test_at_offers_mates_first_and_people_but_not_oneself() -> None:
    """An @ at the beginning of a word lists names; by handle or by name; not within an address."""
    assert labels("@") == ["@maya", "@merlin", "@pixel", "@Ben"]
    assert labels("hello @m") == ["@maya", "@merlin"]
    assert labels("@q") == ["@pixel"]
    assert labels("mail ana@b") == []
    assert labels("@m and more", 2) == ["@maya", "@merlin"]


def test_help_names_every_command() -> None:
    """The list of commands holds each of them, in each form of the terminal."""
    for keys in (True, False):
        text = help_text(keys)
        assert all(f"/{command.name}" in text for command in COMMANDS)
    assert "Tab" in help_text()
    assert "Tab" not in help_text(keys=False)


async def test_what_a_command_does_stands_in_a_column_of_its_own(tmp_path: Path) -> None:
    """Where a row of a page is too long, it goes on under what it says, not under its name."""
    async with seat(tmp_path, size=(100, 30)) as ana:
        await ana.types("/help", "enter")
        await ana.sees("version N again")
        rows = ana.screen().splitlines()
        first = next(row for row in rows if "/again [N]" in row)
        more = next(row for row in rows if "version N again" in row)
        assert more.index("version N again") == first.index("have a mate answer anew")
