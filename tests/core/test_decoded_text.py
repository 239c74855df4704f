"""What stands encoded in a text, and its letters and figures alone."""

import base64

from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.text.decoded_text import decoded_forms, plain_signs


def test_each_encoding_is_read() -> None:
    """Percent signs, entities, escapes, base64 and hexadecimal; one in another at a depth of two."""
    words = "zinc harbour, at noon"
    coded = base64.b64encode(words.encode()).decode()
    assert words in decoded_forms("zinc%20harbour,+at%20noon")
    assert words in decoded_forms("zinc&#32;harbour&comma; at noon")
    assert words in decoded_forms("zinc\\x20harbour\\u002c at \\u{6e}oon")
    assert words in decoded_forms(f"look at {coded}, will you")
    assert words in decoded_forms(words.encode().hex(":"))
    twice = base64.b64encode(coded.encode()).decode()
    assert words not in decoded_forms(twice)
    assert words in decoded_forms(twice, 2)


@given(st.text())
def test_any_text_is_its_own_first_form(text: str) -> None:
    """Nothing is lost and nothing breaks, lone halves of signs and all."""
    assert decoded_forms(text + "\\ud800 \\u{fffff}", 2)[0] == text + "\\ud800 \\u{fffff}"
    assert plain_signs(f"Ｚinc-{text}").startswith("zinc")


def test_a_number_that_is_too_long_to_be_read_is_none() -> None:
    """An entity of more digits than Python makes a number of: the rest is read."""
    assert "zinc, harbour" in " ".join(decoded_forms(f"zinc&comma; harbour &#{'1' * 5000}; &#0"))


def test_letters_that_nobody_sees_are_no_signs() -> None:
    """Fillers of Hangul, in every width."""
    assert plain_signs("z\u115fi\u1160n\u3164c\uffa0 4711") == "zinc4711"
