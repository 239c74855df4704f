"""Files of the room, as tools: which there are, and what stands in them, part by part.

What a tool gave that is too long for a prompt is such a file too, so a mind reads on in it here.
"""

import asyncio
import re
from collections.abc import Sequence

from loopforge.core.room_vocabulary import File
from loopforge.core.text.topics import fold_case
from loopforge.errors import InputError, LoopforgeError
from loopforge.runtime.effects.tool_results import HANDLE, RESULT_HEAD, file_handle_line
from loopforge.runtime.ports import Tool, ToolCall, ToolHome, arguments_schema, tool_work

PART = RESULT_HEAD - 500
"""Characters of one part."""
NEAR = 400
"""Characters before the end of a part in which a line may end."""
AROUND = 250
"""Characters before and after a place that was found."""
MOST = 6
"""Places that are told."""
LISTED = 30
"""Files that are listed."""
SKIMMED, BEGINNING = 26, 120
"""Paragraphs of a file in short, and characters of how one begins: together less than a result."""
PARAGRAPH = re.compile(r"\S.*(?:\n.*\S.*)*")
SEARCHED, PLACES, LINES = 100, 12, 3
"""Files that are searched, places that are told of all, and lines in which the words stand."""

LIST_FILES = Tool(
    name="list_files",
    summary="Lists the files of this room: those people gave, and what your tools gave you.",
    schema=arguments_schema([]),
    idempotent=True,
    harmless=True,
)
READ_RESULT = Tool(
    name="read_result",
    summary="Reads on in a file or a long result.",
    schema=arguments_schema(
        ["file"],
        file={"type": "string", "description": "handle or name"},
        **{"from": {"type": "integer", "minimum": 0}},
        find={"type": "string", "description": "words to look for"},
    ),
    idempotent=True,
    harmless=True,
    always=True,
)
SEARCH_FILES = Tool(
    name="search_files",
    summary="Finds words in all files of this room: which file, where, and the lines around.",
    schema=arguments_schema(
        ["words"],
        words={"type": "string", "description": "all of them stand near one another"},
        name={"type": "string", "description": "only in files whose name holds this"},
    ),
    idempotent=True,
    harmless=True,
    patience=15.0,
    limit=120.0,
)
SKIM_FILE = Tool(
    name="skim_file",
    summary="Gives a long file in short: its headings, and how each part begins.",
    schema=arguments_schema(["file"], file={"type": "string", "description": "handle or name"}),
    idempotent=True,
    harmless=True,
    patience=15.0,
    limit=60.0,
)


@tool_work(LIST_FILES)
async def list_files(home: ToolHome, call: ToolCall) -> str:
    """Which files there are."""
    files = await home.files.known(call)
    rows = [f"- {file_handle_line(file)}" for file in files[:LISTED]]
    more = len(files) - len(rows)
    rows += [f"- and {more} older ones"] if more else []
    return "\n".join(rows) or "There are no files in this room."


@tool_work(READ_RESULT)
async def read_result(home: ToolHome, call: ToolCall) -> str:
    """What stands in a file."""
    file, text = await home.files.text(call, str(call.arguments["file"]))
    if wanted := str(call.arguments.get("find") or "").strip():
        return describe_matches(str(file.name), text, wanted)
    return excerpt_with_position(str(file.name), text, int(call.arguments.get("from") or 0))


@tool_work(SEARCH_FILES)
async def search_files(home: ToolHome, call: ToolCall) -> str:
    """Where words stand in the files."""
    words = str(call.arguments["words"]).split()
    if not words:
        raise InputError("say which words to look for")
    wanted = fold_case(str(call.arguments.get("name") or ""))
    known = await home.files.known(call)
    latest = [file for file in known if wanted in fold_case(str(file.name))]
    rows, unread = list[str](), list[str]()
    for file in latest[:SEARCHED]:
        try:
            _, text = await home.files.text(call, str(file.hash))
        except LoopforgeError:
            unread.append(str(file.name))
            continue
        rows += await asyncio.to_thread(places_of, handle_of(file), text, words)
    return searched(rows, unread, len(latest) - SEARCHED)


def searched(rows: Sequence[str], unread: Sequence[str], beyond: int) -> str:
    """What was found in files, and what was not looked at."""
    told = list(rows[:PLACES]) or ["These words stand near one another in no file of this room."]
    if len(rows) > PLACES:
        told.append(f"[{len(rows) - PLACES} more places; read_result finds words in one file]")
    if unread:
        told.append(f"[no text could be read in: {', '.join(unread[:LISTED])}]")
    if beyond > 0:
        told.append(f"[{beyond} older files were not looked at; give a part of their name]")
    return "\n".join(told)


def places_of(file: str, text: str, words: Sequence[str]) -> list[str]:
    """Where all these words stand within a few lines of a text, each with the lines around."""
    lines, starts = text.splitlines(keepends=True), [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    kept = [fold_case(line) for line in lines]
    wanted, rows, after = [fold_case(word) for word in words], list[str](), 0
    for at, line in enumerate(kept):
        if at < after or not any(word in line for word in wanted):
            continue
        near = "\n".join(kept[at : at + LINES])
        if not all(word in near for word in wanted):
            continue
        after = at + LINES
        shown = "".join(lines[max(0, at - 1) : after])
        if len(shown) > 2 * AROUND:  # a line may be a whole book
            found = starts[at] + max(0, line.find(next(each for each in wanted if each in line)))
            shown = text[max(0, found - AROUND) : found + AROUND]
        rows.append(f"- {file}, line {at + 1}, character {starts[at]:,}: {' '.join(shown.split())}")
    return rows


def handle_of(file: File) -> str:
    """A file in few words: its name and the handle by which it is read."""
    return f"{file.name} ({str(file.hash)[:HANDLE]})"


@tool_work(SKIM_FILE)
async def skim_file(home: ToolHome, call: ToolCall) -> str:
    """A long file in short."""
    file, text = await home.files.text(call, str(call.arguments["file"]))
    return await asyncio.to_thread(skimmed, str(file.name), text)


def skimmed(name: str, text: str) -> str:
    """A text in short, in its own words, and how much of it that leaves out.

    What is short is given whole. Else each paragraph counts that is a heading, and of the others as
    many as there is room for, evenly over the text, each by how it begins.
    """
    if len(text) <= PART:
        return f"{name} is short; this is all of it:\n{text}"
    found = [(each.start(), " ".join(each[0].split())) for each in PARAGRAPH.finditer(text)]
    titles = [at for at, (_, words) in enumerate(found) if _is_heading(words)]
    titles = _evenly(titles, SKIMMED // 2)
    others = [at for at in range(len(found)) if at not in set(titles)]
    chosen = sorted({*titles, *_evenly(others, SKIMMED - len(titles))})
    rows = [f"At {found[at][0]:,}: {_beginning(found[at][1])}" for at in chosen]
    shown = sum(len(row) for row in rows)
    told = (
        f"{name} has {len(text):,} characters in {len(found):,} paragraphs. Of these are shown "
        f"{len(chosen):,}, by how they begin, with where each stands: some "
        f"{max(1, 100 * shown // len(text))} % of the text. The rest is left out here; read_result "
        "reads on from any place."
    )
    return "\n".join([told, *rows])


def _is_heading(words: str) -> bool:
    return words.startswith("#") or (
        len(words) < 80 and words[-1:].isalnum() and words[:1].isupper()
    )


def _evenly(places: Sequence[int], most: int) -> list[int]:
    """So many of them at most, the first and the last among them, evenly between."""
    if len(places) <= most:
        return list(places)
    return (
        [places[nth * (len(places) - 1) // (most - 1)] for nth in range(most)] if most > 1 else []
    )


def _beginning(words: str) -> str:
    """The first sentence, if it is not too long."""
    if len(words) <= BEGINNING:
        return words
    end = max(words.find(". ", 40, BEGINNING), words.find("? ", 40, BEGINNING))
    return words[: end + 1] if end > 0 else f"{words[: words.rfind(' ', 0, BEGINNING)]} …"


def excerpt_with_position(name: str, text: str, start: int) -> str:
    """A part of a text from this character on, with where it stands. Raises InputError."""
    if start >= len(text):
        raise InputError(f"{name} has only {len(text):,} characters")
    end = min(len(text), start + PART)
    if end < len(text):  # at a line's end, where one is near: no word or address is torn
        end = text.rfind("\n", end - NEAR, end) + 1 or end
    onward = f"; it goes on from {end}" if end < len(text) else ", its end"
    return f"{name}, characters {start:,} to {end:,} of {len(text):,}{onward}:\n{text[start:end]}"


def describe_matches(name: str, text: str, wanted: str) -> str:
    """The places in a text where these words stand, each with what is around it.

    In time that grows with the text alone: a pattern would be tried at each of its characters.
    """
    lines, words = _lowered(text), _lowered(wanted)
    if not (count := lines.count(words)):
        return f"{wanted!r} does not stand in {name}."
    rows, at = list[str](), lines.find(words)
    while at >= 0 and len(rows) < MOST:
        end = at + len(words) + AROUND
        rows.append(f"At {at:,}: {' '.join(text[max(0, at - AROUND) : end].split())}")
        at = lines.find(words, end)
    return f"{wanted!r} stands {count:,} times in {name}.\n" + "\n".join(rows)


def _lowered(text: str) -> str:
    """In small letters, each where it was: of a few the small one has two characters."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(sign.lower()[0] for sign in text)
