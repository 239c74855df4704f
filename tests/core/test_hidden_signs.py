"""What cannot be seen in a text is found and spelled out; what belongs where it stands is not."""

import pytest

from loopforge.core.egress.hidden_signs import hidden_signs, spelled_out


@pytest.mark.parametrize(
    "hidden",
    [
        *("\u3164", "\uffa0", "\u2800", "\ufe00", "\U000e0101", "\u200d", "\ufe0f", "\u0378"),
        *("\u202e", "\u200b", "\x1b", "\r", "\u2028", "\U000e0041"),
    ],
)
def test_letters_that_leave_no_trace_are_spelled_out(hidden: str) -> None:
    """In code they are names, or carry bytes, or turn the direction of what stands after them."""
    assert hidden_signs(f"let a{hidden} = 1;\n") == f"U+{ord(hidden):04X}"
    assert spelled_out(f"a{hidden}b") == f"a{hidden.encode('unicode_escape').decode()}b"


def test_what_joins_the_signs_of_a_picture_stays() -> None:
    """And of scripts that need it; once, for more of them are bytes again."""
    whole = "⚠️ 1️⃣ ❤️\u200d🔥 क्\u200dष\tis fine\r\n"
    assert (hidden_signs(whole), spelled_out(whole)) == ("", whole.replace("\r\n", "\n"))
    assert spelled_out("❤\ufe0f\ufe0f\u200d\u200d") == "❤\ufe0f\\ufe0f\u200d\\u200d"
