"""How well a model uses tools: 124 tasks in a room, with the tool and the arguments each wants.

    python -m bench.tool_calls [--scripted | --model NAME --home PATH] [--every 4]

Each task of tool_tasks.json is a line that a person says to a mate with all built-in tools, in a
real room: what the mate wants to use is taken from the ledger. The tools themselves are replaced:
they give a line that the next step of a chain needs. Nothing is fetched, run or asked.

`tool`: in how many per cent of the tasks exactly the tools that are wanted were used (none, for
talk that wants none), in any order but a chain's own. `arguments`: in how many of those in which
something is wanted every argument was right as well: a number by its value, a text by words that
it must hold (folded), anything else as it is. What is given besides counts neither way.

`--scripted` is the baseline that knows no language: the tool that is suggested first, given the
whole line. Without an option the embedded model is asked. Prints JSON.
"""

import argparse
import asyncio
import json
import math
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.homes import home
from loopforge.app import App, open_app
from loopforge.core.effect_states import EffectProposed
from loopforge.core.room_vocabulary import Heard, RightsSet
from loopforge.core.text.erasable_text import Words
from loopforge.home import make_home
from loopforge.models.scripted_model import ScriptedModels
from loopforge.runtime.ports import Question, ToolCall
from loopforge.settings import load_settings
from loopforge.tools.calculator import calculated

TASKS = Path(__file__).with_name("tool_tasks.json")
MATE = "---\nname: Maya\nrole: assistant\ntools: ['*']\n{model}---\nYou are Maya, who helps."
LEADS = {
    "list_files": "[file a1b2c3: notes.txt, text/plain, 900 bytes]",
    "search_web": "1. The Slug Society: https://example.org/first (Paint it with varnish.)",
    "search_files": "notes.txt: the price is 42",
    "recall": "Ben: The boat needs varnish.",
    "room_history": "#4 Ben: The boat needs varnish.",
    "clock": "Monday, 2026-11-23, 10:00; it is 31 days until then.",
    "arxiv": "2401.00001 Tide tables, learnt.",
    "wikipedia": "Slugs: each has some 27,000 teeth.",
}
"""What a tool gives, for the next step."""
LEADING = ("find_tools", "read_result", "recall")
"""Tools that lead to others, and stand in front."""


class Desk:
    """A room with one person and one mate, and what that mate wanted to use."""

    def __init__(self, app: App) -> None:
        self._app, self._nth, self._person = app, 0, ""

    async def open(self) -> None:
        """Somebody comes in, for whom every tool may be used."""
        for tool in self._app.tools.known():
            if tool.name != "find_tools":
                quiet = replaced(tool)
                self._app.tools.add(quiet, self._work(tool.name), instead=True)

    def _work(self, name: str) -> Any:
        async def work(_: ToolCall) -> str:
            return LEADS.get(name, "Done.")

        return work

    async def play(self, said: str) -> list[tuple[str, dict[str, Any]]]:
        """The uses that the mate wants, once somebody said this in a fresh room."""
        self._nth += 1
        room, rooms = f"task-{self._nth}", self._app.front.rooms
        scene = await rooms.enter(room, "ana", "terminal", ("maya",))
        rights = RightsSet(who="everyone", rights=("talk", "tools"), tools=("*",))
        await self._app.rooms.add(room, "", rights)
        heard = Heard(person=scene.you, text=Words(f"@maya {said}"), source="", surface="terminal")
        await rooms.hear(room, heard)
        await rooms.settled(room)
        events = await self._app.ledger.read(f"room:{room}")
        return [
            (event.body.tool, json.loads(str(event.body.arguments)))
            for event in events
            if isinstance(event.body, EffectProposed) and event.body.tool != "find_tools"
        ]


def replaced(tool: Any) -> Any:
    """A tool that runs at once and asks nobody."""
    from msgspec.structs import replace

    return replace(tool, asks=False, address="", harmless=True, idempotent=True, patience=5.0)


# ---------------------------------------------------------------- what is right


def judged(
    wanted: Sequence[dict[str, Any]], used: Sequence[tuple[str, dict[str, Any]]], *, chain: bool
) -> tuple[bool, bool]:
    """Whether the right tools were used, and with the right arguments."""
    names, used_names = [one["tool"] for one in wanted], [name for name, _ in used]
    right = names == used_names if chain else sorted(names) == sorted(used_names)
    if not right:
        return False, False
    left = list(used)
    for one in wanted:
        found = next(
            (use for use in left if use[0] == one["tool"] and fits(one["given"], use[1])), None
        )
        if found is None:
            return True, False
        left.remove(found)
    return True, True


def fits(wanted: dict[str, Any], given: dict[str, Any]) -> bool:
    """Whether arguments are as they are wanted; `a|b` is in either of them."""
    return all(
        any(matches(how, given[name]) for name in names.split("|") if name in given)
        for names, how in wanted.items()
    )


def matches(wanted: Any, given: Any) -> bool:
    """One argument: words that it holds, a value that it comes to, one of several, or itself."""
    folded = str(given).casefold()
    if isinstance(wanted, dict) and "words" in wanted:
        return all(word.casefold() in folded for word in wanted["words"])
    if isinstance(wanted, dict):
        return math.isclose(worth(str(given)), float(wanted["value"]), rel_tol=1e-6)
    if isinstance(wanted, list):
        return folded in {one.casefold() for one in wanted}
    return bool(wanted == given)


def worth(expression: str) -> float:
    """What an expression comes to by the tool itself; no number where it comes to none."""
    try:
        told = calculated(expression)
    except Exception:  # a wrong expression is a wrong argument, whichever way it is wrong
        return math.nan
    numbers = re.findall(r"-?\d[\d,]*(?:\.\d+)?", told.rpartition("=")[2])
    return float(numbers[0].replace(",", "")) if numbers else math.nan


# ---------------------------------------------------------------- who is asked


def first_suggested(question: Question) -> dict[str, object]:
    """The baseline: the first tool that is offered, given the whole line; then it is done."""
    since = "\n".join(text for _, text in question.messages).rpartition("@maya ")[2]
    said, _, results = since.partition("\n")
    if "[result of " in results or not question.tools:
        return {"say": "Done."}
    tool = next(each for each in question.tools if each.name not in LEADING)
    needed = tool.schema.get("required") or [*tool.schema.get("properties", {})][:1]
    given = dict.fromkeys(needed, said)
    return {"say": "", "tool": tool.name, "arguments": json.dumps(given)}


async def scored(app: App, tasks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The figures: over all, and by kind and language."""
    desk = Desk(app)
    await desk.open()
    sums: dict[str, list[tuple[bool, bool | None]]] = defaultdict(list)
    for task in tasks:
        used = await desk.play(task["say"])
        tool, arguments = judged(task["calls"], used, chain=task["kind"] == "chain")
        row = (tool, arguments if task["calls"] else None)
        for key in ("all", task["kind"], task["lang"]):
            sums[key].append(row)
        print(json.dumps([task["say"], used, row], ensure_ascii=False), file=sys.stderr)
    return {key: shares(rows) for key, rows in sums.items()}


def shares(rows: Sequence[tuple[bool, bool | None]]) -> dict[str, float]:
    """Per cent of right tools, and of right arguments where some are wanted."""
    judged_rows = [arguments for _, arguments in rows if arguments is not None]
    found = {"tasks": len(rows), "tool": 100 * sum(tool for tool, _ in rows) / len(rows)}
    if judged_rows:
        found["arguments"] = 100 * sum(map(bool, judged_rows)) / len(judged_rows)
    return {key: round(value, 1) for key, value in found.items()}


async def measured(told: argparse.Namespace) -> dict[str, Any]:
    """Play every task with whoever is asked."""
    tasks = json.loads(TASKS.read_text("utf-8"))[:: told.every]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "mates").mkdir()
        model = f"model: {told.model}\n" if told.model else ""
        (place / "mates" / "maya.md").write_text(MATE.format(model=model))
        if told.scripted:
            async with home(place, ScriptedModels(first_suggested)) as app:
                return await scored(app, tasks)
        if told.home:
            (place / "loopforge.toml").write_bytes((told.home / "loopforge.toml").read_bytes())
        else:
            make_home(place)
            (place / "mates" / "maya.md").write_text(MATE.format(model=model))
        async with open_app(load_settings(place)) as app:
            return await scored(app, tasks)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="bench/tool_calls.py", description=__doc__)
    parser.add_argument("--scripted", action="store_true", help="the baseline without a model")
    parser.add_argument("--model", default="", help="a model's name, as the home's file has it")
    parser.add_argument("--home", type=Path, help="whose loopforge.toml is used")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth task")
    print(json.dumps(asyncio.run(measured(parser.parse_args(arguments))), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
