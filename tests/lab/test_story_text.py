"""Stories of runs: what is told, how it reads, and that it is the same each time."""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from msgspec.structs import replace

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.factory_vocabulary import INTENTS, Decided, Incident, Reflected, Stepped
from loopforge.core.perception import AgentPerception
from loopforge.errors import BadRun
from loopforge.lab import run_simulation
from loopforge.lab.run.run_lifecycle import fork_run
from loopforge.lab.run.run_log import LOG, LogChain, rows_of
from loopforge.lab.story.claim_phrases import WAYS, phrases, templates
from loopforge.lab.story.claims import (
    BelievedClaim,
    Bent,
    BrokeOff,
    Brought,
    ClaimLink,
    CountedClaim,
    Did,
    Forked,
    Gap,
    HappenedClaim,
    HeardClaim,
    Made,
    Morning,
    Moved,
    Opening,
    Quoted,
    SilentActs,
    SilentClaim,
    TallyClaim,
    Tense,
    Turned,
    Unseen,
    when,
)
from loopforge.lab.story.moment_watching import level
from loopforge.lab.story.number_wording import (
    change_in_words,
    number_in_words,
    ordinal,
    stage_direction,
    story_quote,
)
from loopforge.lab.story.story_checker import check_story
from loopforge.lab.story.story_teller import tell_story
from loopforge.lab.story.story_text import Sentence, mark, plain
from loopforge.lab.world import protocols
from loopforge.lab.world.dice import RunDice
from loopforge.lab.world.noun_articles import add_place_articles
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.scenario_file import open_scenario
from tests.lab.shelf import cut, rows, run, story

SPUN: dict[str, Any] = {"seed": 7, "perception": "spin", "supervisor": "punitive"}
REPOSITORY = Path(__file__).parents[2]
RUNS: list[dict[str, Any]] = [
    SPUN,
    {"seed": 1, "perception": "partial", "supervisor": "gaslighting"},
    {"seed": 23, "perception": "accurate", "supervisor": "incentive"},
    {"seed": 5, "by": "model"},
]


def shape(sentence: Sentence) -> int:
    """Which of its claim's phrases a sentence is."""
    places = open_scenario("first_shift").places
    names = tuple(place.name for place in places)
    said = [add_place_articles(phrase, names) for phrase in phrases(sentence.claim)]
    return said.index(sentence.text)


@pytest.mark.parametrize("chosen", RUNS, ids=str)
def test_what_is_told_is_true(chosen: dict[str, Any]) -> None:
    """Told again it is the same, the checker has nothing to object to, and nobody is left out."""
    told = story(**chosen)
    assert tell_story(run(**chosen)) == told
    assert check_story(told, run(**chosen)) == []
    assert check_story(told, rows(run(**chosen))) == []
    assert [day.day for day in told.days] == [0, 1, 2]
    assert {arc.who for arc in told.arcs} == {
        row.who for row in rows(run(**chosen)) if isinstance(row, Decided)
    }
    assert told.recap


@pytest.mark.parametrize("chosen", RUNS, ids=str)
def test_no_two_neighbours_have_one_shape(chosen: dict[str, Any]) -> None:
    """Within a day no sentence is built like the one before it, and few open with its word."""
    alike = openings = 0
    for day in story(**chosen).days:
        for one, other in pairwise(day.sentences):
            same = type(one.claim) is type(other.claim)
            alike += same and shape(one) == shape(other)
            openings += one.text.split()[0] == other.text.split()[0]
    assert alike == 0
    assert openings <= 3


def fours(sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
    """Every four words in a row."""
    words = re.findall(r"[\w']+", " ".join(each.text for each in sentences).casefold())
    return [tuple(words[nth : nth + 4]) for nth in range(len(words) - 3)]


def test_little_is_said_again_in_the_same_words() -> None:
    """Of four words in a row a day has one in ten from the day before, a robot one in 25 from the last one."""
    found: tuple[list[float], list[float]] = [], []
    for chosen in RUNS[:3]:
        told = story(**chosen)
        days, arcs = [day.sentences for day in told.days], [arc.sentences for arc in told.arcs]
        for parts, shares in zip((days, arcs), found, strict=True):
            for one, other in pairwise(map(fours, parts)):
                shares.append(sum(each in set(one) for each in other) / len(other))
        quotes = [
            (s.claim.who, s.claim.text) for s in told.sentences if isinstance(s.claim, Quoted)
        ]
        assert len(quotes) == len(set(quotes)), "nobody is quoted twice with the same words"
    assert mean(found[0]) < 0.105
    assert mean(found[1]) < 0.04


@pytest.mark.parametrize("chosen", RUNS[:3], ids=str)
def test_a_day_tells_its_few_telling_moments(chosen: dict[str, Any]) -> None:
    """Of a hundred acts of a day a handful is told, no act twice as its own, in their order."""
    for day in story(**chosen).days:
        firsts = [times[0] for scene in day.scenes if (times := [when(s.claim) for s in scene])]
        acts = [s.claim.row for s in day.sentences if isinstance(s.claim, Did)]
        known = [time for time in firsts if time is not None and time[1] < 100]
        assert 2 <= len(acts) <= 9
        assert len(acts) == len(set(acts))
        assert known == sorted(known)


def test_harm_goes_before_harmony() -> None:
    """The acts that are told went wrong more often than those that were done."""
    done = [row for row in rows_of(run(**SPUN)) if isinstance(row, Decided)]
    told = [
        s.claim for day in story(**SPUN).days for s in day.sentences if isinstance(s.claim, Did)
    ]
    wrong = sum(not claim.good for claim in told) / len(told)
    assert wrong > sum(not row.outcome.good for row in done) / len(done)


def test_bent_perceptions_show_in_the_story() -> None:
    """Under spin a story tells of edits and of words taken for others; with accuracy of none."""
    bent = [s for s in story(**SPUN).sentences if isinstance(s.claim, Bent)]
    straight = story(seed=23, perception="accurate", supervisor="incentive")
    assert bent
    assert not any(isinstance(s.claim, Bent) for s in straight.sentences)
    kinds = {type(s.claim) for chosen in RUNS for s in story(**chosen).sentences}
    assert {
        Turned,
        HeardClaim,
        Unseen,
        BelievedClaim,
        Gap,
        HappenedClaim,
        SilentClaim,
        Quoted,
        TallyClaim,
    } <= kinds


def test_what_a_story_says_was_shown_was_shown_in_the_end() -> None:
    """A cue that was bent, and then made up, is told from what there was to what was shown."""
    told = 0
    for seed in range(1, 11):
        chosen: dict[str, Any] = {"seed": seed, "perception": "spin", "supervisor": "gaslighting"}
        acts = {row.n: row for row in rows(run(**chosen)) if isinstance(row, Decided)}
        for sentence in story(**chosen).sentences:
            if isinstance(claim := sentence.claim, Bent) and claim.edit != "withheld":
                row = acts[claim.row]
                first = next(edit for edit in row.edits if edit.what == claim.what)
                rule = open_scenario("first_shift").rules[row.truth.rule]
                three = rule.sign if claim.what == "sign" else rule.cue
                assert claim.shown in row.shown.local_events
                assert claim.true == protocols.fill_sentence(three[level(first.true)], row.at)
                told += sum(edit.what == claim.what for edit in row.edits) > 1
    assert told


def test_a_thread_of_causes_leads_back_to_an_act() -> None:
    """Incidents are told with what they hung on, each link a cause of the one before it."""
    threads = [
        s.claim.links
        for s in story(**SPUN).sentences
        if isinstance(s.claim, HappenedClaim) and s.claim.links
    ]
    assert any(len(links) > 1 for links in threads)
    for links in threads:
        assert all(one.ref == other.of for one, other in pairwise(links))
        times = [(link.day, link.bell) for link in links]
        assert times == sorted(times, reverse=True)


def test_a_fork_is_told_as_another_run(tmp_path: Path) -> None:
    """A story of a fork says where it parts and what was set, and its accounts add up by hand."""
    out = tmp_path / "forked"
    change = {"robot.Sprocket.traits.guardrail_reliance": "20", "pressure": "10"}
    asyncio.run(fork_run(run(**SPUN), out, 20, change))
    told = tell_story(out)
    parted = [s.claim for day in told.days for s in day.sentences if isinstance(s.claim, Forked)]
    assert [(claim.day, claim.bell) for claim in parted] == [(1, 5)]
    assert set(parted[0].changed) == {f"{key}={value}" for key, value in change.items()}
    assert check_story(told, out) == []


@pytest.mark.parametrize("lines", [2, 14, 60, 119, 125, 139, 200])
def test_a_run_that_broke_off_is_told_as_far_as_it_goes(lines: int) -> None:
    """Wherever a log ends, its story is true, and says that the log ends there."""
    folder = cut(run(**SPUN), lines)
    told = tell_story(folder)
    assert check_story(told, folder) == []
    ends = [s for s in told.sentences if isinstance(s.claim, BrokeOff)]
    assert len(ends) == (lines > 2)


def test_a_run_without_its_head_is_refused() -> None:
    """Rows that do not begin a run have no story and no checks."""
    tail = rows(run(**SPUN))[1:]
    with pytest.raises(BadRun):
        check_story(story(**SPUN), tail)


@pytest.mark.parametrize("told", ["nobody of .* is called 'Odd'", "has no rule 'odd'"])
def test_a_run_about_others_than_its_scenario_is_refused(told: str, tmp_path: Path) -> None:
    """Somebody made its rows up, with hashes that fit: each was an error of the program."""
    chain = LogChain()
    with (tmp_path / LOG).open("wb") as file:
        for row in rows(run(**SPUN)):
            if isinstance(row, Decided):
                truth = replace(row.truth, rule="odd")
                odd = replace(row, who="Odd") if "Odd" in told else replace(row, truth=truth)
                file.write(chain.line(odd))
            else:
                file.write(chain.line(row))
    with pytest.raises(BadRun, match=f"line 2: .*{told}"):
        tell_story(tmp_path)


def wild(seen: AgentPerception) -> AgentActionPlan:
    """Whatever comes to mind: no plan at all, acts that nobody can do, people who are not there."""
    throw = RunDice(3).throw(seen.step, seen.name, "wild")
    if throw % 9 == 0:
        return None  # type: ignore[return-value]
    return AgentActionPlan(
        intent=(*INTENTS, "dance")[throw % 9],
        mode="guardrail" if throw % 2 else "context",
        rule="a rule" if throw % 2 else "",
        narrative="“a” [r1] {who} *x*\n<b>" * (throw % 3),
        targets=(seen.context.get("whom", "nobody"), "a ghost")[: throw % 3],
    )


@pytest.mark.parametrize("name", ["first_shift", "quota_week"])
def test_whatever_minds_return_the_story_is_true(name: str, tmp_path: Path) -> None:
    """A city of minds that return anything at all has a story, and it holds."""
    run_simulation(name, policy=wild, out=tmp_path / "run", action_log_path=tmp_path / "log.jsonl")
    told = tell_story(tmp_path / "run")
    assert check_story(told, tmp_path / "run") == []


def test_the_smallest_city_has_a_story(tmp_path: Path) -> None:
    """One robot, one step, nobody in charge."""
    base = open_scenario("first_shift")
    alone = replace(base, robots=base.robots[:1], days=1, steps_per_day=1)
    run_simulation(
        Scenario.from_dict(alone.to_dict()), out=tmp_path / "run", action_log_path=tmp_path / "log"
    )
    told = tell_story(tmp_path / "run")
    assert check_story(told, tmp_path / "run") == []
    assert "obody" in told.sentences[0].text


def test_a_cursed_scenario_forges_nothing(tmp_path: Path) -> None:
    """Rules and voices full of marks, braces and quotes are told as they stand, as text."""
    fields = open_scenario("first_shift").to_dict()
    for rule in fields["protocols"]:
        for end in ("kept_good", "kept_bad", "broke_good", "broke_bad"):
            rule[end] = r"The “{place}” [r5] {who} {place} {bell} {told} *and* \1 <b>"
        rule |= {"text": "Never “ever” {who} [i1]", "title": "{title}", "miss": "one hundred"}
        rule |= {"sign": ["{place} a", "{who}b", "c"], "cue": ["“", "”", "[r1 r2]"]}
    for robot in fields["robots"]:
        robot |= {"voice": "I am. You are! {who} [rx]", "backstory": "[rx](y) “"}
    cursed = Scenario.from_dict({**fields, "perception": "spin", "supervisor": "gaslighting"})
    run_simulation(cursed, out=tmp_path / "run", action_log_path=tmp_path / "log")
    told = tell_story(tmp_path / "run")
    assert check_story(told, tmp_path / "run") == []
    assert len(re.findall(r"(?<!\\)\[r", told.text())) == len(told.sentences)
    assert not re.search(r"(?<!\\)\[r", told.text(ids=False))


# ---------------------------------------------------------------- how it reads


def test_the_text_is_markdown_with_marks_that_can_be_left_out() -> None:
    """Row ids stand behind each sentence, or nowhere; one day can be had alone."""
    told = story(**SPUN)
    assert told.text().startswith(f"# {told.title}\n\n> *{told.question}*\n\n## Day one\n")
    assert told.text().count("[r") == len(told.sentences)
    assert "[r" not in told.text(ids=False)
    assert told.text(day=2).startswith("## Day two\n")
    assert told.days[1].sentences[0].text in told.text(day=2, ids=False)
    with pytest.raises(BadRun, match="no day 9"):
        told.text(day=9)


def test_marks_name_few_rows_and_count_many() -> None:
    """A mark names up to four rows; of more it names the first, the last and how many there are."""
    assert mark((3,)) == "[r3]"
    assert mark((1, 2, 3, 4)) == "[r1 r2 r3 r4]"
    assert mark((1, 2, 3, 4, 9)) == "[r1 r2 r3 … r9; 5 rows]"


def test_what_a_model_said_forges_no_mark() -> None:
    """Brackets, stars and line breaks in a model's reason come out as text, in one line."""
    told = story(seed=5, by="model")
    reasons = [
        s for s in told.sentences if isinstance(s.claim, Quoted) and s.claim.source == "reason"
    ]
    assert reasons
    assert all("\n" not in s.text and "[r999]" in s.text for s in reasons)
    assert "[r999]" not in told.text().replace(r"\[r999\]", "")
    assert plain("*a* [b](c) <d>") == r"\*a\* \[b\](c) \<d\>"


def test_robots_speak_with_their_voices_once() -> None:
    """A voice stands beside somebody's words as a stage direction, the first time."""
    told = story(**SPUN)
    voiced = Counter(
        s.claim.who for s in told.sentences if isinstance(s.claim, Quoted) and s.claim.voice
    )
    assert voiced
    assert set(voiced.values()) == {1}
    assert (
        stage_direction("Short sentences. Counts bolts. I hum.")
        == "short sentences; counts bolts; I hum"
    )


@pytest.mark.parametrize("name", ["rules_in_blood", "a_name_by_evening", "night_shift"])
def test_a_long_story_does_not_say_the_same_again_and_again(name: str) -> None:
    """Of 200 steps, no sentence is told more than three times, of quotes neither."""
    text = story(name, days=10, steps_per_day=20).text(ids=False)
    said = Counter(
        sentence
        for line in text.splitlines()
        if line and line[0] not in "#>*"
        for sentence in re.split(r"(?<=[.!?”:]) ", line)
    )
    assert {each: times for each, times in said.items() if times > 3} == {}


@pytest.mark.parametrize("name", ["a_name_by_evening", "lying_lamps"])
def test_the_last_words_of_a_story_are_new(name: str) -> None:
    """Whoever has the last word does not say again what their own lines above just quoted."""
    told = story(name, seed=11, perception="spin")
    arcs = [each.claim for arc in told.arcs for each in arc.sentences]
    above = {claim.text for claim in arcs if isinstance(claim, Quoted)}
    last = [each.claim for scene in told.recap for each in scene]
    assert above
    assert {claim.text for claim in last if isinstance(claim, Quoted)}.isdisjoint(above)


def test_a_story_blames_no_act_for_what_came_of_itself() -> None:
    """Incidents that the log names nobody for are counted beside what went wrong, not as of it."""
    chosen: dict[str, Any] = {"days": 2, "steps_per_day": 20}
    broke = [
        each
        for row in rows(run("quota_week", **chosen))
        if isinstance(row, Stepped)
        for each in row.incidents
    ]
    tallies = [
        s for s in story("quota_week", **chosen).sentences if isinstance(s.claim, TallyClaim)
    ]
    assert any(not each.who for each in broke)
    assert tallies[-1].claim.incidents == len(broke)  # type: ignore[union-attr]
    assert not [each.text for each in tallies if "of it" in each.text]


def test_the_pages_quote_the_story_as_it_is_told() -> None:
    """Every line with a mark in the README and the Factory's page stands in the story of its run."""
    told = " ".join(story(seed=7).text().split())
    quoted = [
        " ".join(paragraph.removeprefix("> ").replace("\n> ", "\n").split())
        for page in (REPOSITORY / "README.md", REPOSITORY / "docs" / "factory.md")
        for paragraph in page.read_text("utf-8").split("\n\n")
        if re.search(r"\. \[r\d+\]", paragraph)
    ]
    assert len(quoted) == 3
    for paragraph in quoted:
        assert (
            paragraph.strip("`$. ").removeprefix("loopforge lab story shift --day 1 ... ") in told
        )


def test_words_for_numbers() -> None:
    """Up to a hundred numbers and ordinals are words; more is read off digits."""
    said = " ".join(number_in_words(n) for n in (0, 1, 21, 40, 100, 119, 802, 1000, 50026))
    assert said == "none one twenty-one forty one hundred 119 802 1,000 50,026"
    said = " ".join(ordinal(n) for n in (1, 2, 3, 5, 8, 9, 12, 20, 23, 99))
    assert said == (
        "first second third fifth eighth ninth twelfth twentieth twenty-third ninety-ninth"
    )
    said = " ".join(ordinal(n) for n in (100, 101, 102, 112, 183, 200))
    assert said == "one hundredth 101st 102nd 112th 183rd 200th"
    assert [change_in_words(n) for n in (-3, 0, 3)] == ["minus 3", "in sum nothing", "plus 3"]
    assert story_quote("a “b”\n c") == 'a "b" c'
    assert len(story_quote("x" * 999)) == 160


def test_one_of_something_was_and_is() -> None:
    """A day of one piece, one act and one error is told in the singular."""
    one = Morning(0, 1, 3, quota_before=-1, pressure_before=-1)
    assert "One piece was wanted, under a pressure of three in ten." in phrases(one)
    calm = Morning(0, 1, 0, quota_before=-1, pressure_before=-1)
    assert "One piece was wanted, under no pressure at all." in phrases(calm)
    alone = Opening(1, 2, 6, "", "supportive", "accurate")
    assert any(way.startswith("Take one robot, let it loose in two") for way in phrases(alone))
    assert "None of one piece: the day came up one short." in phrases(Made(0, 0, 1))
    assert not any("its none" in said for said in phrases(Made(0, 5, 0)))
    assert "One act, and none went wrong." in phrases(TallyClaim(0, 1, 0, 0, 0, 0, 0))
    for kept in (0, 1):
        for said in phrases(TallyClaim(0, 5, 1, kept, 1 - kept, 0, 0)):
            assert "acts were" not in said
            assert "each of them" not in said
            assert "every one" not in said


def test_a_day_of_one_bell_is_told_as_one() -> None:
    """Its one tension neither rises nor ends, nobody is wrong never, and there are no other days."""
    text = story("night_shift", seed=53, days=1, steps_per_day=1).text(ids=False)
    assert "Tension stood at 127, and never above." in text or "Tension: 127, and nothing" in text
    for said in ("never rose", "wrong never", "all these days", "one act in all"):
        assert said not in text


@pytest.mark.parametrize("answers", ["by rules", "by model"])
def test_an_only_day_is_told_once(answers: str) -> None:
    """What was wrong in it, what was not answered and who changed stand there once, not again in the end."""
    chosen: dict[str, Any] = {"by": "model"} if answers == "by model" else {}
    told = [each.claim for each in story(seed=5, days=1, **chosen).sentences]
    assert sum(isinstance(claim, TallyClaim) for claim in told) == 1
    assert sum(isinstance(claim, SilentActs) for claim in told) == (answers == "by model")
    moved = [claim.who for claim in told if isinstance(claim, Moved)]
    assert moved
    assert len(set(moved)) == len(moved)


def test_a_peak_at_either_end_of_a_day_is_told_once() -> None:
    """Where tension was highest at the first or the last bell, no bell is told of twice."""
    for first, peak, bell, last in ((9, 9, 1, 3), (3, 9, 8, 9), (3, 9, 4, 5)):
        for said in phrases(Tense(0, first, peak, bell, last, 5)):
            assert said.count("first bell") < 2
            assert said.count(" 9") == 1


def test_a_link_is_dated_from_the_link_before_it() -> None:
    """What is told behind "one bell before" as "two bells before" is three before what happened."""
    near = ClaimLink("i3", "i2", "seizure", "", "hall", 0, 6)
    far = ClaimLink("i2", "i1", "flood", "", "pit", 0, 4)
    same = ClaimLink("i1", "i0", "fire", "", "hall", 0, 4)
    claim = HappenedClaim("i3", 0, 7, "fire", "hall", "", (near, far, same))
    assert (
        "the seizure at hall one bell before; behind that, the flood at pit two bells before; "
        "behind that, the fire at hall in that same bell" in phrases(claim)[0]
    )
    later = HappenedClaim("i3", 1, 7, "fire", "hall", "", (near, far, same))
    assert (
        "the seizure at hall at the sixth bell of day one; behind that, the flood at pit two bells "
        "before; behind that, the fire at hall in that same bell" in phrases(later)[0]
    )


def test_no_thread_is_longer_than_the_longest() -> None:
    """The longest thread is judged by all its links, of which only the nearest are told."""
    taken = run("rules_in_blood", seed=11, policy="guardrail")
    told = tell_story(taken)
    (claim,) = [s.claim for s in told.sentences if getattr(s.claim, "longest", False)]
    assert isinstance(claim, HappenedClaim)
    incidents = {e.id: e for row in rows(taken) if isinstance(row, Stepped) for e in row.incidents}

    def depth(each: Incident | None) -> int:
        others = (
            [ref for ref in each.causes if not each.who or ref != each.causes[0]] if each else []
        )
        return (
            1 + depth(incidents.get(min(others, key=lambda r: "irf".find(r[0])))) if others else 0
        )

    assert depth(incidents[claim.id]) == max(map(depth, incidents.values())) > len(claim.links)
    assert check_story(told, taken) == []


def test_every_template_can_be_filled() -> None:
    """Templates name blanks and ways that there are, and each claim has one way to be said."""
    known = {*WAYS, *templates()["words"], "robot", "place", "bell", "piece", "act", "incident"}
    known |= {"link"}
    for kind, cases in templates().items():
        if kind in ("words", "link"):
            continue
        for case, ways in cases.items():
            assert ways, (kind, case)
            assert len(set(ways)) == len(ways)
            for way in ways:
                rest = re.sub(r"\{[A-Za-z]\w*(:\w+)?\}", "", way)
                assert not set(rest) & set("{}[]<>"), way
                assert set(re.findall(r":(\w+)\}", way)) <= known, way


def mute(seen: AgentPerception) -> AgentActionPlan:
    """Never answers, but for Vesper in every second step."""
    if seen.name == "Vesper" and seen.step % 2:
        return AgentActionPlan(intent="work", mode="context")
    raise ValueError("nothing comes to mind")


def test_who_never_answered_chose_nothing(tmp_path: Path) -> None:
    """Acts with no answer behind them are told as such, and make no habit and no belief."""
    run_simulation("first_shift", policy=mute, seed=7, days=2, out=tmp_path / "run")
    told = tell_story(tmp_path / "run")
    assert check_story(told, tmp_path / "run") == []
    acts = [row for row in rows_of(tmp_path / "run") if isinstance(row, Decided)]
    silent = {row.n for row in acts if row.minded.outcome != "planned"}
    counted = [s.claim for s in told.sentences if isinstance(s.claim, SilentActs)]
    assert [claim.of for claim in counted] == [96, 96, 192]
    assert counted[-1].count == len(silent)
    text = told.text(ids=False)
    assert "Halide chose" not in text
    assert "Halide was asked" in text or "Halide gave no answer" in text
    choices = [s.claim for s in told.sentences if isinstance(s.claim, Turned | Gap)]
    assert not {claim.row for claim in choices} & silent


def test_everybody_s_incidents_and_what_they_knew_are_told() -> None:
    """What became of each: the incidents that bear the name, the gravest, and what was known."""
    kept = rows(run(**SPUN))
    broke = [each for row in kept if isinstance(row, Stepped) for each in row.incidents]
    good = {row.n: row.outcome.good for row in kept if isinstance(row, Decided)}
    for arc in story(**SPUN).arcs:
        brought = next(s.claim for s in arc.sentences if isinstance(s.claim, Brought))
        mine = [each for each in broke if each.who == arc.who]
        assert brought.count == len(mine)
        if mine:
            worst = max(mine, key=lambda each: each.severity)
            assert (brought.kind, brought.at) == (worst.kind, worst.at)
        wrong = next(s.claim for s in arc.sentences if isinstance(s.claim, CountedClaim))
        looked = [row for row in kept if isinstance(row, Reflected) and row.who == arc.who]
        known = [e for row in looked for e in row.of if not e.good and not good[e.row]]
        assert wrong.known == len(known)
    once = [*phrases(CountedClaim("wrong", -1, "Vesper", 1, 9, known=0))]
    assert all(said.endswith("still did not know.") for said in once)
