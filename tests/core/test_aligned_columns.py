"""Tables of figures stand straight, whatever signs their names are of."""

from loopforge.core.statistics.aligned_columns import align_columns, pad_cell


def test_a_sign_that_is_two_cells_wide_counts_as_two() -> None:
    """Chinese and Latin names fill a column alike; what is wider stays whole."""
    assert pad_cell("修理", 6) == "修理  "
    assert pad_cell("Ada", 6, right=True) == "   Ada"
    assert pad_cell("Sprocket", 3) == "Sprocket"


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    """Names begin alike, figures end alike, and no line has blanks at its end."""
    rows = [("", "calls"), ("修理", "7"), ("Ada", "1,200")]
    assert align_columns(rows) == ["      calls", "修理      7", "Ada   1,200"]
    assert align_columns(rows, left=(0, 1)) == ["      calls", "修理  7", "Ada   1,200"]
