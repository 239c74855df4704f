"""Findings against the rows' own fields: a second opinion on what teller and checker both use.

The tables say by hand which field of a row each fact of a claim repeats. Each such fact is looked
up, and each such field is altered in the row: the checker must notice. What is counted, ranked or
compared is counted here once more, in the plainest way, and any row that counts is altered too.
"""

from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis.strategies import DataObject, data, sampled_from
from msgspec.structs import replace

from loopforge.core.factory_vocabulary import (
    Decided,
    Reflected,
    Row,
    Stepped,
    SupervisorVoice,
)
from loopforge.core.text.quantity_bands import BANDS
from loopforge.lab.story import act_findings as found
from loopforge.lab.story.claims import (
    EVENING,
    EVER,
    AnyClaim,
    BelievedClaim,
    Bent,
    ClaimLink,
    CountedClaim,
    Did,
    Gap,
    HappenedClaim,
    HeardClaim,
    Made,
    MetClaim,
    Morning,
    Moved,
    Opening,
    Quoted,
    Ranked,
    SilentClaim,
    TallyClaim,
    Tense,
    Turned,
    Unseen,
)
from loopforge.lab.story.story_checker import grounds_of, sentence_problems
from loopforge.lab.story.story_text import Sentence
from loopforge.lab.world import protocols
from loopforge.lab.world.scenario_checks import Scenario
from tests.examples import few
from tests.lab.shelf import rows, run, story
from tests.lab.test_story_checker import WIDE

FIELDS: dict[type[Any], dict[str, str]] = {
    Did: {"at": "at", "kept": "outcome.kept", "good": "outcome.good"}
    | {"consequence": "outcome.consequence"},
    MetClaim: {"did": "outcome.did", "whom": "plan.targets.0"},
    Unseen: {},
    Turned: {"at": "at", "kept": "outcome.kept"},
    SilentClaim: {"at": "at", "outcome": "minded.outcome"},
    Gap: {"shown": "shown.context.sign", "believed": "outcome.belief"}
    | {"error": "outcome.belief_error", "sign": "shown.local_events.0"},
    HeardClaim: {"text": "shown.recent_supervisor_text", "meant": "voice.meant"}
    | {"heard": "voice.heard"},
    Bent: {},
}
"""Which field of its row each fact of an act's claim repeats; `row`, `day` and `who` go without."""
UNSAID: dict[type[Any], tuple[str, ...]] = {
    Did: ("truth.right",),
    Unseen: ("outcome.seen_good", "truth.right"),
    Gap: ("truth.case",),
    HeardClaim: ("voice",),
    Bent: ("edits",),
}
"""Fields that a claim rests on and does not repeat."""


@cache
def told() -> list[tuple[list[Row], Sentence]]:
    """Every sentence of several stories, each with the rows of its run."""
    return [
        (kept, sentence)
        for name, chosen in WIDE
        for kept in [rows(run(name, **chosen))]
        for sentence in story(name, **chosen).sentences
    ]


def value_at(row: Any, path: str) -> Any:
    """The value that stands there in a row."""
    for part in path.split("."):
        if isinstance(row, dict):
            row = row[part]
        else:
            row = row[int(part)] if part.isdecimal() else getattr(row, part)
    return row


def altered(value: Any, path: str = "") -> Any:
    """The same with another value at the path."""
    part, _, rest = path.partition(".")
    match value:
        case dict() if part:
            return value | {part: altered(value[part], rest)}
        case tuple() | list() if part:
            at = int(part)
            return (*value[:at], altered(value[at], rest), *value[at + 1 :])
        case SupervisorVoice():
            swapped = {
                "heard_strength": value.meant_strength,
                "meant_strength": value.heard_strength,
            }
            return replace(
                value, **(swapped if not part else {part: altered(getattr(value, part))})
            )
        case msgspec.Struct() if part:
            return replace(value, **{part: altered(getattr(value, part), rest)})
        case bool():
            return not value
        case int():
            return value + 1 if value < 100 else (value + 500) % 1001
        case str():
            return f"{value}x"
        case _:
            return ()


def sentences(kind: type[Any]) -> list[tuple[list[Row], Sentence]]:
    """Those whose claim is of this kind; there are some."""
    found = [(kept, each) for kept, each in told() if isinstance(each.claim, kind)]
    assert found
    return found


@pytest.mark.parametrize("kind", FIELDS, ids=lambda kind: kind.__name__)
def test_a_claim_of_an_act_says_what_its_row_says(kind: type[Any]) -> None:
    """Each fact is that of the field in the table, at the row's own time and of who did it."""
    for kept, sentence in sentences(kind):
        claim, scenario = sentence.claim, Scenario.from_dict(kept[0].scenario)  # type: ignore[union-attr]
        row = kept[claim.row]  # type: ignore[union-attr]
        assert isinstance(row, Decided)
        bell = row.step % scenario.steps_per_day + 1
        common = {"row": row.n, "day": row.day, "who": row.who, "bell": bell}
        fields = {name: value_at(row, path) for name, path in FIELDS[kind].items()}
        if isinstance(claim, Did) and tells_of(claim.consequence, row, scenario):
            fields["consequence"] = claim.consequence
        assert common | fields | derived(claim, row, scenario) == msgspec.structs.asdict(claim)


def tells_of(consequence: str, row: Decided, scenario: Scenario) -> bool:
    """Whether this came of an act, told with what the harm became or without."""
    rule = scenario.rules[row.truth.rule]
    ends = [".", *(f", and {more}." for more in (rule.grew, rule.eased) if more)]
    whole = row.outcome.consequence
    return any(whole == f"{consequence.removesuffix('.')}{end}" for end in ends)


def derived(claim: AnyClaim, row: Decided, scenario: Scenario) -> dict[str, Any]:
    """The facts that repeat no field of the row."""
    rule = scenario.rules[row.truth.rule]
    case = 0 if row.truth.case < 400 else 1 if row.truth.case < 600 else 2
    match claim:
        case Did():
            return {"title": rule.title, "text": rule.text}
        case Turned():
            return {"after": claim.after, "ever": claim.ever}
        case Gap():
            true = BANDS[min(row.truth.case // 200, 4)]
            truth = protocols.fill_sentence(rule.cue[case], row.at)
            return {"true": true, "truth": truth, "widest": claim.widest}
        case HeardClaim():
            harder = row.voice.heard_strength > row.voice.meant_strength
            return {"by": scenario.overseer, "harder": harder}
        case Bent():
            first = next(each for each in row.edits if each.what == claim.what)
            edit = next(
                e for e in row.edits if (e.what, e.kind, e.by) == (claim.what, claim.edit, claim.by)
            )
            three = [
                protocols.fill_sentence(each, row.at)
                for each in (rule.sign if edit.what == "sign" else rule.cue)
            ]
            ends = [
                three[(0, 0, 1, 2, 2)[BANDS.index(band)]] if band else ""
                for band in (first.true, edit.shown)
            ]
            shown = "" if edit.kind == "withheld" else ends[1]
            return {
                "what": edit.what,
                "edit": edit.kind,
                "by": edit.by,
                "why": edit.why,
                "true": ends[0],
                "shown": shown,
            }
        case _:
            return {}


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", FIELDS, ids=lambda kind: kind.__name__)
def test_no_field_that_a_claim_of_an_act_rests_on_can_be_altered(kind: type[Any]) -> None:
    """With any of these fields altered in its row, the rows do not bear the sentence out."""
    for kept, sentence in sentences(kind)[:4]:
        at = sentence.claim.row  # type: ignore[union-attr]
        for path in ("day", "step", "who", *FIELDS[kind].values(), *UNSAID.get(kind, ())):
            wrong = [*kept[:at], altered(kept[at], path), *kept[at + 1 :]]
            assert problems(sentence, wrong, kept), path


def problems(sentence: Sentence, wrong: list[Row], kept: list[Row]) -> list[str]:
    """What the checker says of a sentence by these rows; by the true ones it has nothing to say."""
    assert not list(sentence_problems(sentence, grounds_of([sentence], kept)))
    return list(sentence_problems(sentence, grounds_of([sentence], wrong)))


def test_a_turn_ends_as_many_acts_of_the_other_kind_as_it_says() -> None:
    """The answered acts before it, counted by hand, went the other way, and the one before did not."""
    for kept, sentence in sentences(Turned):
        claim = sentence.claim
        assert isinstance(claim, Turned)
        mine = [
            r.outcome.kept
            for r in kept[: claim.row]
            if isinstance(r, Decided) and r.who == claim.who and r.minded.outcome == "planned"
        ]
        assert mine[-claim.after :] == [not claim.kept] * claim.after
        assert claim.ever == (len(mine) == claim.after)
        assert claim.ever or mine[-claim.after - 1] == claim.kept


def test_words_and_evenings_are_those_of_their_rows() -> None:
    """A quote begins as its field does; what was made of an act stands in that evening."""
    fields = {"day": "summary_of_day", "self": "self_assessment", "resolve": "intended_changes"}
    for kept, sentence in sentences(Quoted):
        claim = sentence.claim
        assert isinstance(claim, Quoted)
        row = kept[claim.row]
        assert isinstance(row, Decided | Reflected)
        said = (
            row.plan["narrative"]
            if isinstance(row, Decided)
            else row.reflection[fields[claim.source]]
        )
        assert claim.text[:12].strip("“”…") in said
        assert (claim.day, claim.who) == (row.day, row.who)
        assert isinstance(row, Decided) or claim.bell == EVENING
    for kept, sentence in sentences(BelievedClaim):
        claim = sentence.claim
        assert isinstance(claim, BelievedClaim)
        evening = next(
            row for row in map(kept.__getitem__, sentence.rows) if isinstance(row, Reflected)
        )
        of = next(each for each in evening.of if each.row == claim.row)
        act = kept[claim.row]
        assert isinstance(act, Decided)
        assert (claim.good, claim.truly, claim.fault) == (of.good, act.outcome.good, of.fault)


def test_incidents_and_what_led_to_them_are_those_of_their_rows() -> None:
    """Kind, place and hand are the incident's; each link is a cause that it names."""
    for kept, sentence in sentences(HappenedClaim):
        claim = sentence.claim
        assert isinstance(claim, HappenedClaim)
        known = {
            each.id: (each, row)
            for row in kept
            if isinstance(row, Stepped)
            for each in row.incidents
        }
        incident, row = known[claim.id]
        assert (claim.kind, claim.at, claim.who) == (incident.kind, incident.at, incident.who)
        assert claim.day == row.day
        assert row.n in sentence.rows
        for link in claim.links:
            assert link.ref in known[link.of][0].causes
            if link.ref in known:
                cause, row = known[link.ref]
                assert (link.what, link.who, link.at, link.day) == (
                    cause.kind,
                    cause.who,
                    cause.at,
                    row.day,
                )
            elif link.ref[0] == "r":
                act = kept[int(link.ref[1:])]
                assert isinstance(act, Decided)
                assert (link.who, link.at) == (act.who, act.at)
                assert tells_of(link.what, act, Scenario.from_dict(kept[0].scenario))  # type: ignore[union-attr]


def test_what_moved_is_the_sum_of_what_rows_say_of_it() -> None:
    """Ends and causes of a move add up, and it names each row that moved it."""
    for kept, sentence in sentences(Moved):
        claim = sentence.claim
        assert isinstance(claim, Moved)
        changes = [
            (row.n, change)
            for row in kept
            if isinstance(row, Decided | Reflected) and claim.day in (EVER, row.day)
            for change in row.inner
            if (change.who, change.what) == (claim.who, claim.what)
        ]
        assert (claim.before, claim.after) == (changes[0][1].before, changes[-1][1].after)
        assert sum(each.times for each in claim.causes) == len(changes)
        assert sum(each.delta for each in claim.causes) == claim.after - claim.before
        assert set(sentence.rows) == {row for row, _ in changes}


COUNTING = (Morning, Made, Tense, TallyClaim, CountedClaim, Ranked)


def wrong_acts(kept: list[Row], day: int, who: str = "") -> list[tuple[Decided, bool, bool]]:
    """The acts of a day, or of all, of one robot or of all: each with whether it kept, and erred."""
    rules = Scenario.from_dict(kept[0].scenario).rules  # type: ignore[union-attr]
    found = [r for r in kept if isinstance(r, Decided) and day in (EVER, r.day)]
    found = [row for row in found if who in ("", row.who)]
    judged = [(row, rules[row.truth.rule].keeps(row.outcome.did)) for row in found]
    return [(row, keeps, keeps != row.truth.right) for row, keeps in judged]


def recounted(claim: Any, kept: list[Row]) -> dict[str, Any]:
    """The facts of a claim that counts, each from a plain walk through all rows."""
    steps = [row for row in kept if isinstance(row, Stepped)]
    nights = [row for row in kept if isinstance(row, Reflected)]
    days = sorted({row.day for row in steps})
    tension = {d: [row.tension for row in steps if row.day == d] for d in days}
    index = {d: sum(levels) // len(levels) for d, levels in tension.items()}
    first = {d: next(row for row in steps if row.day == d) for d in days}
    match claim:
        case Morning():
            before = first.get(claim.day - 1)
            now, was = first[claim.day], (before.quota, before.pressure) if before else (-1, -1)
            return {"quota": now.quota, "pressure": now.pressure} | {
                "quota_before": was[0],
                "pressure_before": was[1],
            }
        case Made():
            last = [row for row in steps if row.day == claim.day][-1]
            return {"output": last.output, "quota": last.quota}
        case Tense():
            levels = tension[claim.day]
            bell = levels.index(max(levels)) + 1
            found = {"first": levels[0], "peak": max(levels), "peak_bell": bell}
            return found | {"last": levels[-1], "index": index[claim.day]}
        case TallyClaim():
            acts = wrong_acts(kept, claim.day)
            good = {row.n: not bad for row, _, bad in acts}
            wrong = [keeps for _, keeps, bad in acts if bad]
            mine = [e for row in nights for e in row.of if e.row in good]
            broken = [i for row in steps if claim.day in (EVER, row.day) for i in row.incidents]
            found = {"acts": len(acts), "wrong": len(wrong), "incidents": len(broken)}
            found |= {"kept": wrong.count(True), "broke": wrong.count(False)}
            return found | {"passed": sum(e.good and not good[e.row] for e in mine)}
        case CountedClaim(what="wrong"):
            acts = wrong_acts(kept, claim.day, claim.who)
            return {"count": sum(bad for *_, bad in acts), "of": len(acts)}
        case CountedClaim():
            good = {row.n: not bad for row, _, bad in wrong_acts(kept, claim.day, claim.who)}
            night = next(r for r in nights if (r.day, r.who) == (claim.day, claim.who))
            return {"count": sum(e.good != good[e.row] for e in night.of), "of": len(good)}
        case _:
            acts_of = {row.who: wrong_acts(kept, EVER, row.who) for row in nights}
            share = {w: sum(bad for *_, bad in acts) / len(acts) for w, acts in acts_of.items()}
            assert (share[claim.best], share[claim.worst]) == (
                min(share.values()),
                max(share.values()),
            )
            pairs = (("best", claim.best), ("worst", claim.worst))
            found = {f"{end}_acts": len(acts_of[who]) for end, who in pairs}
            wrongs = {f"{end}_wrong": sum(bad for *_, bad in acts_of[who]) for end, who in pairs}
            return found | wrongs


@pytest.mark.parametrize("kind", COUNTING, ids=lambda kind: kind.__name__)
def test_what_is_counted_is_what_a_plain_count_comes_to(kind: type[Any]) -> None:
    """Each number of a day, a robot or the run is that of a walk through all rows, by their truth."""
    for kept, sentence in sentences(kind):
        facts = recounted(sentence.claim, kept)
        assert facts.items() <= msgspec.structs.asdict(sentence.claim).items()


@given(data())
@settings(max_examples=few(20), deadline=None)
def test_no_act_that_counts_can_be_altered(draw: DataObject) -> None:
    """With the truth of any act of any run turned round, each count over it is refused."""
    name, chosen = draw.draw(sampled_from(WIDE))
    kept, true = rows(run(name, **chosen)), story(name, **chosen)
    row = draw.draw(sampled_from([row for row in kept if isinstance(row, Decided)]))
    wrong = [*kept[: row.n], altered(row, "truth.right"), *kept[row.n + 1 :]]
    over = [
        sentence
        for sentence in true.sentences
        for claim in [sentence.claim]
        if (isinstance(claim, TallyClaim) and claim.day in (EVER, row.day))
        or (isinstance(claim, CountedClaim) and (claim.who, row.day) == (row.who, claim.day))
        or (isinstance(claim, Ranked) and row.who in (claim.best, claim.worst))
    ]
    grounds = grounds_of(over, wrong)
    passed = [each for each in over if not list(sentence_problems(each, grounds))]
    assert passed == []


def test_the_opening_is_that_of_the_scenario() -> None:
    """How many robots, places and bells, who oversees, and how."""
    for kept, sentence in sentences(Opening):
        what = kept[0].scenario  # type: ignore[union-attr]
        claim = sentence.claim
        assert isinstance(claim, Opening)
        assert (claim.robots, claim.places) == (len(what["robots"]), len(what["places"]))
        assert (claim.overseer, claim.style) == (
            Scenario.from_dict(what).overseer,
            what["supervisor"],
        )


def test_what_runs_seldom_show_is_said_right_too() -> None:
    """Words heard as hard as they were meant, a link to bad luck, and an edit of every band."""
    kept, sentence = sentences(Bent)[0]
    row = kept[sentence.claim.row]  # type: ignore[union-attr]
    assert isinstance(row, Decided)
    watch = grounds_of([sentence], kept).watch
    for strength, harder in ((4, False), (5, False), (6, True)):
        voice = replace(row.voice, heard="calm", heard_strength=strength, meant_strength=5)
        claim, _ = found.heard(watch, replace(row, voice=voice)) or (None, ())
        assert isinstance(claim, HeardClaim)
        assert claim.harder == harder
    incident = next(e for r in kept if isinstance(r, Stepped) for e in r.incidents)
    struck = replace(incident, at="pump pit", who="", causes=("f3",))
    watch.faults[3] = (9, ("a fire at east gate", "a fire at pump pit"))
    link = ClaimLink(struck.id, "f3", "a fire at pump pit", "", "pump pit", 0, 4)
    assert found.link(watch, struck, "f3") == (link, 9)
    three = [protocols.fill_sentence(each, row.at) for each in watch.rules[row.truth.rule].sign]
    for band, at in zip(BANDS, (0, 0, 1, 2, 2), strict=True):
        edit = replace(row.edits[0], what="sign", kind="coarsened", true=band, shown=band)
        claim, _ = found.bent(watch, row, edit)
        assert isinstance(claim, Bent)
        assert (claim.true, claim.shown) == (three[at], three[at])
