"""Plots: which tables are read, what is chosen of them, what is refused, and what is drawn."""

import csv
import io
from datetime import UTC, datetime
from typing import Any

import pytest
from PIL import Image

from loopforge.errors import InputError
from loopforge.runtime.ports import ToolCall, ToolResult
from loopforge.tools.plotting.chart_choice import chosen, summary
from loopforge.tools.plotting.chart_drawing import COLOURS as CHART_COLOURS
from loopforge.tools.plotting.chart_drawing import drawn
from loopforge.tools.plotting.plot import plot, plotted
from loopforge.tools.plotting.table_reading import PlotRefused, read_table
from tests.tools.conftest import tool_home

BEDS = "bed,slugs,snails\nnorth,12,3\nsouth,40,9\neast,4,2\n"
COLOURS = {(0, 114, 178), (213, 94, 0)}


def inks(picture: bytes) -> set[Any]:
    """The colours of a picture."""
    image = Image.open(io.BytesIO(picture))
    assert image.size == (1200, 750)
    return {colour for _, colour in image.getcolors(1 << 20) or ()}


def test_reading_a_short_table_leaves_longer_ones_readable() -> None:
    """How long a cell may be is one number for all that reads CSV in this process: it only grows."""
    before = csv.field_size_limit()
    assert [column.name for column in read_table("a,b\n1,2\n")] == ["a", "b"]
    assert csv.field_size_limit() >= before


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (BEDS, ["words", "number", "number"]),
        ("Tag;Käfer\n1.3.2026;1.204,5\n2.3.2026;7,25\n", ["time", "number"]),
        ("| day | price |\n|---|---:|\n| 2026-01 | $1,200 |\n| 2026-02 | $9 |\n", ["time", "number"]),
        ("[sheet 1 of 2: Beds]\nyear | slugs\n2025 | 12\n[sheet 2 of 2: X]\nq | r | s\n",
         ["number", "number"]),
        ("1\t2\n3\t4\n", ["number", "number"]),
        ("value\n3\n4\n", ["number"]),
        ("a,b\n1,\n2,n/a\n3,4\n4,5\n5,6\n6,7\n", ["number", "number"]),
        ("\ufeffa,b\n1,nan\n2,NA\n3,-\n4,null\n5,6\n", ["number", "number"]),
        ("a,b\nyes,-\nno,none\n", ["words", "words"]),
    ],
)  # fmt: skip
def test_tables_are_read_as_they_come(text: str, kinds: list[str]) -> None:
    """Commas, semicolons with decimal commas, Markdown, sheets, tabs, one column, gaps."""
    assert [each.kind for each in read_table(text)] == kinds


def test_a_mark_of_quotation_that_is_never_closed_is_a_sign() -> None:
    """No row after it is swallowed, and a cell may be long; one that is closed may hold a row."""
    long = "x" * 200_000
    pipes, _, note = read_table(f'pipe,kg,note\n"half,1,{long}\nfull,2,b\n')
    assert pipes.cells == ('"half', "full")
    assert len(note.cells[0]) == 200
    assert read_table('a,b\n"north\nbed, or so",2\n')[0].cells == ("north bed, or so",)


def test_a_decimal_comma_is_no_thousand() -> None:
    """What stands behind it says which of the two it is."""
    (_, german) = read_table("a;b\n1;1.204,5\n2;7,25\n")
    (_, english) = read_table("a;b\n1;1,204\n2;7,250\n")
    assert german.numbers() == [1204.5, 7.25]
    assert english.numbers() == [1204, 7250]


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"kind": "line", "x": "beds"}, "There is no column 'beds'. Its columns are: bed (words)"),
        ({"kind": "bar", "y": ["bed"]}, "In 'bed' are no numbers, so it cannot be drawn upwards."),
        ({"kind": "histogram", "x": "bed"}, "A histogram wants a column of numbers."),
        ({"kind": "line", "log": True, "y": []}, ""),
    ],
)
def test_what_cannot_be_drawn_is_said(wanted: dict[str, Any], why: str) -> None:
    """With the columns that there are."""
    if why:
        with pytest.raises(PlotRefused) as refused:
            chosen(read_table(BEDS), wanted)
        assert why in str(refused.value)
    else:
        assert len(chosen(read_table(BEDS), wanted).series) == 2


def test_bars_add_up_and_count() -> None:
    """Rows of one word are one bar; without numbers, bars say how often a word stands there."""
    chart = chosen(read_table("fruit,kg\napple,1\npear,2\napple,3\n"), {"kind": "bar"})
    assert (chart.words, chart.series[0].high) == (("apple", "pear"), (4.0, 2.0))
    assert "Rows of the same fruit are added up." in summary(chart)
    chart = chosen(read_table("fruit\napple\npear\napple\n"), {"kind": "bar"})
    assert chart.series[0].high == (2.0, 1.0)


def test_a_histogram_counts_each_number_once() -> None:
    """Its bins hold all numbers, the largest too; what is none is told."""
    text = "v\n" + "".join(f"{nth}\n" for nth in range(100)) + "none\n"
    chart = chosen(read_table(text), {"kind": "histogram", "bins": 7})
    assert (len(chart.series[0].high), sum(chart.series[0].high)) == (7, 100)
    assert "v: 100 numbers from 0 to 99 in 7 bins" in summary(chart)
    assert "1 rows had nothing" in summary(chart)


@pytest.mark.parametrize("kind", ["line", "bar", "scatter", "histogram"])
async def test_each_kind_is_drawn(kind: str) -> None:
    """A picture in the colours of its columns comes back from the limited process."""
    said, picture = await plotted(BEDS, {"kind": kind})
    wanted = COLOURS if kind != "histogram" else {(0, 114, 178)}
    assert wanted <= inks(picture)
    assert said.startswith(f"A {kind} plot, along ")


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,1\n",
        "a,b\n1,0\n2,0\n3,-0.5\n4,2\n",
        "a,b\n1e200,1e250\n2e200,-1e250\n",
        "a,b\n0.0000001,1e-12\n0.0000002,2e-12\n",
        "a,b\n1,1e-323\n2,2e-323\n3,1\n",
        "a,b\n0001-01-01,1\n9999-12-31,2\n",
        "a,b\n2026-11-24T10:00,1\n2026-11-24T10:05,2\n",
        "a,b\nअंतर,1\n\U0001f40c,2\n",
        "\n".join(f"w{nth},{nth}" for nth in range(500)),
    ],
)
@pytest.mark.parametrize("kind", ["line", "bar"])
@pytest.mark.parametrize("log", [False, True])
def test_odd_tables_are_drawn(text: str, kind: str, log: bool) -> None:
    """One point, no height, very large and very small numbers, years 1 to 9999, any words."""
    inks(drawn(chosen(read_table(text), {"kind": kind, "log": log})))


def test_numbers_that_are_nearly_none_have_a_histogram() -> None:
    """They are 0, as near as a picture can tell."""
    inks(drawn(chosen(read_table("v\n1e-323\n2e-323\n"), {"kind": "histogram"})))


def test_every_column_stands_in_the_legend_and_every_axis_has_marks() -> None:
    """However long its name is; and over thousands of years."""
    names = ",".join(f"a rather long name, number {nth}".replace(",", "") for nth in range(8))
    picture = drawn(chosen(read_table(f"x,{names}\n1,{'2,' * 7}2\n"), {"kind": "line"}))
    legend = Image.open(io.BytesIO(picture)).crop((0, 60, 1200, 80))
    found = {colour for _, colour in legend.getcolors(1 << 20) or ()}
    assert found >= {tuple(bytes.fromhex(colour[1:])) for colour in CHART_COLOURS}
    years = drawn(chosen(read_table("a,b\n0001-01-01,1\n9999-12-31,2\n"), {"kind": "line"}))
    below = Image.open(io.BytesIO(years)).crop((150, 685, 1100, 705))
    assert len(below.getcolors(1 << 20) or ()) > 1


async def test_a_table_that_is_too_much_ends() -> None:
    """Whatever stands in it, an answer comes: a picture, or why there is none."""
    rows = "a,b\n" + "".join(f"{nth},{nth % 7}\n" for nth in range(60_000))
    said, _ = await plotted(rows, {"kind": "scatter"})
    assert "b: 50,000 points, 0 to 6" in said
    noise = "".join(chr(1 + nth * 7919 % 0x2FFF) for nth in range(100_000))
    for text in (noise, '"' * 50_000, "", "," * 100_000):
        with pytest.raises(InputError):
            await plotted(text, {"kind": "scatter"})


async def test_it_wants_a_file_or_a_table() -> None:
    """Neither, or both, is answered with what it wants; a table in the call is drawn."""
    work = plot.make(tool_home(datetime(2026, 11, 24, tzinfo=UTC)))
    with pytest.raises(InputError, match="either a file, by its handle, or a table"):
        await work(ToolCall(arguments={"kind": "line"}))
    arguments = {"kind": "bar", "table": BEDS, "title": "Beds"}
    given = await work(ToolCall(arguments=arguments))
    assert isinstance(given, ToolResult)
    assert [file.name for file in given.files] == ["plot-bar.png"]
