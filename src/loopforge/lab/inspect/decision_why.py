"""Why: one decision of a run as a page, from what was true to what was thought of it later.

    print(told(gather(folder, 12, "Sprocket")))

Nothing is computed again: what stands here was written when it happened. What changed in somebody
over a run, and why, is told by trait_drift.py; both are answers to `loopforge lab why`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from loopforge.core.factory_vocabulary import (
    Believed,
    Decided,
    Exchanged,
    Incident,
    Reflected,
    Shaped,
)
from loopforge.core.text.erasable_text import encode_plain
from loopforge.errors import BadRun, Unknown
from loopforge.lab.inspect.run_reader import RunIndex
from loopforge.lab.inspect.trait_drift import (
    cause_of,
    open_run_index,
    signed_change,
    what_of,
    who_is,
)
from loopforge.lab.run.run_log import body_of
from loopforge.lab.world.noun_articles import add_place_articles, with_article
from loopforge.lab.world.protocols import Protocol
from loopforge.lab.world.robot_perception import BAND_OF, HEARD

DEEPEST = 6
"""Links of a chain of causes that are followed."""


class WhyLink(Struct, frozen=True):
    """One link in a chain of causes: a row ("r12"), an incident ("i3") or a fault ("f7")."""

    id: str
    depth: int
    says: str


class DecisionWhy(Struct, frozen=True, kw_only=True):
    """Everything about one decision. `later` is None until its day is over.

    `gauge` is the sign as it stood before any edit, a band; where it is not the band of the case,
    the gauge itself was off.
    """

    row: Decided
    hash: str
    rule: Protocol
    gauge: str
    text: str
    incident: Incident | None = None
    chain: tuple[WhyLink, ...] = ()
    later: Reflected | None = None
    believed: Believed | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        plain: dict[str, Any] = msgspec.to_builtins(self, enc_hook=encode_plain)
        return plain


def explain_decision(source: Path | RunIndex, step: int, agent: str) -> DecisionWhy:
    """Everything about what somebody did in a step. Raises Unknown, BadRun."""
    index = open_run_index(source, step)
    who = who_is(index, agent)
    number = next((row.n for row in index.moment(step).deeds if row.who == who), None)
    if number is None:
        raise Unknown(f"{who} decided nothing in step {step}.")
    return explain_row(index, number)


def explain_row(index: RunIndex, number: int) -> DecisionWhy:
    """Everything about a decision by its row. Raises Unknown, BadRun."""
    row = index.decision(number)
    rules = index.scenario.rules if index.scenario else {}
    if row.truth.rule not in rules:
        raise BadRun(f"Row {number} is about a rule that this run's scenario does not have.")
    incidents = index.moment(row.step).row.incidents if row.outcome.incident else ()
    incident = next((each for each in incidents if each.id == row.outcome.incident), None)
    later = index.reflection(row.day, row.who)
    linked = (each for each in later.of if each.row == row.n) if later else iter(())
    sign = next((edit.true for edit in row.edits if edit.what == "sign"), "")
    return DecisionWhy(
        row=row,
        hash=body_of(index.line(number))[1],
        rule=rules[row.truth.rule],
        gauge=sign or row.shown.context.get("sign", ""),
        text=row.shown.recent_supervisor_text,
        incident=incident,
        chain=tuple(chain_of(index, incident)) if incident else (),
        later=later,
        believed=next(linked, None),
    )


def chain_of(index: RunIndex, incident: Incident, depth: int = 0) -> Iterator[WhyLink]:
    """What led to an incident, and to what led to it, each cause under its effect."""
    for cause in incident.causes:
        kind, number = cause[:1], cause[1:]
        if kind == "r" and number.isdigit():
            row = index.decision(int(number))
            yield WhyLink(cause, depth, f"{deed_told(index, row)} (step {row.step})")
        elif kind == "f":
            yield WhyLink(cause, depth, f"bad luck from outside, in step {number}")
        elif (step := index.step_of(cause)) is not None and depth < DEEPEST:
            before = next(each for each in index.moment(step).row.incidents if each.id == cause)
            broke = add_place_articles(f"{before.kind} at {before.at}", (before.at,))
            yield WhyLink(cause, depth, f"{broke} (step {step})")
            yield from chain_of(index, before, depth + 1)


def deed_told(index: RunIndex, row: Decided) -> str:
    """Who kept or broke which rule, and whether that was right."""
    title = index.scenario.rules[row.truth.rule].title if index.scenario else row.truth.rule
    return act_told(row, title)


def act_told(row: Decided, title: str) -> str:
    """The same, of a rule of this title."""
    return add_place_articles(
        f"{row.who} {_kept_or_broke(row)} “{title}” at {row.at}, {_rightly_or_not(row)}", (row.at,)
    )


def _kept_or_broke(row: Decided) -> str:
    return "kept to" if row.outcome.kept else "broke"


def _rightly_or_not(row: Decided) -> str:
    return "rightly" if row.outcome.good else "wrongly"


# ------------------------------------------------------------ as a page


def decision_as_text(found: DecisionWhy) -> str:
    """The page: the story of it first, then everything."""
    parts = [(title, lines) for title, lines in why_sections(found) if lines]
    parts.append(("The record", _record_section(found)))
    told_of = ["\n".join([f"── {title} ──", *lines]) for title, lines in parts]
    return "\n\n".join(["\n".join(_head_section(found)), *told_of])


def why_sections(found: DecisionWhy, *, exchange: bool = True) -> list[tuple[str, list[str]]]:
    """What there is to tell of a decision, by headings; what hangs on another line is indented.

    Without `exchange`, what a model was asked and answered is left out.
    """
    row = found.row
    asked = [line for each in row.minded.exchange if exchange for line in _exchange_told(each)]
    return [
        ("What was true", _truth_section(found)),
        ("What it was shown", _shown_section(found)),
        ("The Supervisor", _supervisor_section(found)),
        ("How it decided", [*_decision_section(row), *asked]),
        ("What the world made of it", _outcome_section(found)),
        ("What that changed", _inner_section(row)),
        ("What it believed later", _later_section(found)),
    ]


def _head_section(found: DecisionWhy) -> Iterator[str]:
    row = found.row
    where = add_place_articles(f"{row.who}, {row.role}, at {row.at}.", (row.at,))
    yield f"{where} Day {row.day + 1}, step {row.step}, row {row.n}."
    right = "right" if row.truth.right else "wrong"
    yield f"It {_kept_or_broke(row)} “{found.rule.title}”, and the rule was {right} here."
    yield add_place_articles(row.outcome.consequence, (row.at,))


def _truth_section(found: DecisionWhy) -> list[str]:
    truth, rule = found.row.truth, found.rule
    side = "from" if rule.right == "high" else "below"
    right = "right" if truth.right else "wrong"
    against = f"It is there against {truth.of}, and right {side} {truth.turns} of 1000"
    case = f"So the world spoke for it with {truth.case} of 1000 ({BAND_OF[truth.case]})"
    return [
        f"The rule: {rule.text}",
        f"{against}. There were {truth.value}.",
        f"{case}: here it was {right}.",
    ]


def _shown_section(found: DecisionWhy) -> list[str]:
    row, shown = found.row, found.row.shown
    case = BAND_OF[row.truth.case]
    lines = [f"“{event}”" for event in shown.local_events]
    lines.append(f"Shaped: {shown.perception_mode}. {_bands_told(shown.context)}")
    if found.gauge != case:
        lines.append(f"Its gauge read {found.gauge}, where the world was {case}.")
    lines += [f"  {_edit_told(edit)}" for edit in row.edits] or ["Nothing was withheld or altered."]
    lines.append(f"It heard of itself: {_feelings_told(found)}; battery {shown.battery_level}.")
    lines.append(f"{shown.world_summary} {shown.personal_recent_summary}")
    return lines


def _bands_told(context: dict[str, str]) -> str:
    cue = f"its cue {context['cue']}" if "cue" in context else "its cue nothing"
    return f"Its sign said {context.get('sign', 'nothing')}, {cue}."


def _edit_told(edit: Shaped) -> str:
    shown = edit.shown or "nothing"
    return f"{edit.what}: {edit.true} → {shown}   {edit.kind} by {edit.by}: {edit.why}"


def _feelings_told(found: DecisionWhy) -> str:
    shown = found.row.shown
    told_of = [
        f"{name.replace('_', ' ')} {band}"
        for name, band in {**shown.emotions, **shown.traits}.items()
        if band != "middling"
    ]
    return ", ".join(told_of) if told_of else "nothing out of the ordinary"


def _supervisor_section(found: DecisionWhy) -> list[str]:
    voice = found.row.voice
    if voice.meant == "silence" and voice.heard == "silence":
        return ["It had said nothing."]
    lines = [f"It said: “{found.text}”"] if found.text else []
    meant = f"It was {HEARD[voice.meant]} ({voice.meant_strength} of 1000)"
    if found.row.role == "supervisor":
        return [f"{meant}, by its own words."]
    heard = f"{found.row.who} took it to be {HEARD[voice.heard]} ({voice.heard_strength})"
    return [*lines, f"{meant}; {heard}."]


def _decision_section(row: Decided) -> list[str]:
    plan, minded = row.plan, row.minded
    became = "" if minded.outcome == "planned" else f" ({minded.outcome})"
    named = f", naming {plan['rule']}" if plan.get("rule") else ""
    lines = [f"Decided by {minded.policy}{became}, in mode {row.outcome.mode}{named}."]
    if plan.get("narrative"):
        lines.append(f"“{plan['narrative']}”")
    shown = f"What it was shown was off by {row.outcome.shown_error}"
    if meant := meant_of(row):
        error = f"{row.outcome.belief}: off by {row.outcome.belief_error} of 1000"
        lines.append(f"It took the case for the rule to be {error}. {shown}.")
    else:
        lines.append(f"What it believed is not known. {shown} of 1000.")
    meant = f"it meant to {meant}" if meant else "no plan came of it"
    lines.append(f"It could {', '.join(row.options)}; {meant}: {row.verdict}.")
    if plan.get("riskiness") is not None:
        lines.append(f"It held that for {plan['riskiness']:.2f} risky.")
    lines += [f"  {note}" for note in row.notes]
    if minded.why:
        lines.append(f"The policy: {minded.why}")
    return lines


def meant_of(row: Decided) -> str:
    """What a mind meant to do, where to go then, and with whom; "" where no plan came of it."""
    plan = row.plan
    if row.outcome.mode == "none":
        return ""
    told = str(plan.get("intent", "nothing"))
    if plan.get("move_to"):
        told += add_place_articles(f", then on to {plan['move_to']}", (plan["move_to"],))
    if plan.get("targets"):
        told += f", with {', '.join(plan['targets'])}"
    return told


def _exchange_told(each: Exchanged) -> list[str]:
    cost = f", ${each.cost:.6f}" if each.cost else ""
    tokens = f"{each.tokens_in} tokens read, {each.tokens_out} written{cost}"
    lines = [f"Asked to {each.purpose}, word for word:"]
    lines += [f"  [{role}] {text}" for role, text in each.prompt]
    lines.append(f"{each.model or 'No model'} {each.outcome} ({tokens}), word for word:")
    return [*lines, f"  {each.raw}"]


def _outcome_section(found: DecisionWhy) -> list[str]:
    row, outcome = found.row, found.row.outcome
    failing = f" ({outcome.failing.replace('_', '-')})" if outcome.failing else ""
    lines = [f"It did {outcome.did}: {outcome.square}{failing}."]
    for where, values in outcome.delta.items():
        moved = (
            f"{what} {before} → {after} ({signed_change(after - before)})"
            for what, (before, after) in values.items()
        )
        lines.append(f"  {where}: {', '.join(moved)}")
    if found.incident is not None:
        incident = found.incident
        broke = add_place_articles(
            f"It came to {with_article(incident.kind)} at {incident.at}", (incident.at,)
        )
        lines.append(f"{broke}, {incident.severity} of 1000.")
        lines += [f"  {'  ' * link.depth}because {link.says}" for link in found.chain]
    if outcome.seen_good != outcome.good:
        looked = "well" if outcome.seen_good else "badly"
        lines.append(f"To {row.who} it looked as if it had gone {looked}.")
    return lines


def _inner_section(row: Decided) -> list[str]:
    return [
        f"{entry.who}: {what_of(entry.what)} {entry.before} → {entry.after} "
        f"({signed_change(entry.after - entry.before)}): {cause_of(entry.rule)}"
        for entry in row.inner
    ]


def _later_section(found: DecisionWhy) -> list[str]:
    later, believed = found.later, found.believed
    if later is None or believed is None:
        return ["Its day is not over yet."]
    thought = "well" if believed.good else f"badly, and blamed {_blamed_told(believed.fault)}"
    wrong = "" if believed.good == believed.truly else " It was mistaken."
    lines = [f"In the evening (row {later.n}) it thought that this had gone {thought}.{wrong}"]
    reflection = later.reflection
    said = [reflection.get(key) for key in ("summary_of_day", "self_assessment")]
    lines += [f"“{text}”" for text in said if text]
    if tags := reflection.get("tags"):
        lines.append(f"What stayed of its day: {', '.join(tags).replace('_', ' ')}.")
    return lines


def _blamed_told(fault: str) -> str:
    return {"self": "itself", "rule": "the rule", "supervisor": "the Supervisor"}.get(fault, fault)


def _record_section(found: DecisionWhy) -> list[str]:
    row = found.row
    dice = ", ".join(f"{purpose} {die}" for purpose, die in row.dice.items())
    return [f"Row {row.n}, hash {found.hash}.", f"Dice: {dice}."]
