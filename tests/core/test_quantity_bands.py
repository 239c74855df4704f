"""Bands: words in an order."""

from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.text.quantity_bands import BANDS, at_least, band

quantities = st.floats(-1, 2)


@given(quantities, quantities)
def test_bands_keep_the_order_of_quantities(one: float, other: float) -> None:
    """More is never a lower band."""
    if one >= other:
        assert at_least(band(one), band(other))


def test_every_band_is_reached() -> None:
    """The five bands are fifths; what lies outside is clamped."""
    assert [band(x) for x in (0, 0.2, 0.4, 0.6, 0.8)] == list(BANDS)
    assert (band(-3), band(1), band(9)) == ("very low", "very high", "very high")
