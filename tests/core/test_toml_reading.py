"""TOML of strangers: read in bounded work, and refused in one sentence."""

import pytest

from loopforge.core.limits.toml_reading import toml_of


def test_a_mark_of_its_encoding_is_no_part_of_a_text() -> None:
    """Editors of Windows write one, for which no home started."""
    assert toml_of('\ufeffa = 1\nb = "\ufeff"\n') == {"a": 1, "b": "\ufeff"}


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (".".join("a" * 50_000) + " = 1", "dots"),
        (("a" + ".a" * 990 + " = 1\n") * 50, "dots"),
        ("a = " + "[" * 100_000, "too deep"),
        ("a = {" * 100_000, "too deep"),
        ("a = 0x" + "f" * 20_000, "larger than any"),
        ("a = [{b = [9223372036854775808]}]", "larger than any"),
        ("a = " + "9" * 5000, "4300 digits"),
    ],
)
def test_what_takes_long_or_cannot_be_told_is_refused(text: str, said: str) -> None:
    """A key of fifty thousand parts took a minute; a number of thousands of digits was no sentence."""
    with pytest.raises(ValueError, match=said):
        toml_of(text)


def test_numbers_as_toml_has_them_are_read() -> None:
    """Of sixty-four bits, with their sign."""
    assert toml_of("a = [9223372036854775807, -9223372036854775807, true]")["a"][0] == 2**63 - 1
