"""The calculator: what people ask of it, as they write it; and what would keep it busy for ever."""

from datetime import UTC, datetime

import pytest

from loopforge.errors import InputError
from loopforge.runtime.ports import ToolCall
from loopforge.tools.calculator import LONGEST, calculated, calculator
from tests.tools.conftest import tool_home


@pytest.mark.parametrize(
    ("said", "comes_to"),
    [
        ("17 * (3 + 4)", "119"),
        ("0.1 + 0.2", "0.3"),
        ("2(3 + 4)", "14"),
        ("2^10", "1024"),
        ("7 % 3", "1"),
        ("15% of 80", "12"),
        ("80 × 15%", "12"),
        ("5!", "120"),
        ("sqrt(2)", "1.41421356237"),
        ("sin(30 deg)", "0.5"),
        ("log(100, 10) + round(2.345, 1)", "4.3"),
        ("3 km / 20 min to km/h", "9 km / h"),
        ("68 degF in °C", "20 °C"),
        ("10 kg * 9.81 m/s^2 to N", "98.1 N"),
        ("1 mile in km", "1.609344 km"),
        ("12 / 5 ft to m^-1", "7.87401574803 1 / m"),
        ("1e-7 * 2", "2e-07"),
        ("9.5e3 / 1.9E3", "5"),
        ("5 m * 1e3", "5000 m"),
        ("1e3 km to m", "1000000 m"),
        ("2e", "5.43656365692"),
        ("5 in to cm", "12.7 cm"),
        ("5 ft + 3 in to cm", "160.02 cm"),
        ("2 in^2 in cm^2", "12.9032 cm ** 2"),
    ],
)
def test_what_people_ask_it(said: str, comes_to: str) -> None:
    """Signs, percentages, functions and units are read as people write them."""
    assert calculated(said) == f"{said} = {comes_to}"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("1/0", "division by zero"),
        ("3 bananas", "'bananas' is not defined"),
        ("3 m + 2 s", "Cannot convert"),
        ("17 +", "no expression such as 17 * (3 + 4)"),
        ("(" * 200, "no expression"),
        ("", f"at most {LONGEST} characters"),
        ("1" * 301, f"at most {LONGEST} characters"),
        ("9**9**9", "too many digits"),
        ("(3 m)**99999999", "of a unit is too high"),
        ("9**(99999 * (1 m // (1 m)))", "too many digits"),
        ("(0.5 minute)**99999 + 1", "of a unit is too high"),
        ("((minute^99)^99) + 1", "of a unit is too high"),
        ("1 m to m**9**9", "is no unit"),
        ("1 m to m*9**99999", "is no unit"),
        ("(-8)^(1/3)", "no real number"),
        ("*".join(["2^2000"] * 30), "Exceeds the limit"),
        ("5 N.m", "write N*m"),
        ("factorial(10**9)", "up to 500"),
        ("round(5, -10**9)", "too many digits"),
        ("__import__(1)", "'_' means nothing"),
        ("'a' * 10**9", '"\'" means nothing'),
        ("[1] * 10**9", "'[' means nothing"),
        ("open(1)", "cannot be calculated"),
        ("1,000 * 2", "write 1234.5 for 1,234.5"),
    ],
)
def test_what_it_refuses(said: str, why: str) -> None:
    """What is no number, and what would take for ever, is refused with its reason."""
    with pytest.raises(InputError, match=r".") as caught:
        calculated(said)
    assert why in str(caught.value)


async def test_it_is_used_as_a_tool() -> None:
    """With its one argument."""
    use = calculator.make(tool_home(datetime(2026, 11, 21, tzinfo=UTC)))
    assert await use(ToolCall(arguments={"expression": "6 * 7"})) == "6 * 7 = 42"
