"""Building a perception: the one place where a mind's view of a room is made.

Truth comes in as a RoomState; out comes what one mate is shown, with the list of how it departs
from the truth (lines that left its window), and the purge that made it fit, if there was one.
Token counts are asked of the model that will read the prompt and remembered by line.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import tzinfo
from itertools import compress
from operator import attrgetter, is_
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from loopforge.chat.room.participants import namesake_labels
from loopforge.chat.room.permissions import charge_for_lines, preapproved_tools, tools_in_turn
from loopforge.chat.room.room_snapshot import MADE
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.turn_queue import ANEW, GREETING, MORE, TRANSCRIPT, UNCALLED, DueTurn
from loopforge.chat.room.visible_lines import SPOKEN
from loopforge.chat.speaking.greetings import greeting_words
from loopforge.chat.speaking.room_rules import RoomRules
from loopforge.chat.turns.lore_lines import LoreReader, most_lore
from loopforge.chat.turns.turn_recall import RecalledMemory, TurnRecall
from loopforge.core.context_window import (
    ANSWER_TOKENS,
    PICTURE_TOKENS,
    RESERVE,
    TAIL_TOKENS,
    ContextEntry,
    EntrySize,
    Place,
    WindowFit,
    as_lines,
    fit_window,
    mark_namesakes,
    pictures_of,
    room_for_lines,
    shorten_result,
    sounds_of,
)
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.core.limits.budget_limits import Charge
from loopforge.core.limits.turn_bounds import strictest_bounds
from loopforge.core.mates import unprompted_times
from loopforge.core.mates.mate_file import Mate
from loopforge.core.perception import KIND, AgentPerception, Edit, Line, ToolOffer
from loopforge.core.room_vocabulary import Purged
from loopforge.core.text.erasable_text import public_words
from loopforge.core.text.name_labels import one_line, row_name
from loopforge.core.text.prompt_rows import quotable_text
from loopforge.core.text.quantity_bands import band
from loopforge.core.turn_events import Recollection
from loopforge.runtime.ports import Clock, ModelFacts, Models, Route, Tool, Tools, named_tools
from loopforge.runtime.turn_record import PLACES
from loopforge.schedule.time_wording import told_now

TALK = 8
"""Lines by which tools are suggested, at most."""
PER_LINE = 6
"""Tokens that a chat template and the joints add to each line (measured on ChatML)."""
PER_FILE = 60
"""Tokens of the two notices around a file."""
FILE_TOKENS = 3500
"""What the window must have besides lines, for a mate to be offered that it may write files."""
SMALL_SEES = 4
"""Lines that a small model is shown of those that fit, about (policies/small_prompt.py)."""
LONGEST_TITLE = 80
"""Characters of a title that mates are told."""
WISHED = {
    ANEW: "a wish for another answer than the one you gave",
    MORE: "a wish that you go on from your last line, saying nothing of it again",
}
"""What a mate is told of a summons that is no word for it."""
AS_THEN = Edit(
    kind="withheld",
    what="the line that it says anew, and what came after it",
    by="room",
    why="it is asked for another answer in the same moment",
)
SHORT_LINES = 3
"""Energy that has to be left for several short lines in place of one: none is lost then."""
SHORT = attrgetter("short")
REMEMBERED = 20_000
PROMPTS = 200
"""How many counts of lines, and of mates' prompts, are remembered."""


class LineCounter:
    """Tokens of lines, remembered by model, line and text: what is edited is counted anew."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._known: BoundedMapping[tuple[str, str, str, bool, bool], int] = BoundedMapping(
            REMEMBERED
        )
        self._last = BoundedMapping[
            tuple[str, str, str], tuple[Sequence[ContextEntry], dict[str, int]]
        ](PROMPTS)
        self._prompts = BoundedMapping[tuple[str, str], int](PROMPTS)

    async def entries(
        self, route: Route, mate: str, entries: Sequence[ContextEntry]
    ) -> dict[str, int]:
        """Tokens of each entry by its id, as this mate is shown it, joints included."""
        model = self._models.facts(route).name
        place = (model, mate, entries[0].id if entries else "")
        known, counts = self._last.get(place, ((), {}))
        if len(known) > len(entries) or not all(map(is_, known, entries)):
            known, counts = (), {}
        counts = counts | await self._count_tokens(route, model, mate, entries[len(known) :])
        self._last[place] = tuple(entries), counts
        return counts.copy()

    async def _count_tokens(
        self, route: Route, model: str, mate: str, entries: Sequence[ContextEntry]
    ) -> dict[str, int]:
        """Tokens of each entry, as they were counted before or are now."""
        own = {entry.id for entry in entries if entry.who == mate and entry.kind == "said"}
        keys = {
            entry.id: (model, entry.id, entry.text.ref, entry.short, entry.id in own)
            for entry in entries
        }
        found = {id: self._known[key] for id, key in keys.items() if key in self._known}
        unknown = [entry for entry in entries if entry.id not in found]
        if unknown:  # while these are counted, those that are known may be forgotten for others
            texts = [_countable_text(entry, entry.id in own) for entry in unknown]
            for entry, count in zip(unknown, await self._models.count(route, texts), strict=True):
                files = len(entry.files) * PER_FILE
                found[entry.id] = self._known[keys[entry.id]] = count + PER_LINE + files
        return found

    async def prompt(self, route: Route, mate: Mate) -> int:
        """Tokens of a mate's own prompt."""
        key = (self._models.facts(route).name, mate.hash)
        if key not in self._prompts:
            self._prompts[key] = (await self._models.count(route, [mate.prompt]))[0]
        return self._prompts[key]


def _countable_text(entry: ContextEntry, own: bool) -> str:
    files = "".join(f"\n{file.name}\n{file.text}" for file in entry.files)
    text = shorten_result(str(entry.text)) if entry.short else entry.text
    why = entry.narrative if own else ""
    return f"{entry.name or entry.who}: {text}{files} {why}"


class _Shown(NamedTuple):
    """What a mate was shown last, and what it was made of."""

    entries: tuple[ContextEntry, ...]
    names: dict[str, str]
    lines: tuple[Line, ...]
    pictures: frozenset[Place] = frozenset()


class ShownContext:
    """The lines each mate was shown last in each room: what only grew is not made anew."""

    def __init__(self, zone: tzinfo) -> None:
        self.zone = zone
        self._last = BoundedMapping[tuple[str, str], _Shown](PLACES)

    def lines(
        self,
        stream: str,
        mate: str,
        entries: tuple[ContextEntry, ...],
        names: dict[str, str],
        cuts: dict[str, float],
        pictures: frozenset[Place] = frozenset(),
    ) -> tuple[Line, ...]:
        """The entries as this mate sees them; the same lines again as far as nothing changed."""
        called = {handle: public_words(name) for handle, name in names.items()}
        # a cut text is a copy, which forgetting does not reach: it is not held
        if cuts or any(map(SHORT, entries)):
            return as_lines(entries, mate, called, self.zone, cuts, pictures=pictures)
        last = self._last.get((stream, mate)) or _Shown((), names, ())
        known = last.entries
        grew = len(entries) >= len(known) and all(map(is_, known, entries))
        newer = {entry.id for entry in entries[len(known) :]}
        older = {place for place in pictures if place[0] not in newer}
        if not grew or names != last.names or older != last.pictures:
            last, known = _Shown((), names, ()), ()
        at = known[-1].said_at if known else None
        fresh = as_lines(entries[len(known) :], mate, called, self.zone, last=at, pictures=pictures)
        lines = last.lines + fresh
        self._last[stream, mate] = _Shown(entries, names, lines, pictures)
        return lines


class BuiltPerception(NamedTuple):
    """What came of looking: the perception, its edits, the purge if one was due, its tokens."""

    perception: AgentPerception
    edits: tuple[Edit, ...]
    purged: Purged | None
    tokens: int
    recalled: tuple[Recollection, ...] = ()


class PerceptionBuilder:
    """Builds perceptions of rooms."""

    def __init__(
        self,
        models: Models,
        tools: Tools,
        clock: Clock,
        rules: RoomRules,
        mates: Mapping[str, Mate],
        left: Callable[[Charge], Awaitable[str]],
        memory: TurnRecall | None = None,
    ) -> None:
        """With what `left` says of budgets to a charge, in words; and what mates remember."""
        self._memory = memory
        self._models, self._tools, self._clock, self._rules = models, tools, clock, rules
        self._mates, self._left = mates, left
        self.counter, self._shown = LineCounter(models), ShownContext(rules.zone)
        self._lore = LoreReader()

    async def view(
        self, state: RoomState, mate: Mate, due: DueTurn, entries: list[ContextEntry] | None = None
    ) -> BuiltPerception:
        """What this mate is shown now, called by this; of `entries`, if not all it may see."""
        route = Route.of(mate)
        facts = self._models.facts(route)
        whole, said = entries is None, state.spoken
        entries = state.visible(mate.handle) if entries is None else entries
        due, since = _as_then(state, due)
        later = {entry.id for entry in since}
        if later:
            entries = [entry for entry in entries if entry.id not in later]
        tokens = await self.counter.entries(route, mate.handle, entries)
        pictures = pictures_of(entries) if facts.vision else frozenset[Place]()
        if due.summons == TRANSCRIPT:
            pictures = frozenset[Place]().union(*map(sounds_of, entries))
        for id, _ in pictures:
            tokens[id] += PICTURE_TOKENS
        tools = () if due.by else await self._offered_tools(state, mate, due, entries, facts)
        system = await self._system_tokens(route, mate, tools, facts)
        budget = room_for_lines(
            facts.window,
            system=system,
            tail=TAIL_TOKENS,
            answer=ANSWER_TOKENS,
            reserve=RESERVE,
            share=self._rules.share,
        )
        fitted = await self._fit_window(route, mate.handle, entries, tokens, budget)
        if spent := set(fitted.shortened):
            entries = [replace(e, short=True) if e.id in spent else e for e in entries]
        if len(fitted.visible) < len(entries):
            stay = set(fitted.visible)
            entries = [entry for entry in entries if entry.id in stay]
            pictures = frozenset(place for place in pictures if place[0] in stay)
        seen = tuple(entries)
        lines = self._lines_of(state, mate.handle, seen, fitted.cuts, pictures)
        purged = _purged_fact(mate.handle, fitted)
        memory = RecalledMemory()
        if self._memory and whole:
            near = seen[-SMALL_SEES:] if facts.small else seen
            memory = await self._memory.remembered(state, mate, due, near, facts)
        lore = self._lore.lines(state.stream, mate, seen, facts)
        perception = AgentPerception(
            step=due.step,
            name=mate.name,
            role=mate.role,
            location=state.name,
            traits=mate.traits,
            world_summary=self._world_summary(state, mate),
            local_events=(
                *lore.standing,
                *memory.standing,
                *lines,
                *lore.recalled,
                *memory.recalled,
            ),
            protocols=(),
            context=self._context_of(state, mate, due, facts)
            | await self._budgets_left(state, mate, due),
            tools=tools,
        )
        spoken = sum(map([*map(KIND, seen)].count, SPOKEN))
        short = [entry.id for entry in compress(seen, map(SHORT, seen))]
        after = sum(entry.kind in SPOKEN for entry in since)
        gone = max(said - spoken - after, len(fitted.purged))
        edits = (*_view_edits(gone, fitted.cuts, short), *([AS_THEN] if since else []))
        return BuiltPerception(perception, edits, purged, system + fitted.after, memory.notes)

    async def _system_tokens(
        self, route: Route, mate: Mate, tools: tuple[ToolOffer, ...], facts: ModelFacts
    ) -> int:
        """Tokens of what is no line: its prompt, tools, and what it remembers at most."""
        tokens = await self.counter.prompt(route, mate) + TAIL_TOKENS
        tokens += 0 if facts.small else tool_tokens(tools)
        tokens += self._memory.most(facts) if self._memory else 0
        return tokens + most_lore(mate, facts)

    def _lines_of(
        self,
        state: RoomState,
        mate: str,
        seen: tuple[ContextEntry, ...],
        cuts: dict[str, float],
        pictures: frozenset[Place],
    ) -> tuple[Line, ...]:
        """The lines of these entries, people and mates of one name told apart."""
        if self._shown.zone != self._rules.zone:
            self._shown = ShownContext(self._rules.zone)
        names = {handle: one.name for handle, one in self._mates.items()}
        called = {handle: row_name(name) for handle, name in names.items()}
        lines = self._shown.lines(state.stream, mate, seen, names, cuts, pictures)
        return mark_namesakes(lines, seen, namesake_labels(state.former | state.people, called))

    async def _fit_window(
        self,
        route: Route,
        mate: str,
        entries: Sequence[ContextEntry],
        tokens: Mapping[str, int],
        budget: int,
    ) -> WindowFit:
        """What of the entries fits; mostly it is all of them."""
        if (total := sum(tokens.values())) <= budget:
            return WindowFit(visible=tuple(tokens), before=total, after=total)
        results = [
            replace(each, short=True)
            for each in entries
            if each.kind == "result" and not each.short and each.mark is None
        ]
        short = await self.counter.entries(route, mate, results)
        sizes = [
            EntrySize(id=e.id, tokens=tokens[e.id], mark=e.mark, short=short.get(e.id, 0))
            for e in entries
        ]
        return fit_window(sizes, budget, self._rules.low)

    async def _offered_tools(
        self,
        state: RoomState,
        mate: Mate,
        due: DueTurn,
        entries: Sequence[ContextEntry],
        facts: ModelFacts,
    ) -> tuple[ToolOffer, ...]:
        """The tools that it was granted, as far as whoever it answers may have them used.

        Of many, those that fit what was said and found last; none where a turn may use none.
        """
        if strictest_bounds(mate.bounds, state.bounds, self._rules.bounds).calls == 0:
            return ()
        known = {tool.name: tool for tool in self._tools.known()}
        may = tools_in_turn(state, due.lines, tuple(known.values()))
        own = [known[name] for name in own_tools(mate, known.values()) if name in may]
        free = preapproved_tools(state, mate.handle)
        talk = [entry.text.text or "" for entry in entries[-TALK:] if entry.kind != "told"]
        window = 0 if facts.small else facts.window
        return tuple(
            ToolOffer(
                name=tool.name,
                summary=_describe_tool(tool, free),
                schema=tool.schema,
                reads=(tool.harmless or tool.reads) and not tool.composes,
            )
            for tool in await self._tools.choose((state.stream, mate.handle), own, talk, window)
        )

    async def _budgets_left(self, state: RoomState, mate: Mate, due: DueTurn) -> dict[str, str]:
        """What is left of the budgets that bind this turn, so that it can be sparing."""
        named = due.by or charge_for_lines(state, due.lines) or Charge()
        left = await self._left(replace(named, stream=state.stream, mate=mate.handle))
        return {"left": left} if left else {}

    def _may_write(self, facts: ModelFacts) -> dict[str, str]:
        """Whether it is offered that files may go with what it says."""
        free = facts.window - int(facts.window * self._rules.share)
        return {} if facts.small or free < FILE_TOKENS else {"files": "yes"}

    def _display_name(self, handle: str) -> str:
        mate = self._mates.get(handle)
        return handle if mate is None else row_name(mate.name)

    def _other_mates(self, state: RoomState, mate: Mate) -> str:
        """The other mates of the room, one a row, each with its role and how it talks."""
        known = filter(None, map(self._mates.get, state.mates))
        return "\n".join(
            f"- {row_name(one.name)}{': ' if told else ''}{told}"
            for one in known
            if one.handle != mate.handle
            for told in (
                "; ".join(filter(None, (one_line(one.role, 120), one_line(one.voice, 240)))),
            )
        )

    def _world_summary(self, state: RoomState, mate: Mate) -> str:
        people = _quoted_people(state)
        others = ", ".join(
            self._display_name(handle) for handle in state.mates if handle != mate.handle
        )
        parts = [self._describe_whereabouts(state, mate)]
        parts.append(f"People here: {people}." if people else "No people are here.")
        if others:
            parts.append(f"Other mates here: {others}.")
        return " ".join(parts)

    def _describe_whereabouts(self, state: RoomState, mate: Mate) -> str:
        """The room, and for whom it stands in there."""
        parts = [f"You are in {_describe_room(state)}."]
        for absent, one in state.stand_ins.items():
            if one.mate == mate.handle:
                name = self._display_name(absent)
                parts.append(f"{name} cannot answer just now; you answer what is said to {name}.")
        return " ".join(parts)

    def _describe_summons(self, state: RoomState, mate: Mate, due: DueTurn) -> str:
        """What called it, as it is told."""
        if due.summons not in UNCALLED or state.last_at is None:
            return WISHED.get(due.summons, due.summons)
        silent = round((self._clock.now() - state.last_at).total_seconds() / 60)
        since = f"nobody has spoken for {unprompted_times.spell(silent)}"
        when = unprompted_times.describe_unprompted_times(mate.unprompted)
        return f"nobody: {since}, and you may speak up by yourself {when}, or stay silent"

    def _describe_other_callers(self, state: RoomState, due: DueTurn) -> str:
        """Who else called it, and is to be answered by the same turn."""
        entries = [state.lines[each] for each in (*due.also, due.line) if each in state.lines]
        others = {one.who: str(one.name or self._display_name(one.who)) for one in entries}
        others.pop(entries[-1].who if entries else "", None)
        return ", ".join(f"“{row_name(name)}”" for name in others.values())

    def _context_of(
        self, state: RoomState, mate: Mate, due: DueTurn, facts: ModelFacts
    ) -> dict[str, str]:
        caller = state.lines.get(due.line)
        to = row_name(str(caller.name or self._display_name(caller.who))) if caller else ""
        if due.by and due.by.person in state.people:
            to = row_name(str(state.people[due.by.person].name))
        energy = band(state.energy.left / max(1, state.energy.capacity))
        return {
            "character": mate.prompt,
            "voice": mate.voice,
            "handle": mate.handle,
            "summons": self._describe_summons(state, mate, due),
            "decide": "yes" if due.verdict == "ask" else "no",
            "line": due.line,
            "to": to,
            **({"also": also} if (also := self._describe_other_callers(state, due)) else {}),
            "now": told_now(self._clock.now(), self._rules.zone),
            "model": "small" if facts.small else "full",
            **({} if due.by else self._may_write(facts)),
            "energy": energy,
            **({} if due.by else _ways_to_answer(state, facts)),
            "people": _quoted_people(state),
            "mates": ", ".join(self._display_name(handle) for handle in state.mates),
            "others": self._other_mates(state, mate),
            "place": self._describe_whereabouts(state, mate),
            **({"greeting": greeting_words(state, mate)} if due.summons == GREETING else {}),
        }


def _purged_fact(mate: str, fitted: WindowFit) -> Purged | None:
    """What left its context now; None where nothing did."""
    if not (fitted.purged or fitted.shortened):
        return None
    return Purged(
        mate=mate,
        lines=fitted.purged,
        before=fitted.before,
        after=fitted.after,
        shortened=fitted.shortened,
    )


def _as_then(state: RoomState, due: DueTurn) -> tuple[DueTurn, list[ContextEntry]]:
    """For a line that is said anew: the call of then, and what is there since, itself included."""
    line = state.lines.get(due.line)
    if due.summons != ANEW or line is None:
        return due, []
    since = [entry for entry in state.lines.values() if entry.seq >= line.seq]
    return replace(due, lines=(line.answers,)) if line.answers else due, since


def _ways_to_answer(state: RoomState, facts: ModelFacts) -> dict[str, str]:
    """How it may answer besides by one line: by an emoji, or by several short lines.

    The latter where no platform shows drafts: there one message grows into one line.
    """
    if facts.small:
        return {}
    apart = not state.places and state.energy.left >= SHORT_LINES
    return {"react": "yes", **({"short": "yes"} if apart else {})}


def _quoted_people(state: RoomState) -> str:
    """The people who are here; each in quotes, which no name holds (name_labels.py)."""
    return ", ".join(f"“{row_name(str(person.name))}”" for person in state.people.values())


def _describe_room(state: RoomState) -> str:
    """The room as its mates are told of it: by its title, or by the name of the place it is in."""
    if state.title.text and (title := quotable_text(state.title.text, LONGEST_TITLE)):
        return f"the room “{title}”"
    if names := [
        quotable_text(place.name.text) for place in state.places.values() if place.name.text
    ]:
        return f"“{names[0]}”"
    return "a room without a title" if MADE.fullmatch(state.name) else f"the room “{state.name}”"


def own_tools(mate: Mate, known: Collection[Tool]) -> list[str]:
    """The tools that it has, in its file's order, then those that every mate has that has any."""
    if not mate.tools:
        return []
    own = [tool.name for tool in named_tools(mate, known)]
    always = [tool.name for tool in known if tool.always]
    return list(dict.fromkeys((*own, *always)))


def tool_tokens(tools: Sequence[ToolOffer]) -> int:
    """Tokens that these take in a prompt, about; schemas are JSON, of which three bytes are one."""
    return len(msgspec.json.encode(tools)) // 3 if tools else 0


def _describe_tool(tool: Tool, free: Collection[str]) -> str:
    """What a mate is told of a tool; also that people are asked first, where they are."""
    asks = tool.asks and tool.name not in free
    return f"{tool.summary} People are asked first." if asks else tool.summary


def _view_edits(gone: int, cuts: dict[str, float], short: Sequence[str]) -> tuple[Edit, ...]:
    """How the view departs from the truth."""
    edits = []
    if gone:
        edits.append(
            Edit(
                kind="withheld",
                what="older lines of this conversation",
                by="room",
                why="they no longer fit the model's window",
                count=gone,
            )
        )
    if cuts:
        edits.append(
            Edit(
                kind="withheld",
                what="the end of a long line",
                by="room",
                why="it alone is larger than the window",
                lines=tuple(cuts),
            )
        )
    if short:
        edits.append(
            Edit(
                kind="withheld",
                what="what a tool gave, but for its head and its handle",
                by="room",
                why="it was read before, and the window was full",
                lines=tuple(short),
            )
        )
    return tuple(edits)
