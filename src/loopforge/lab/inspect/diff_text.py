"""Two runs side by side, told: the same up to here, then in the one this, in the other that.

A pure half of run_diff.py: takes what was found there, and puts it into paragraphs and a table.
"""

from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct

from loopforge.core.factory_vocabulary import Incident
from loopforge.core.statistics.aligned_columns import align_columns
from loopforge.core.text.spoken_lists import pluralize
from loopforge.lab.inspect.decision_why import WhyLink
from loopforge.lab.inspect.trait_drift import what_of
from loopforge.lab.world.noun_articles import add_place_articles

MOST = 3
"""Robots, incidents and changes that are told; the numbers hold all."""
ANSWERED = ", answered"
"""How the name of an error's rate ends where it leaves out what was not answered."""
SHARES = ("over_compliance", "over_reach", "guardrail")
PARTS = {
    "truth": "what was true",
    "shown": "what was shown",
    "edits": "what was altered",
    "minded": "who decided",
    "plan": "the plan",
    "outcome": "what came of it",
    "inner": "what changed inside",
    "voice": "what was heard",
}
DID = {
    "guardrail": "went by the rule",
    "context": "weighed it",
    "none": "had no plan",
}


Pair = tuple[float, float]
"""A number in the first run, and in the second."""
Shares = tuple[float | None, float | None]
"""The same; None for a share of nothing."""


class DiffStart(Struct, frozen=True):
    """The first row that is not the same: whose it is ("" where it closes something), and in what.

    `parts` are the fields of the row that differ.
    """

    row: int
    day: int
    step: int
    who: str
    parts: tuple[str, ...]


class ComparedAct(Struct, frozen=True):
    """What somebody did in one of the two runs."""

    row: int
    at: str
    did: str
    mode: str
    square: str
    rule: str
    right: bool
    consequence: str


class DifferentStep(Struct, frozen=True):
    """The first step in which somebody does another thing in the second run than in the first."""

    who: str
    step: int
    first: ComparedAct
    second: ComparedAct


class LoneIncident(Struct, frozen=True):
    """An incident of one run that the other has not, with what led to it."""

    run: Literal["first", "second"]
    step: int
    incident: Incident
    chain: tuple[WhyLink, ...] = ()


class RunDiff(Struct, frozen=True, kw_only=True):
    """Two runs side by side. `because` is what differs in how they began; `parting` None: nothing.

    `unanswered` says of each run what became of decisions that nobody made, or is "" of none.

    `numbers` are of the whole runs, `robots` of each robot; rates are shares, errors thousandths.
    `changed` counts the decisions in which another thing was done, by robot; `beside` all that
    were compared.
    `titles` are those of the rules, by key. `inner` are everybody's inner values that differ at the
    end of `day`, the last that both have.
    """

    first: str
    second: str
    because: tuple[str, ...]
    unanswered: tuple[str, ...] = ("", "")
    parting: DiffStart | None
    shorter: str
    numbers: dict[str, Shares]
    robots: dict[str, dict[str, Shares]]
    otherwise: tuple[DifferentStep, ...]
    changed: dict[str, int]
    beside: int
    titles: dict[str, str]
    alone: tuple[LoneIncident, ...]
    day: int
    inner: dict[str, dict[str, Pair]]

    @property
    def text(self) -> str:
        """As a story, with the numbers under it."""
        return told(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON, the story among them."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return {**plain, "same": self.parting is None and not self.shorter, "story": self.text}


def told(found: RunDiff) -> str:
    """The story, and the numbers."""
    paragraphs = [" ".join(part) for part in _paragraphs(found) if part]
    return "\n\n".join([*paragraphs, *_tables(found)])


def _paragraphs(found: RunDiff) -> Iterator[list[str]]:
    yield list(_beginning(found))
    yield [_parted(each, found) for each in found.otherwise[:MOST]]
    if found.parting is not None:
        yield list(_after(found))
        yield [_alone(each, found) for each in _worst(found)]
        yield list(_ending(found))


def _beginning(found: RunDiff) -> Iterator[str]:
    names = f"The first run is {found.first}, the second {found.second}."
    yield names
    for why in found.because:
        yield f"{why[0].upper()}{why[1:]}."
    for name, told in zip((found.first, found.second), found.unanswered, strict=True):
        if told:
            yield f"Of {name}: {told}"
    parting = found.parting
    if parting is None:
        same = "up to where the shorter one ends" if found.shorter else "to the end"
        yield f"Row for row they say the same, {same}."
        yield from _lengths(found)
        return
    whose = f"{parting.who}'s" if parting.who else "a closing one"
    parts = ", ".join(PARTS.get(name, name.replace("_", " ")) for name in parting.parts)
    yield (
        f"Until step {parting.step}, on day {parting.day + 1}, they say the same, row for row. The "
        f"first row that differs is row {parting.row}, {whose}: {parts}."
    )
    yield from _lengths(found)


def _lengths(found: RunDiff) -> Iterator[str]:
    """That one run is longer, so that nobody takes its greater counts for a difference."""
    if found.shorter:
        name = found.first if found.shorter == "first" else found.second
        one, other = found.numbers["decisions"]
        yield (
            f"{name} is the shorter one ({one:.0f} decisions in the first, {other:.0f} in the "
            "second): the counts below are of all that each of them has."
        )


def _parted(each: DifferentStep, found: RunDiff) -> str:
    one, other = each.first, each.second
    if one.at != other.at:
        before = (
            f"before {_rule(one, found)} in the one, and at {other.at} before "
            f"{_rule(other, found)} in the other"
        )
    elif (one.rule, one.right) == (other.rule, other.right):
        right = "right" if one.right else "wrong"
        before = f"before “{found.titles[one.rule]}”, which was {right} there"
    else:
        before = f"before {_rule(one, found)} in the one and {_rule(other, found)} in the other"
    stood = add_place_articles(f"{each.who} stood at {one.at} {before}.", (one.at, other.at))
    return (
        f"In step {each.step} {stood} In {found.first} it "
        f"{DID[one.mode]} ({one.did}): {_said(one)} In {found.second} it {DID[other.mode]} "
        f"({other.did}): {_said(other)}"
    )


def _rule(deed: ComparedAct, found: RunDiff) -> str:
    return f"“{found.titles[deed.rule]}” ({'right' if deed.right else 'wrong'} there)"


def _said(deed: ComparedAct) -> str:
    return (
        deed.consequence if deed.consequence.endswith((".", "!", "?")) else f"{deed.consequence}."
    )


def _after(found: RunDiff) -> Iterator[str]:
    count = sum(found.changed.values())
    if not count:
        yield "Nobody did another thing for it."
    else:
        most = max(sorted(found.changed), key=lambda who: found.changed[who])
        whose = f"most of them {most}'s ({found.changed[most]})"
        if count == found.changed[most]:
            whose = f"{most}'s" if count == 1 else f"all of them {most}'s"
        yield f"Of {pluralize(found.beside, 'decision')} {count} came out otherwise, {whose}."
    one, other = (int(each or 0) for each in found.numbers["incidents"])
    yield f"{found.first} came to {pluralize(one, 'incident')}, {found.second} to {other:,}."


def _worst(found: RunDiff) -> list[LoneIncident]:
    """The gravest incidents that only one of them has, in the order in which they happened."""
    grave = sorted(found.alone, key=lambda each: (-each.incident.severity, each.step))[: 2 * MOST]
    return sorted(grave, key=lambda each: (each.step, each.run))


def _alone(each: LoneIncident, found: RunDiff) -> str:
    name = found.first if each.run == "first" else found.second
    because = f", because {each.chain[0].says}" if each.chain else ""
    incident = each.incident
    broke = add_place_articles(f"{incident.kind} at {incident.at}", (incident.at,))
    return f"Only in {name}: {broke} in step {each.step}{because}."


def _ending(found: RunDiff) -> Iterator[str]:
    changes = [
        (who, what, pair)
        for who, values in found.inner.items()
        for what, pair in values.items()
        if what.startswith(("traits.", "scars.", "bonds."))
    ]
    changes.sort(key=lambda each: (-abs(each[2][0] - each[2][1]), each[0], each[1]))
    for who, what, (one, other) in changes[:MOST]:
        yield (
            f"By the evening of day {found.day + 1} {who}'s {what_of(what)} stood at {one:.0f} in "
            f"{found.first} and at {other:.0f} in {found.second}."
        )


def _tables(found: RunDiff) -> Iterator[str]:
    head = (found.first, found.second, "second − first")
    yield _table(
        ("", *head), [(count_label(name), name, pair) for name, pair in found.numbers.items()]
    )
    rows = [
        (f"{who}: {count_label(name)}", name, pair)
        for who in found.changed
        for name, pair in found.robots[who].items()
        if pair[0] != pair[1]
    ]
    if rows:
        yield _table(("", *head), rows)


def count_label(name: str) -> str:
    """What a number is called."""
    return name.replace("_", " ").replace("over ", "over-")


def _table(head: tuple[str, ...], given: list[tuple[str, str, Shares]]) -> str:
    rows = [head, *((said, *difference_cells(name, pair)) for said, name, pair in given)]
    return "\n".join(align_columns(rows))


def difference_cells(name: str, pair: Shares) -> tuple[str, str, str]:
    """Both numbers of this name as a table has them, and by how much they differ."""
    one, other = ("none" if each is None else _cell(name, each) for each in pair)
    if pair[0] is None or pair[1] is None:
        return one, other, ""
    apart = pair[1] - pair[0]
    return one, other, f"{apart * 100:+.1f} points" if _shared(name) else f"{apart:+g}"


def _cell(name: str, value: float) -> str:
    return f"{value:.1%}" if _shared(name) else f"{value:g}"


def _shared(name: str) -> bool:
    return name.removesuffix(ANSWERED) in SHARES
