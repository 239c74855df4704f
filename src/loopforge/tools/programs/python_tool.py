"""`python`: a program that a mate writes, in which its other tools are functions.

    code -> a run in pydantic-monty -> what it printed, and the value of its last line

Does not know who may use what: each call of a tool goes by the door, as an effect of its own.
"""

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from loopforge.core.egress.csv_cells import csv_lines
from loopforge.errors import InputError
from loopforge.runtime.plugins.setting_declarations import SettingsPart, setting
from loopforge.runtime.ports import (
    Tool,
    ToolCall,
    ToolFile,
    ToolHome,
    ToolResult,
    arguments_schema,
    tool_work,
)
from loopforge.tools.programs.program_run import (
    ProgramLimits,
    ProgramRun,
    ProgramWorld,
    run_program,
)
from loopforge.tools.programs.tool_functions import functions_of

MIB = 1 << 20
LONGEST = 8_000
"""Characters of a program."""
SHOWN = 1_500
"""Characters of what it printed, and of its last value, that are told; more is a file."""
LARGEST = 2_000_000
"""Characters of a last value."""
LIMIT = 900.0
"""Seconds that it and the tools that it uses may take in one run."""

PYTHON = Tool(
    name="python",
    summary="Runs a Python program, in which your other tools are functions; no files, no network.",
    schema=arguments_schema(
        ["code"],
        code={
            "type": "string",
            "minLength": 1,
            "maxLength": LONGEST,
            "description": (
                'tools give text: page = await read_page(address="..."); asyncio.gather for '
                "several at once; one that is refused raises. print, or end with a value. "
                "There are json, re, math, datetime, collections, itertools, functools, "
                "decimal, random, csv; no generators, no inheritance"
            ),
        },
    ),
    idempotent=True,
    harmless=True,
    composes=True,
    patience=30.0,
    limit=LIMIT,
)


@dataclass(frozen=True, kw_only=True)
class PythonSettings:
    """What can be set of the tool `python`."""

    seconds: int = setting(
        10,
        "Seconds that a mate's program may compute; tools do not count.",
        least=1,
        most=300,
        live=True,
    )
    memory: int = setting(64, "MiB that a mate's program may use.", least=8, most=4_096, live=True)


PART = SettingsPart("Programs of mates", PythonSettings)


@tool_work(PYTHON)
async def python(home: ToolHome, call: ToolCall) -> ToolResult:
    """What a program gives."""
    return await run_tool_program(home, call, str(call.arguments["code"]))


async def run_tool_program(
    home: ToolHome, call: ToolCall, code: str, given: dict[str, Any] | None = None
) -> ToolResult:
    """What a program of a call gives; `given` are names with values. Raises InputError."""
    chosen = home.settings.of("python", PythonSettings)
    began = call.door.at if call.door is not None else home.clock.now()
    seconds, memory = call.sandbox.seconds, call.sandbox.memory
    limits = ProgramLimits(
        seconds=min(chosen.seconds, seconds or chosen.seconds),
        memory=min(chosen.memory, memory or chosen.memory) * MIB,
    )
    program = ProgramRun(
        code,
        functions_of(await call.door.offered() if call.door is not None else ()),
        limits,
        world_of(call, home.zone, began),
        given or {},
    )
    try:
        value = await run_program(program, call.door)
    except InputError as error:
        raise InputError(failure(str(error), program)) from error
    return told("".join(program.printed), value)


def world_of(call: ToolCall, zone: str, began: datetime) -> ProgramWorld:
    """What is the same whenever this use is run."""
    return ProgramWorld(at=began, zone=zone, seed=zlib.crc32(call.id.encode()))


def failure(why: str, program: ProgramRun) -> str:
    """How a program failed, with what it had printed and had done until then."""
    printed = "".join(program.printed)[-SHOWN:].strip()
    rows = [why.strip()]
    if printed:
        rows.append(f"It had printed:\n{printed}")
    if program.calls:
        rows.append(f"It had used: {'; '.join(program.calls)}.")
    return "\n".join(rows)


# ---------------------------------------------------------------- what came of it


def told(printed: str, value: Any) -> ToolResult:
    """What a program printed, and its last value; each is a file where it is long."""
    rows, files = list[str](), list[ToolFile]()
    if printed := printed.rstrip():
        rows.append(_head(printed, "it printed"))
        if len(printed) > SHOWN:
            files.append(ToolFile(name="printed.txt", data=printed.encode()))
    if value is not None:
        text = value if isinstance(value, str) else written(value)
        rows.append(f"Its last value: {_head(text, 'it is')}")
        if len(text) > SHOWN:
            files.append(kept(value, text))
    return ToolResult(text="\n".join(rows) or "It printed nothing.", files=tuple(files))


def _head(text: str, what: str) -> str:
    if len(text) <= SHOWN:
        return text
    return f"{text[:SHOWN]}\n[the first {SHOWN:,} of {len(text):,} characters {what}; see the file]"


def written(value: Any) -> str:
    """A value as JSON, as far as it is not too large. Raises InputError."""
    parts, left = list[str](), LARGEST
    try:  # a value may be small where it is made and huge when it is written out
        for part in json.JSONEncoder(ensure_ascii=False, default=str).iterencode(value):
            left -= len(part)
            if left < 0:
                raise InputError(f"the last value has more than {LARGEST:,} characters")
            parts.append(part)
    except (ValueError, TypeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the last value cannot be told: {error}") from error
    return "".join(parts)


def kept(value: Any, text: str) -> ToolFile:
    """A long value as a file: a table as CSV, a text as it is, anything else as JSON."""
    if isinstance(value, str):
        return ToolFile(name="value.txt", data=text.encode())
    if columns := _columns(value):
        data = "".join(csv_lines(columns, value)).encode()
        return ToolFile(name="value.csv", data=data, media="text/csv")
    return ToolFile(name="value.json", data=text.encode(), media="application/json")


def _columns(value: Any) -> Sequence[str]:
    """The columns of a table: of a list of dicts with the same keys and plain values."""
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return ()
    keys = list(value[0])
    flat = all(
        isinstance(row, dict)
        and list(row) == keys
        and all(isinstance(each, str | int | float | bool | None) for each in row.values())
        for row in value
    )
    return keys if flat and all(isinstance(key, str) for key in keys) else ()
