"""The shortlist: which tools a turn is offered where there are many, in which order; find_tools."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from loopforge.errors import NotInstalled
from loopforge.models.embeddings.static_table import StaticTable
from loopforge.runtime.ports import Embeddings, Tool, ToolCall
from loopforge.settings import load_settings
from loopforge.tools.find_tools import FIND_TOOLS, make_find_tools
from loopforge.tools.tool_shortlist import ToolShortlist, definition_size, offered
from loopforge.tools.tool_suggestion import RankedTool

HERE = ("commons", "maya")
MANY = [
    FIND_TOOLS,
    Tool(name="weather_forecast", summary="Tells how the weather will be in a city."),
    Tool(name="create_invoice", summary="Writes a bill for a customer."),
    Tool(name="send_mail", summary="Sends a letter to somebody."),
    Tool(name="list_branches", summary="Lists the branches of a git repository."),
    Tool(name="play_song", summary="Plays music."),
]


def table() -> Embeddings:
    """The table that comes along."""
    return StaticTable()


def nothing() -> Embeddings:
    """No embeddings are installed."""
    raise NotInstalled("The table of word vectors is not installed here.")


def shortlist(home: Path, *, most: int = 2, pinned: str = "") -> ToolShortlist:
    """The shortlist of a home that is set so."""
    told = {"LOOPFORGE_TOOLS_OFFERED": str(most), "LOOPFORGE_TOOLS_PINNED": pinned}
    return ToolShortlist(load_settings(home, environ=told), table)


def asking(purpose: str) -> ToolCall:
    """A call of find_tools in the room and by the mate of HERE."""
    stream, mate = HERE
    return ToolCall(arguments={"purpose": purpose}, stream=stream, mate=mate)


async def chosen(one: ToolShortlist, *talk: str, may: Sequence[Tool] = MANY) -> list[str]:
    """The names of what is offered in a talk."""
    return [tool.name for tool in await one.choose(HERE, may, MANY, talk)]


async def test_few_tools_are_offered_all_and_in_their_order(tmp_path: Path) -> None:
    """Nothing is left to find, so that nothing finds it."""
    assert await chosen(shortlist(tmp_path, most=5), "hello") == [tool.name for tool in MANY[1:]]
    assert await chosen(shortlist(tmp_path), "hello", may=[]) == []


async def test_of_many_those_are_offered_that_fit_and_what_finds_the_others(tmp_path: Path) -> None:
    """Pinned ones and find_tools stand in front; what one may not use is not offered."""
    one = shortlist(tmp_path, pinned="play_song, gone")
    found = await chosen(one, "will it rain tomorrow, and mail her the forecast")
    assert found == ["find_tools", "play_song", "weather_forecast", "send_mail"]
    may = [tool for tool in MANY if tool.name != "send_mail"]
    assert "send_mail" not in await chosen(one, "mail her the forecast", may=may)


async def test_in_a_small_window_tools_leave_room_for_the_talk(tmp_path: Path) -> None:
    """They take a tenth of it: in 900 tokens there is room for the one that fits best."""
    one = shortlist(tmp_path, most=4)
    assert len(await one.choose(HERE, MANY, MANY, ["will it rain tomorrow"], 8192)) == 5
    one = shortlist(tmp_path, most=4)
    found = await one.choose(HERE, MANY, MANY, ["will it rain tomorrow"], 900)
    assert [tool.name for tool in found] == ["find_tools", "weather_forecast"]


async def test_the_front_stays_while_the_talk_goes_on(tmp_path: Path) -> None:
    """What was offered in this room keeps its place; another room begins anew."""
    one = shortlist(tmp_path)
    first = await chosen(one, "will it rain tomorrow? then bill the customer")
    second = await chosen(one, "list the branches and play a song")
    assert second[: len(first)] == first
    assert {"list_branches", "play_song"} <= {*second}
    elsewhere = await one.choose(("den", "maya"), MANY, MANY, ["list branches, play a song"])
    assert [tool.name for tool in elsewhere] == ["find_tools", "list_branches", "play_song"]


async def test_without_any_embeddings_words_decide(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says why, once."""
    one = ToolShortlist(load_settings(tmp_path, environ={"LOOPFORGE_TOOLS_OFFERED": "1"}), nothing)
    for _ in range(2):
        assert "list_branches" in await chosen(one, "list branches")
    assert caplog.text.count("The table of word vectors is not installed") == 1
    await one.close()


# ---------------------------------------------------------------- find_tools


async def test_find_tools_names_what_fits_with_its_arguments(tmp_path: Path) -> None:
    """Not itself; and a tool whose description is endless by its first words alone."""
    mail = Tool(
        name="mail", summary="Sends letters.", schema={"properties": {"to": {"type": "string"}}}
    )
    huge = Tool(name="post", summary="Posts letters. " + "x" * 10_000)
    find = make_find_tools(shortlist(tmp_path), lambda: [*MANY, mail, huge])
    told = str(await find(asking("send a letter")))
    assert "- send_mail: Sends a letter to somebody." in told
    assert 'Its arguments: {"to": {"type": "string"}}' in told
    assert "- post: Posts letters." in told
    assert "find_tools" not in told
    assert len(told) < 1_500


async def test_find_tools_says_that_there_is_none(tmp_path: Path) -> None:
    """Where no tool is known there is nothing to find."""
    found = await make_find_tools(shortlist(tmp_path), list)(asking("bake"))
    assert found == "You have no tool that does that."


async def test_find_tools_names_none_that_could_not_be_used(tmp_path: Path) -> None:
    """Neither those that the mate has not, nor those that whom it answers may not have used."""
    one = shortlist(tmp_path, most=1)
    await chosen(one, "hello", may=[tool for tool in MANY if tool.name != "send_mail"])
    told = str(await make_find_tools(one, lambda: MANY)(asking("send a letter to a customer")))
    assert "create_invoice" in told
    assert "send_mail" not in told


# ---------------------------------------------------------------- what is offered, and its order


def named(count: int) -> list[Tool]:
    """So many tools, `t0` and so on."""
    return [Tool(name=f"t{at}", summary="x" * 50) for at in range(count)]


def names(*order: int) -> list[RankedTool]:
    """These, in this order of fit."""
    return [RankedTool(f"t{at}", 1.0) for at in order]


def test_pinned_ones_are_always_there_and_in_front() -> None:
    """They stand by name, whatever fits; one that is no more is left out."""
    found = offered(named(9), names(5, 2, 1), pinned=["t2", "t0", "gone"], most=2)
    assert [tool.name for tool in found] == ["t0", "t2", "t5", "t1"]


def test_what_was_offered_before_keeps_its_place() -> None:
    """So that the prompt's front stays as it was; new ones come after it."""
    found = offered(named(9), names(7, 3), before=["t1", "t3", "t5", "gone"], most=2)
    assert [tool.name for tool in found] == ["t1", "t3", "t5", "t7"]


def test_a_front_that_became_too_long_is_made_anew() -> None:
    """More than twice as many as fit are not carried along."""
    found = offered(named(9), names(7, 8), before=["t1", "t3", "t5"], most=2)
    assert [tool.name for tool in found] == ["t7", "t8"]


def test_five_hundred_tools_take_no_more_room_than_is_given() -> None:
    """A tool that is larger than what is left is passed over, a smaller one is not."""
    tools = [*named(499), Tool(name="huge", summary="x" * 9000)]
    found = offered(tools, [RankedTool("huge", 2.0), *names(*range(499))], most=40, room=1000)
    assert "huge" not in [tool.name for tool in found]
    assert len(found) > 10
    assert sum(map(definition_size, found)) <= 1000
