"""How well tools are suggested: queries with the tool each is for, against the tools there are.

    python -m bench.tool_suggestion --queries all_clean_data.csv --tools plugin_des.json

In MetaTool's formats: a CSV with the columns Query and Tool, and JSON of names and descriptions.
Prints one line of JSON: nDCG@10, and in how many of the queries the tool is among the first 1, 5
and 10. It asks what a turn asks (loopforge.tools.tool_suggestion). `--words`: without vectors.
"""

import argparse
import asyncio
import csv
import json
import math
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from loopforge.errors import InputError, LoopforgeError
from loopforge.models.embeddings.embeddings_choice import embeddings_of
from loopforge.runtime.ports import Embeddings, Tool
from loopforge.runtime.system_clock import SystemClock
from loopforge.settings import load_settings
from loopforge.tools.tool_suggestion import ToolIndex


class Wanted(NamedTuple):
    """A query and the tools that serve it."""

    query: str
    tools: frozenset[str]


def tools_in(path: Path) -> list[Tool]:
    """The tools of a file: {name: description}, or a list of tools as MCP servers tell them."""
    found = json.loads(path.read_text("utf-8"))
    if isinstance(found, dict):
        found = [{"name": name, "description": said} for name, said in found.items()]
    return [
        Tool(
            name=row["name"],
            summary=row.get("description") or "",
            schema=row.get("inputSchema") or {},
        )
        for row in found
    ]


def queries_in(path: Path, known: frozenset[str]) -> list[Wanted]:
    """The queries of a file. Raises InputError for one whose tool there is not."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        found = [
            Wanted(row["Query"], frozenset(part.strip() for part in _parts(row["Tool"], known)))
            for row in csv.DictReader(file)
        ]
    if strange := {name for each in found for name in each.tools} - known:
        raise InputError(f"{path} wants tools that are not in the list: {sorted(strange)[:5]}.")
    if not found:
        raise InputError(f"{path} holds no queries.")
    return found


def _parts(told: str, known: frozenset[str]) -> Sequence[str]:
    """The tools that a cell names: one, or several as a list."""
    if told in known or not told.startswith("["):
        return [told]
    return told.strip("[]").replace("'", "").replace('"', "").split(",")


async def scores(
    tools: Sequence[Tool], wanted: Sequence[Wanted], embeddings: Embeddings | None
) -> dict[str, object]:
    """What is printed; `ms` are milliseconds a query, in the middle, the index being there."""
    index = ToolIndex(embeddings)
    began = time.perf_counter()
    await index.learn(tools)
    built = time.perf_counter() - began
    sums = dict.fromkeys(("nDCG@10", "R@1", "R@5", "R@10"), 0.0)
    spans = []
    for query, right in wanted:
        began = time.perf_counter()
        ranked = [fit.name in right for fit in (await index.rank(tools, [query]))[:10]]
        spans.append(time.perf_counter() - began)
        best = sum(1 / math.log2(place + 2) for place in range(min(len(right), 10)))
        sums["nDCG@10"] += sum(hit / math.log2(at + 2) for at, hit in enumerate(ranked)) / best
        for most in (1, 5, 10):
            sums[f"R@{most}"] += sum(ranked[:most]) / len(right)
    await index.close()
    figures: dict[str, object] = {name: round(sum_ / len(wanted), 4) for name, sum_ in sums.items()}
    by = embeddings.name if embeddings is not None else "words alone"
    about = {"queries": len(wanted), "tools": len(tools), "vectors": by}
    times = {"ms": round(1000 * sorted(spans)[len(spans) // 2], 2), "built_ms": round(1000 * built)}
    return figures | about | times


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures as JSON; 2 for files that cannot be read."""
    parser = argparse.ArgumentParser(prog="bench/tool_suggestion.py", description=__doc__)
    parser.add_argument("--queries", type=Path, required=True, metavar="CSV")
    parser.add_argument("--tools", type=Path, required=True, metavar="JSON")
    parser.add_argument("--words", action="store_true", help="by words alone, without vectors")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth query")
    told = parser.parse_args(arguments)
    try:
        tools = tools_in(told.tools)
        wanted = queries_in(told.queries, frozenset(tool.name for tool in tools))[:: told.every]
        settings = load_settings(environ=os.environ)
        embeddings = None if told.words else embeddings_of(settings, SystemClock())
        print(json.dumps(asyncio.run(scores(tools, wanted, embeddings))))
    except (OSError, ValueError, KeyError, TypeError, LoopforgeError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
