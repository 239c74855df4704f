"""Cells of CSV: none is a formula, and numbers stay numbers."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.egress.csv_cells import csv_lines, harmless


@pytest.mark.parametrize(
    "text",
    [
        '=HYPERLINK("x")',
        "+1+1",
        "-1+cmd|' /C calc'!A0",
        "@SUM(A1)",
        "\t=1",
        "\r",
        "\n",
        " =1",
        "＝1",
        "-",
    ],
)
def test_a_text_that_would_be_a_formula_is_a_text(text: str) -> None:
    """What a model writes stood in a spreadsheet's cell as it was."""
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize(
    "value", ["-5", "+1.5e-3", "-.5", "-12%", -5, -0.5, None, True, "a=b", "", "1-2"]
)
def test_numbers_and_other_texts_stay(value: object) -> None:
    """An apostrophe before a number would spoil sums."""
    assert harmless(value) is value


CELLS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


def test_what_begins_a_line_within_a_cell_begins_no_row() -> None:
    """Spreadsheets end a row at a carriage return, where it stands without quotation marks."""
    assert "".join(csv_lines(["what"], [{"what": "bread\r=1+1"}])) == 'what\n"bread\r=1+1"\n'


@given(st.lists(CELLS, min_size=1, max_size=4, unique=True), st.data())
def test_what_is_written_is_read_back(columns: list[str], data: st.DataObject) -> None:
    """Every cell but for its apostrophe, whatever stands in it; none begins a formula."""
    row = {name: data.draw(CELLS) for name in columns}
    text = "".join(csv_lines(columns, [row]))
    _, read = csv.reader(io.StringIO(text, newline=""))
    assert read == [harmless(cell) for cell in row.values()]
    assert not any(cell.lstrip()[:1] in tuple("=@") for cell in read)
