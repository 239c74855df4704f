"""The calculator, as a tool: arithmetic, percentages, common functions, and units.

    17 * (3 + 4)        15% of 80        sqrt(2)        3 km / 20 min to km/h        68 degF in degC

Numbers are read by simpleeval, which knows arithmetic and nothing of Python besides, units by pint;
both are loaded when somebody first calculates. Powers and factorials that would take long are
refused. Knows no currencies: what they are worth is no constant.
"""

import ast
import asyncio
import math
import operator
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from loopforge.errors import InputError
from loopforge.runtime.ports import Tool, ToolCall, ToolHome, ToolWork, arguments_schema

LONGEST = 300
"""Characters of what is calculated."""
BITS = 4096
"""Of a whole number, as a power or a factorial gives it."""
HIGHEST = 99
"""Power of a unit: what it is in others is a number to that power."""
CALCULATOR = Tool(
    name="calculator",
    summary="Calculates exactly: arithmetic, percentages, functions such as sqrt and log, units.",
    schema=arguments_schema(
        ["expression"],
        expression={
            "type": "string",
            "maxLength": LONGEST,
            "description": "such as 15% of 80, or 3 km / 20 min to km/h",
        },
    ),
    idempotent=True,
    harmless=True,
    trusted=True,
)
_FUNCTIONS = (
    *("acos", "asin", "atan", "ceil", "cos", "degrees", "exp", "floor", "log", "log10", "log2"),
    *("radians", "sin", "sqrt", "tan"),
)
_READABLE = re.compile(r"[^\W_]|[\s+\-*/^().,%!°×÷−]")
_NUMBER = r"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?+)"
"""Possessive, so that of 1e-7 no number 1 is left beside a constant e."""
_WRITTEN = (
    (re.compile(r"\^"), "**"),
    (re.compile(r"×"), "*"),
    (re.compile(r"÷"), "/"),
    (re.compile(r"−"), "-"),
    (re.compile(r"°"), "deg"),
    (re.compile(rf"{_NUMBER}\s*%\s*of\s"), r"\1/100*"),
    (re.compile(rf"{_NUMBER}\s*%(?!\s*[\w.(])"), r"(\1/100)"),
    (re.compile(r"(?<![\w.])(\d+)!"), r"factorial(\1)"),
    (re.compile(rf"{_NUMBER}\s*(?=\()"), r"\1*"),
    (re.compile(rf"{_NUMBER}\s*([^\W\d]\w*(?:\*\*\d)?)"), r"(\1*\2)"),
)
"""How people write, and how that is read: a number and its unit belong together."""
_INCHES = re.compile(rf"{_NUMBER}\s*in(?=\s+(?:to|in)\s|\s*(?:[-+*/^)]|$))")
"""A number of them, where no unit follows into which it could be."""
_INTO = re.compile(r"\s(?:to|in)\s(?=\s*[^\d\s][^()]*$)")
_TOO_HIGH = re.compile(r"\d{3}|(?:\*\*|\^)[\s+-]*[\d.]+\s*(?:\*\*|\^)")
"""Powers in a unit into which something is to be: they are read by pint, which works out any."""


class Calculator:
    """The calculator as a plugin."""

    tool = CALCULATOR

    def make(self, _home: ToolHome) -> ToolWork:
        """A calculator is the same everywhere."""

        async def tell(call: ToolCall) -> str:
            return await asyncio.to_thread(calculated, str(call.arguments["expression"]))

        return tell


def calculated(expression: str) -> str:
    """What it comes to, in words: "15% of 80 = 12". Raises InputError."""
    said = " ".join(expression.split())
    if not said or len(said) > LONGEST:
        raise InputError(f"give something to calculate, of at most {LONGEST} characters")
    if strange := _READABLE.sub("", said):
        raise InputError(f"{strange[0]!r} means nothing to a calculator")
    body, *into = _INTO.split(_INCHES.sub(r"\1 inch", said), maxsplit=1)
    if into and _TOO_HIGH.search(into[0]):
        raise InputError(f"{into[0][:60]!r} is no unit such as km/h or m^2")
    try:
        found = _value(body)
        if into:
            found = _units().Quantity(found).to(into[0].replace("°", "deg"))
        return f"{said} = {_told(found)}"
    except (SyntaxError, RecursionError) as error:
        raise InputError(f"{said!r} is no expression such as 17 * (3 + 4)") from error
    except Exception as error:  # of two libraries, each with errors of its own
        raise InputError(f"{said!r} cannot be calculated: {error}") from error


def _value(text: str) -> Any:
    from simpleeval import SimpleEval

    for written, read in _WRITTEN:
        text = written.sub(read, text)
    functions = {name: _measured(getattr(math, name)) for name in _FUNCTIONS}
    functions |= {"abs": abs, "round": _round, "min": min, "max": max, "factorial": _factorial}
    reader = SimpleEval(functions=functions, names=_named)
    reader.operators = {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
        ast.Pow: _power,
        ast.USub: operator.neg,
        ast.UAdd: operator.pos,
    }
    reader.nodes[ast.Tuple] = _comma
    reader.nodes[ast.Attribute] = _dot
    return reader.eval(text)


def _comma(_node: ast.Tuple) -> Any:
    raise InputError("write 1234.5 for 1,234.5: a comma stands between arguments alone")


def _dot(_node: ast.Attribute) -> Any:
    raise InputError("write N*m for N.m: a point stands in numbers alone")


def _named(node: ast.Name) -> Any:
    """What a name stands for: a constant, or one of its unit."""
    constants = {"pi": math.pi, "e": math.e, "tau": math.tau}
    return constants[node.id] if node.id in constants else _units().Quantity(1, node.id)


def _power(base: Any, exponent: Any) -> Any:
    """A power that is soon worked out: meanwhile nothing else of the program would go on."""
    if hasattr(exponent, "to"):
        exponent = exponent.to("").magnitude
    number: Any = base
    units: Any = ()
    if hasattr(base, "to"):
        number, units = base.magnitude, base.unit_items()
    if any(abs(power * exponent) > HIGHEST for _, power in units):
        raise InputError("that power of a unit is too high")
    whole = isinstance(number, int) and isinstance(exponent, int)
    if whole and exponent > 0 and number.bit_length() * exponent > BITS:
        raise InputError("that power has too many digits")
    return base**exponent


def _factorial(number: Any) -> int:
    if not isinstance(number, int) or number > 500:
        raise InputError("a factorial is of a whole number up to 500")
    return math.factorial(number)


def _round(number: Any, digits: int = 0) -> Any:
    if abs(digits) > BITS:
        raise InputError("that are too many digits")
    return round(number, digits)


def _measured(function: Callable[..., float]) -> Callable[..., float]:
    """A function of plain numbers, given one that may have a unit (an angle, a share)."""

    def of(*values: Any) -> float:
        plain = [value.to("").magnitude if hasattr(value, "to") else value for value in values]
        return function(*plain)

    return of


@lru_cache(maxsize=1)
def _units() -> Any:
    from pint import UnitRegistry

    return UnitRegistry(autoconvert_offset_to_baseunit=True, cache_folder=None)


def _told(found: Any) -> str:
    """A number with twelve digits that count, and its unit."""
    if not hasattr(found, "magnitude"):
        return _number(found)
    unit = f"{found.units:~}"
    return f"{_number(found.magnitude)} {unit}".strip()


def _number(value: Any) -> str:
    if isinstance(value, complex):
        raise InputError("it is no real number")
    if isinstance(value, int) or value != value or math.isinf(value):
        return str(value)
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.12g}"


calculator = Calculator()
