"""png_text: texts in PNG files, and files that only look like them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.mates.png_text import SIGNATURE, texts, with_texts
from loopforge.errors import InputError

END = b"\0\0\0\0IEND\xaeB`\x82"
EMPTY = SIGNATURE + END


@given(st.binary(max_size=50), st.binary(max_size=50))
def test_texts_come_back(one: bytes, other: bytes) -> None:
    """What is put into a PNG is found in it, and it still ends as it did."""
    held = with_texts(EMPTY, {"chara": one, "ccv3": other})
    assert texts(held) == {"chara": one, "ccv3": other}
    assert held.endswith(END)
    assert texts(EMPTY) == {}


@pytest.mark.parametrize(
    "data",
    [
        SIGNATURE,
        SIGNATURE + b"\xff\xff\xff\xffIDAT",
        with_texts(EMPTY, {"chara": b"words"})[:-14],
        with_texts(EMPTY, {"chara": b"words"}).replace(b"words", b"swords"[:5]),
    ],
)
def test_a_damaged_picture_is_refused(data: bytes) -> None:
    """One that ends early, or whose parts do not agree, is said to be damaged."""
    with pytest.raises(InputError, match="damaged"):
        texts(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_picture_or_refused(data: bytes) -> None:
    """Nothing else than InputError comes of bytes that are no PNG."""
    with pytest.raises(InputError, match="damaged"):
        texts(SIGNATURE + data)
