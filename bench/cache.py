"""The prompt cache: a long talk of three mates with the embedded model, through the whole app."""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from bench.figures import Figure, folder, sized
from bench.homes import home
from loopforge.app import App
from loopforge.core.events import Event
from loopforge.core.policy import Answer, Ask
from loopforge.core.room_vocabulary import Heard, Purged, Said
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Answered, Perceived, Usage
from loopforge.home import make_home
from loopforge.models.model_router import TieredModels
from loopforge.models.scripted_model import fill
from loopforge.models_opening import open_models
from loopforge.runtime.ports import ModelFacts, ModelReply, Question, Route
from loopforge.runtime.system_clock import SystemClock, SystemDice
from loopforge.runtime.turn_record import perception_of
from loopforge.settings import load_settings

TURNS = sized(200, 3)
MATES = ("maya", "merlin", "zuzu")
CONTEXT = 8192
"""The embedded model's whole window; a home gives it half of that, to save memory."""
WINDOW = 40
SLID = sized(12, 2)
"""Turns that are asked again with a sliding window; each reads almost everything anew."""

THINGS = (
    "flat bread",
    "the old bridge",
    "my bicycle",
    "the tower clock",
    "a robot with one arm",
    "the lighthouse",
    "cold coffee",
    "a map without a north",
    "the neighbour's goat",
    "rain in may",
    "the broken lift",
    "a chess game",
    "the night train",
    "green paint",
    "the tax office",
    "a lost glove",
    "the moon",
    "my grandmother's radio",
    "a bee in the kitchen",
)
LINES = (
    "and then?",
    "why {thing}?",
    "what about {thing}?",
    "tell me more.",
    "is that so?",
    "how many?",
    "no, {thing}!",
    "who said that?",
    "I saw {thing} this morning.",
)
ANSWERS = (
    "Ask {thing}.",
    "I think {thing} knows.",
    "Number {nth}, as always.",
    "Not with {thing}.",
    "It sang at night.",
    "First I would turn {thing} upside down.",
    "Tell me what broke.",
)
"""Short lines, as people chat; with nineteen things, few come twice word for word."""


class Reading:
    """Models that read every prompt, and write one token; what was answered is made up here.

    So the talk is the same in every run, no line comes twice, and the reading is what takes time.
    """

    def __init__(self, models: TieredModels) -> None:
        self.models, self._count = models, 0

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """Let the server read the prompt, and answer in its place."""
        self._count += 1
        short = msgspec.structs.replace(question, schema=None, max_tokens=1, fits="any")
        reply = await self.models.ask(short, lambda _: None)
        thing = THINGS[self._count % len(THINGS)]
        said = ANSWERS[self._count % len(ANSWERS)].format(thing=thing, nth=self._count)
        data = None
        if question.schema is not None:
            schema = question.schema.get("anyOf", [question.schema])[0]
            why = f"I weighed what {thing} means to whoever asked me."
            data = fill(schema, said, {"mode": "context", "rule": "", "narrative": why})
        hear(said)
        return msgspec.structs.replace(reply, outcome="answered", text=said, data=data, small=False)

    async def count(self, route: Route, texts: Sequence[str]) -> list[int]:
        """By the model's own tokenizer."""
        return await self.models.count(route, texts)

    def facts(self, route: Route) -> ModelFacts:
        """As they are, but for the form: a capable model's prompt, which holds the whole talk."""
        return msgspec.structs.replace(self.models.facts(route), small=False)


async def talked(app: App) -> None:
    """People and mates talk for so many turns, each mate in its turn."""
    you = (await app.front.rooms.enter("commons", "Ana", "terminal")).you
    for nth in range(TURNS):
        said = LINES[nth % len(LINES)].format(thing=THINGS[nth % len(THINGS)], nth=nth)
        line = f"@{MATES[nth % len(MATES)]} {said}"
        await app.front.rooms.hear(
            "commons",
            Heard(person=you, text=Words(line), surface="terminal", source=f"bench:{nth}"),
        )
        await app.front.rooms.settled("commons")


def reported(usages: Iterable[Usage]) -> tuple[int, int]:
    """Tokens of all prompts together, and how many of them the server had in its cache."""
    read = cached = 0
    for usage in usages:
        read, cached = read + usage.read, cached + usage.cached
    return read, cached


async def turn_again(app: App, event: Event, models: Reading) -> list[Usage]:
    """Take a turn once more, with nothing but its last lines in sight; what that read."""
    seen = await perception_of(app.ledger, event)
    assert seen is not None
    seen = msgspec.structs.replace(seen, local_events=seen.local_events[-WINDOW:])
    assert isinstance(event.body, Perceived)
    route = Route.of(app.roster.get(event.body.mate))
    thinking, usages = app.policies["talk"][0](seen), []
    request = next(thinking)
    while isinstance(request, Ask):
        messages = tuple((message.role, message.text) for message in request.messages)
        question = Question(messages=messages, schema=request.schema, route=route)
        reply = await models.ask(question, lambda _: None)
        usages.append(reply.usage)
        try:
            request = thinking.send(Answer(reply.outcome, reply.text, reply.data))
        except StopIteration:
            break
    return usages


async def measured(path: Path) -> tuple[list[Event], list[Usage]]:
    """The events of the talk, and what its last turns read with a sliding window."""
    make_home(path)
    settings = load_settings(
        path,
        environ={
            "LOOPFORGE_EMBEDDED_CONTEXT": str(CONTEXT),
            "LOOPFORGE_EMBEDDED_THREADS": str(os.cpu_count() or 1),
        },
    )
    models = open_models(settings, SystemClock(), SystemDice())
    try:
        async with home(path, Reading(models), energy_capacity=1, energy_refill=1) as app:
            await talked(app)
            events = await app.ledger.read("room:commons")
            turns = [event for event in events if isinstance(event.body, Perceived)]
            usages: list[Usage] = []
            for event in [event for event in turns if event.actor != "mate:room"][-SLID:]:
                usages += await turn_again(app, event, Reading(models))
    finally:
        await models.close()
    return events, usages


def figures() -> Iterator[Figure]:
    """Shares of prompt tokens that the server had read already."""
    with folder() as here:
        events, usages = asyncio.run(measured(here))
    answered = [event.body for event in events if isinstance(event.body, Answered)]
    purges = sum(isinstance(event.body, Purged) for event in events)
    read, cached = reported(body.usage for body in answered)
    slid, kept = reported(usages)
    unread = sum(not usage.read for usage in (*usages, *(body.usage for body in answered)))
    if unread:
        print(f"{unread} prompts were not read in time: on a machine this busy it is no measure.")
    if not read or not slid:
        return
    base = 100 * kept / slid
    what = f"{TURNS} turns, {len(answered)} prompts, {purges} purges"
    sliding = f"a sliding window of {WINDOW} lines"
    yield Figure(what, 100 * cached / read, "% cached", sliding, base, 90.0)
    turns = sum(isinstance(event.body, Said) for event in events)
    fresh, anew = (read - cached) / max(1, turns), (slid - kept) / SLID
    yield Figure("read anew each turn", fresh, "tokens", sliding, anew)
