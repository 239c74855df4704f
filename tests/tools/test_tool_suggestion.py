"""Suggestion: which of many tools fit a talk, and what it does without vectors."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from loopforge.errors import ModelError
from loopforge.models.embeddings.static_table import StaticTable
from loopforge.runtime.ports import Tool
from loopforge.tools.tool_suggestion import ToolIndex

ROOT = Path(__file__).parent.parent.parent
TOOLS = [
    Tool(name="weather_forecast", summary="Tells how the weather will be in a city."),
    Tool(name="createInvoice", summary="Writes a bill for a customer."),
    Tool(
        name="send_mail",
        summary="Sends a letter to somebody.",
        schema={
            "properties": {"recipient": {"description": "the email address"}, "subject": {}, "n": 1}
        },
    ),
    Tool(name="list_branches", summary="Lists the branches of a git repository."),
]


class Unwilling:
    """Embeddings of a server that gives out after some answers."""

    name, dimension = "unwilling", 2

    def __init__(self, answers: int) -> None:
        self.answers = answers

    async def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Rows of one kind, or an error."""
        self.answers -= 1
        if self.answers < 0:
            raise ModelError("Embeddings of unwilling: nobody is there.")
        return np.ones((len(texts), 2), np.float32)

    async def close(self) -> None:
        """Nothing is open."""


class Counting(StaticTable):
    """The table, noting how many texts it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []

    async def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As the table."""
        self.asked.append(len(texts))
        return await super().vectors(texts)


async def first(index: ToolIndex, *talk: str) -> str:
    """The tool that fits a talk best."""
    return (await index.rank(TOOLS, talk))[0].name


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ("How is the weather in Oslo?", "weather_forecast"),
        ("Please invoice Ada for two days", "createInvoice"),
        ("what is her email address", "send_mail"),
        ("which branch are we on", "list_branches"),
    ],
)
async def test_a_tool_is_found_by_its_words(said: str, tool: str) -> None:
    """Words of its name, its summary and its arguments, whatever their endings."""
    assert await first(ToolIndex(), said) == tool


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ("Will it rain tomorrow, do I need an umbrella?", "weather_forecast"),
        ("charge our client for the work", "createInvoice"),
        ("drop her a note that we come later", "send_mail"),
    ],
)
async def test_a_tool_is_found_by_what_is_meant(said: str, tool: str) -> None:
    """None of these words is the tool's."""
    assert await first(ToolIndex(StaticTable()), said) == tool


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ("is the quality of the air good today", "airqualityforecast"),
        ("a wheather forcast please", "airqualityforecast"),
        ("which songs are in my playlists", "songplaylistmaker"),
    ],
)
async def test_a_tool_is_found_by_a_part_of_a_word(said: str, tool: str) -> None:
    """Names that are run together, and words that are misspelt, by words alone."""
    tools = [*TOOLS[1:], Tool(name="airqualityforecast", summary="")]
    tools += [Tool(name="songplaylistmaker", summary="")]
    assert (await ToolIndex().rank(tools, [said]))[0].name == tool


async def test_a_thing_that_is_said_beside_others_is_found() -> None:
    """Each word finds its own tool, where the mean of all of them is near to others."""
    told = {
        "weather__forecast": "Tells how the weather will be in a city.",
        "flights__search": "Finds flights between two cities with prices.",
        "calendar__create_event": "Puts an appointment into the calendar.",
        "holiday__ideas": "Suggests a holiday, a trip, an outing.",
        "city__guide": "Describes a city, its museums and its restaurants.",
        "visa__check": "Tells whether a traveller needs a visa for a country.",
        "luggage__rules": "Tells what luggage an airline takes along.",
        "trains__search": "Finds trains between two stations.",
        "maps__route": "Shows the way from one place to another.",
        "image__crop": "Cuts a picture.",
    }
    said = (
        "Before the museums and restaurants of Lisbon on our holiday trip: crop my passport photo "
        "and note the appointment at the embassy"
    )
    tools = [Tool(name=name, summary=about) for name, about in told.items()]
    ranked = [fit.name for fit in await ToolIndex(StaticTable()).rank(tools, [said])]
    assert "image__crop" in ranked[:3], ranked


async def test_what_was_said_before_counts_less() -> None:
    """The newest line decides; where it says little, those before it do."""
    index = ToolIndex()
    assert await first(index, "send a mail", "no, list the branches") == "list_branches"
    assert await first(index, "list the branches", "yes please do") == "list_branches"


async def test_without_vectors_words_decide(caplog: pytest.LogCaptureFixture) -> None:
    """A server that is down before, or goes away after the tools were learned, loses nothing."""
    for answers in (0, 1):
        index = ToolIndex(Unwilling(answers))
        assert await first(index, "list branches") == "list_branches"
    assert "by words alone" in caplog.text
    assert "nobody is there" in caplog.text


async def test_a_server_that_comes_back_is_used_again() -> None:
    """What it could not be asked is asked at a later turn."""
    embeddings = Unwilling(0)
    index = ToolIndex(embeddings, pause=0)
    await index.rank(TOOLS, ["list branches"])
    embeddings.answers = 2
    fits = await index.rank(TOOLS, ["something else"])
    assert fits[0].score > 1


async def test_tools_are_learned_once_and_a_new_one_alone() -> None:
    """Only what is not known yet is asked for."""
    counting = Counting()
    index = ToolIndex(counting)
    for tools in (TOOLS[:3], TOOLS[:3], TOOLS, TOOLS[1:]):
        await index.rank(tools, ["hello"])
    assert counting.asked == [9, 1, 1, 3, 1, 1]


async def test_tools_of_two_rooms_are_learned_at_once() -> None:
    """While the vectors of some are made, those of others may take the place of what was known."""

    class Meanwhile(StaticTable):
        """Somebody else's tools are learned while these are."""

        index: ToolIndex
        others = False

        async def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if self.others:
                self.others = False
                await self.index.learn(TOOLS[2:])
            return await super().vectors(texts)

    table = Meanwhile()
    index = table.index = ToolIndex(table)
    await index.learn(TOOLS[:1])
    table.others = True
    await index.learn(TOOLS[:2])
    assert await first(index, "how will the weather be?") == "weather_forecast"


@pytest.mark.parametrize("talk", [[], [""], ["?!"], ["\ud800 🌧" * 10_000]])
async def test_any_talk_is_ranked_and_alike_each_time(talk: list[str]) -> None:
    """Nothing said, signs alone, or far too much; and no tools at all."""
    index = ToolIndex(StaticTable())
    assert await index.rank(TOOLS, talk) == await ToolIndex(StaticTable()).rank(TOOLS, talk)
    assert await index.rank([], talk) == []


@pytest.mark.parametrize(
    "schema",
    [{"properties": []}, {"properties": {"a": "b", "c": {"description": 7}}}, {"properties": None}],
)
async def test_a_schema_that_is_none_does_no_harm(schema: dict[str, Any]) -> None:
    """Servers of strangers declare what they like."""
    assert await ToolIndex().rank([Tool(name="odd", summary="", schema=schema)], ["odd"])


# ---------------------------------------------------------------- the benchmark


def test_the_benchmark_reads_its_files_and_prints_json(tmp_path: Path) -> None:
    """Queries as CSV, tools as JSON; figures by the product's own code."""
    queries, tools = tmp_path / "queries.csv", tmp_path / "tools.json"
    queries.write_text('Query,Tool\n"Will it rain, or not?",weather\nwho owes us,bills\n', "utf-8")
    tools.write_text(json.dumps({"weather": "Forecasts rain.", "bills": "Money people owe."}))
    told = [sys.executable, "bench/tool_suggestion.py", "--queries"]
    done = subprocess.run(
        [*told, queries, "--tools", tools], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert (figures["nDCG@10"], figures["R@1"], figures["R@5"], figures["R@10"]) == (1, 1, 1, 1)


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    """A tool that there is not, or a file that is not there: one sentence, exit code 2."""
    queries, tools = tmp_path / "queries.csv", tmp_path / "tools.json"
    tools.write_text('{"weather": "Forecasts."}')
    line = [sys.executable, "bench/tool_suggestion.py", "--queries"]
    for text, why in (
        (None, "No such file"),
        ("Query,Tool\nhm,kiln\n", "['kiln']"),
        ("", "no queries"),
    ):
        if text is not None:
            queries.write_text(text)
        done = subprocess.run(
            [*line, queries, "--tools", tools],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, why in done.stderr) == (2, True), done.stderr
