"""What memory is worth: LoCoMo's questions answered with and without what is recalled.

    python -m bench.memory_value --data FILE [--home HOME] [--every 10] [--lines 10] [--model NAME]

Each conversation is put into a room of a fresh home, and each question put to a model twice: by
itself, and below the lines that the home recalls for it, in the order in which they were said. The
model is the first of the home's tiers (`--home`; without it the embedded one of a fresh home) or
the one that is named. No model judges: answers are compared with the right one by the measures of
LoCoMo's paper, in small letters, without punctuation and articles. Exact match; F1 of the words,
where of a question with several answers (category 1) each counts by the best part of what was
said. A question that the conversation does not answer (category 5) is right when it is refused
("no information available", "not mentioned"), for both measures. The code beside the paper cuts
endings besides; here words stay as they are. Prints JSON: by category and in all, tokens and cost
beside it.
"""

import argparse
import asyncio
import json
import re
import statistics
import string
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from bench.locomo import Question as Asked
from bench.locomo import Talk, Turn, talks_in
from bench.retrieval import query_of, store
from loopforge.app import App, open_aside
from loopforge.errors import LoopforgeError
from loopforge.home import make_home
from loopforge.models_opening import open_models
from loopforge.runtime.ports import Models, Question, Route
from loopforge.runtime.system_clock import SystemClock, SystemDice
from loopforge.settings import load_settings

KINDS = {1: "several lines", 2: "time", 3: "open", 4: "one line", 5: "no answer"}
REFUSED = ("no information available", "not mentioned")
BY_ITSELF = "You know nothing of these people but what is asked."
REMEMBERING = "Lines of the conversation that may help, each with its time:\n\n{}"
HOW = (
    "{}\n\nAnswer the question in as few words as you can, with a date where one is asked for. "
    'If it cannot be answered, say "not mentioned".\n\nQuestion: {}'
)
_ARTICLES = re.compile(r"\b(?:a|an|the|and)\b")


class Scored(NamedTuple):
    """What came of one question, asked in one way."""

    category: int
    exact: float
    f1: float
    read: int
    written: int
    cost: Decimal


def plain(text: str) -> list[str]:
    """The words of an answer as they are compared."""
    bare = "".join(sign for sign in text.lower().replace(",", "") if sign not in string.punctuation)
    return _ARTICLES.sub(" ", bare).split()


def f1(said: str, right: str) -> float:
    """The harmonic mean of how much was right and how much of what is right was said."""
    one, other = plain(said), plain(right)
    same = sum((Counter(one) & Counter(other)).values())
    return 2 * same / (len(one) + len(other)) if same else 0.0


def scores(asked: Asked, said: str) -> tuple[float, float]:
    """Exact match and F1 of what was said."""
    if asked.category == 5:
        refused = float(any(sign in said.lower() for sign in REFUSED))
        return refused, refused
    right = asked.answer.split(";")[0].strip() if asked.category == 3 else asked.answer
    exact = float(plain(said) == plain(right))
    if asked.category == 1:
        parts = said.split(",")
        wanted = [part for part in right.split(",") if part.strip()]
        return exact, statistics.mean(
            max(f1(part, one) for part in parts) for one in wanted or [""]
        )
    return exact, f1(said, right)


def _unheard(_piece: str) -> None:
    """Nobody waits for the pieces."""


async def answered(
    models: Models, route: Route, asked: Asked, lines: Sequence[Turn] | None
) -> Scored:
    """Put one question to the model."""
    said = "\n".join(f"[{t.at:%d %B %Y}] {t.who}: {t.text}" for t in lines or ())
    above = BY_ITSELF if lines is None else REMEMBERING.format(said)
    messages = (("user", HOW.format(above, asked.text)),)
    reply = await models.ask(Question(messages=messages, max_tokens=40, route=route), _unheard)
    exact, share = scores(asked, reply.text.strip().partition("\n")[0])
    used = [usage for _, usage in reply.usages]
    cost = sum((Decimal(usage.cost or 0) for usage in used), Decimal(0))
    read, written = sum(usage.read for usage in used), sum(usage.written for usage in used)
    return Scored(asked.category, exact, share, read, written, cost)


async def asked_all(
    app: App, models: Models, talks: Sequence[Talk], told: argparse.Namespace
) -> dict[str, list[Scored]]:
    """Every question, with and without memory."""
    route, found = Route(model=told.model), defaultdict[str, list[Scored]](list)
    for talk in talks:
        known = await store(app, talk)
        await app.memory.vectors.anew()
        await app.memory.vectors.fill()
        for asked in talk.questions[:: told.every]:
            query = query_of(talk, asked.text, told.lines)
            best = await app.memory.recall.recall(query)
            lines = sorted((known[each.line.id] for each in best), key=lambda turn: turn.at)
            found["without"].append(await answered(models, route, asked, None))
            found["with"].append(await answered(models, route, asked, lines))
    return found


def summed(found: Sequence[Scored]) -> dict[str, object]:
    """The figures of one way of asking."""
    by = {name: [each for each in found if each.category == nth] for nth, name in KINDS.items()}
    told: dict[str, object] = {
        name: {
            "questions": len(mine),
            "exact": round(statistics.mean(each.exact for each in mine), 3),
            "f1": round(statistics.mean(each.f1 for each in mine), 3),
        }
        for name, mine in {**by, "all": list(found)}.items()
        if mine
    }
    return told | {
        "tokens_read": round(statistics.mean(each.read for each in found), 1),
        "tokens_written": round(statistics.mean(each.written for each in found), 1),
        "cost": str(sum((each.cost for each in found), Decimal(0))),
    }


async def measure(told: argparse.Namespace) -> dict[str, object]:
    """What is printed."""
    talks = talks_in(told.data)
    with tempfile.TemporaryDirectory(prefix="loopforge-bench-") as folder:
        fresh = Path(folder) / "home"
        make_home(fresh)
        zone = {"LOOPFORGE_TIMEZONE": "UTC"}
        settings = load_settings(told.home or fresh, environ={} if told.home else zone)
        models = open_models(settings, SystemClock(), SystemDice())
        try:
            async with open_aside(load_settings(fresh, environ=zone)) as app:
                found = await asked_all(app, models, talks, told)
                name = models.facts(Route(model=told.model)).name
        finally:
            await models.close()
    return {"model": name, **{way: summed(each) for way, each in found.items()}}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures as JSON; 2 for files that cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory_value", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="FILE")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--model", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--lines", type=int, default=10)
    try:
        print(json.dumps(asyncio.run(measure(parser.parse_args(arguments)))))
    except (OSError, ValueError, LoopforgeError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
