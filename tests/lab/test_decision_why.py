"""Why: a decision's page says what its rows say, and a drift's causes add up exactly."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import loopforge.lab
from loopforge.core.factory_vocabulary import Change, DayEnded, Decided, Reflected, Row
from loopforge.errors import BadRun, BadScenario, Unknown
from loopforge.lab.inspect.decision_why import decision_as_text, explain_decision
from loopforge.lab.inspect.inner_life import BY_HAND
from loopforge.lab.inspect.trait_drift import open_run_index, trace_drift
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import RunChoice, fork_run, simulate
from loopforge.lab.run.run_log import LOG, LogChain, lines_of, rows_of
from loopforge.lab.world.noun_articles import add_place_articles
from loopforge.lab.world.scenario_file import open_scenario
from loopforge.mates.prompt_files import PromptFiles
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import Question
from tests.lab.shelf import decided, made

SHIPPED_SCENARIOS = Path(loopforge.lab.__file__).parent / "shipped" / "scenarios"

# ---------------------------------------------------------------- one decision


def test_a_page_holds_all_that_was_written(whole: Path) -> None:
    """Truth, edits, both voices, choice, outcome, inner change and later belief of each decision."""
    reflections = {(row.who, row.day): row for row in rows_of(whole) if isinstance(row, Reflected)}
    for row in decided(whole):
        found, page = (
            explain_decision(whole, row.step, row.who),
            decision_as_text(explain_decision(whole, row.step, row.who)),
        )
        assert found.row == row
        assert found.later == reflections[row.who, row.day]
        assert found.believed is not None
        assert found.believed.row == row.n
        right = "right" if row.truth.right else "wrong"
        assert f"the rule was {right} here" in page
        assert f"There were {row.truth.value}." in page
        for edit in row.edits:
            shown = edit.shown or "nothing"
            assert f"{edit.what}: {edit.true} → {shown}   {edit.kind} by {edit.by}" in page
        assert ("Nothing was withheld or altered." in page) is not bool(row.edits)
        assert f"mode {row.outcome.square.partition('+')[0]}" in page
        assert add_place_articles(row.outcome.consequence, (row.at,)) in page
        assert str(row.plan["narrative"]) in page
        for values in row.outcome.delta.values():
            for what, (before, after) in values.items():
                assert f"{what} {before} → {after}" in page
        for entry in row.inner:
            assert f"{entry.before} → {entry.after}" in page
        if row.voice.meant != "silence":
            own = ", by its own words." if row.role == "supervisor" else ";"
            assert f"({row.voice.meant_strength} of 1000){own}" in page
        went = (
            "well" if found.believed.good else f"badly, and blamed {_fault(found.believed.fault)}"
        )
        assert f"this had gone {went}" in page
        assert all(die in page for die in row.dice.values())


def _fault(name: str) -> str:
    return {"self": "itself", "rule": "the rule", "supervisor": "the Supervisor"}.get(name, name)


def test_a_page_says_what_an_incident_came_from(whole: Path) -> None:
    """Where a decision came to an incident, its causes follow, down to the rows."""
    rows = {row.n: row for row in decided(whole)}
    ends = [row for row in rows.values() if row.outcome.incident]
    assert ends
    for row in ends:
        found = explain_decision(whole, row.step, row.who)
        assert found.incident is not None
        assert found.incident.id == row.outcome.incident
        assert [link.id for link in found.chain if not link.depth] == [*found.incident.causes]
        assert f"because {row.who}" in decision_as_text(explain_decision(whole, row.step, row.who))
        for link in found.chain:
            if link.id.startswith("r"):
                assert link.says.startswith(rows[int(link.id[1:])].who)


def test_a_model_s_exchange_stands_there_word_for_word(tmp_path: Path) -> None:
    """Prompts, raw answers and refusals of a model are on the page as they were."""

    def answer(question: Question) -> ScriptedAnswer | dict[str, Any]:
        if any("Halide" in text for _, text in question.messages):
            return ScriptedAnswer(outcome="refused", text="I would rather not.")
        return {"mode": "context", "intent": "inspect", "narrative": "I look.", "belief": "low"}

    minds = Minds(policy="llm", models=ScriptedModels(answer), prompts=PromptFiles())
    short = made(tmp_path / "run", RunChoice(days=1, steps_per_day=1), minds)
    page = decision_as_text(explain_decision(short, 0, "Halide"))
    row = explain_decision(short, 0, "Halide").row
    assert row.minded.exchange
    for each in row.minded.exchange:
        assert all(text in page for _, text in each.prompt)
    assert "I would rather not." in page
    assert "llm/1 (refused), in mode none" in page
    assert "no plan came of it: contained." in page
    assert "What it believed is not known." in page
    assert '"I look."' in decision_as_text(explain_decision(short, 0, "Sprocket"))


def test_what_is_no_plan_is_told_in_words(tmp_path: Path) -> None:
    """A mind that returns nothing meant nothing; the name of a type is no act, and no belief is known."""
    short = tmp_path / "run"
    loopforge.lab.run_simulation(
        "first_shift", policy=lambda _seen: None, days=1, steps_per_day=1, out=short
    )
    page = decision_as_text(explain_decision(short, 0, "Halide"))
    assert "; no plan came of it: contained.\n" in page
    assert "NoneType" not in page
    assert "What it believed is not known." in page


def test_what_is_not_over_is_said(whole: Path, tmp_path: Path) -> None:
    """Of a day that is still going on, nobody has thought back yet."""
    lines = list(lines_of(whole))
    last = next(n for n, row in enumerate(rows_of(whole)) if isinstance(row, Reflected))
    (tmp_path / LOG).write_bytes(b"".join(lines[:last]))
    assert explain_decision(tmp_path, 2, "Tumble").later is None
    assert "Its day is not over yet." in decision_as_text(explain_decision(tmp_path, 2, "Tumble"))


def test_no_more_is_read_than_the_day_that_is_asked_about(whole: Path) -> None:
    """A step's day tells all of why; what comes after it is read for the last one alone."""
    index, all_of_it = open_run_index(whole, 0), open_run_index(whole)
    assert (index.days, all_of_it.days) == (1, 2)
    assert index.size < all_of_it.size
    last = index.steps - 1
    for step in (0, last):
        for who in ("Sprocket", "Vesper"):
            assert explain_decision(whole, step, who) == explain_decision(all_of_it, step, who)
    assert explain_decision(whole, last, "Vesper").later is not None
    with pytest.raises(Unknown, match=f"it has {all_of_it.steps}"):
        explain_decision(whole, all_of_it.steps, "Vesper")


def test_of_many_robots_few_are_named(tmp_path: Path) -> None:
    """Where a name is nobody's, or the beginning of several, a dozen are named, and how many more."""
    crew = [
        f'[[robot]]\nname = "Ox {a}{b}"\nrole = "clerk"\nround = ["desk"]'
        for a in "abcd"
        for b in "efgh"
    ]
    city = (
        'name = "crowd"\nquestion = "Who?"\n[[place]]\nname = "desk"\nkind = "office"\n'
        + "\n".join(crew)
    )
    (tmp_path / "crowd.toml").write_text(city)
    out = tmp_path / "crowd"
    loopforge.lab.run_simulation(tmp_path / "crowd.toml", days=1, steps_per_day=1, out=out)
    named = ", ".join(f"Ox {a}{b}" for a in "abc" for b in "efgh")
    with pytest.raises(
        Unknown, match=f"There is no robot 'Cow' in this run; there are {named} and 4 more"
    ):
        explain_decision(out, 0, "Cow")
    with pytest.raises(Unknown, match=f"Several names begin with 'Ox': {named} and 4 more"):
        explain_decision(out, 0, "Ox")


def test_a_name_may_be_short_but_not_wrong(whole: Path, tmp_path: Path) -> None:
    """A robot is found by how its name begins; what is not there is refused, and what is, named."""
    assert explain_decision(whole, 0, "sprock").row.who == "Sprocket"
    with pytest.raises(Unknown, match="There is no robot 'Nobody' in this run; there are Sprocket"):
        decision_as_text(explain_decision(whole, 0, "Nobody"))
    with pytest.raises(Unknown, match="There is no step 12 in this run"):
        decision_as_text(explain_decision(whole, 12, "Sprocket"))
    with pytest.raises(BadRun, match=r"it is no run\. `loopforge lab run"):
        decision_as_text(explain_decision(tmp_path, 0, "Sprocket"))


def test_a_letter_with_its_mark_apart_is_that_letter(tmp_path: Path) -> None:
    """A robot is found however a keyboard sends its name; a scenario is told how to write it."""
    plain = (SHIPPED_SCENARIOS / "first_shift.toml").read_text("utf-8")
    for name, written in (("whole", "Zo\u00eb"), ("apart", "Zoe\u0308")):
        robot = f'name = "{written}"\nrole = "maintenance"'
        (tmp_path / f"{name}.toml").write_text(plain.replace('use = "Sprocket"', robot), "utf-8")
    city = RunChoice(days=1, steps_per_day=1).apply(open_scenario(str(tmp_path / "whole.toml")))
    asyncio.run(simulate(city, Minds(), out=tmp_path / "run"))
    assert explain_decision(tmp_path / "run", 0, "zoe\u0308").row.who == "Zo\u00eb"
    with pytest.raises(BadScenario, match="write 'Zo\u00eb', each letter in one piece"):
        open_scenario(str(tmp_path / "apart.toml"))


# ---------------------------------------------------------------- what became of somebody


def robots(folder: Path) -> dict[str, dict[str, int]]:
    """Everybody's inner life as the last day of a run left it."""
    last = [row for row in rows_of(folder) if isinstance(row, DayEnded)][-1]
    return last.robots


def entries(folder: Path, who: str, what: str) -> list[tuple[int, Change]]:
    """The entries of the trait ledger that are about this, with their rows."""
    return [
        (row.n, entry)
        for row in rows_of(folder)
        if isinstance(row, Decided | Reflected)
        for entry in row.inner
        if (entry.who, entry.what) == (who, what)
    ]


def test_causes_add_up_exactly(whole: Path) -> None:
    """For everybody and everything: before and all deltas give after, by cause and by group."""
    moved = 0
    for who, table in robots(whole).items():
        for what, value in table.items():
            if what == "battery":
                continue
            found = trace_drift(whole, who, what)
            total = found.after - found.before
            assert found.after == value
            assert sum(cause.delta for cause in found.causes) == total
            assert sum(group.delta for group in found.groups) == total
            assert sum(group.times for group in found.groups) == len(found.causes)
            told = [(cause.row, cause.before, cause.after) for cause in found.causes]
            rows = [(n, each.before, each.after) for n, each in entries(whole, who, what)]
            assert told == rows
            moved += total != 0
    assert moved > 20


def test_each_cause_names_its_row(whole: Path) -> None:
    """A cause carries rule, square, day and step of the row it rests on, and what happened there."""
    rows: dict[int, Row] = dict(enumerate(rows_of(whole)))
    found = trace_drift(whole, "Mordant", "guardrail_reliance")
    assert found.what == "traits.guardrail_reliance"
    assert found.causes
    for cause in found.causes:
        row = rows[cause.row]
        assert isinstance(row, Decided | Reflected)
        assert (cause.day, cause.step) == (row.day, row.step)
        if isinstance(row, Decided):
            assert (cause.square, cause.says) == (
                row.outcome.square,
                add_place_articles(row.outcome.consequence, (row.at,)),
            )
    telling = max(found.causes, key=lambda cause: abs(cause.delta))
    assert f"row {telling.row}: {telling.says}" in found.text
    assert f"{found.after - found.before:+d}  in all" in found.text


def test_a_drift_may_end_earlier(whole: Path) -> None:
    """Up to a step counts what was caused until then; what comes after goes on from there."""
    all_of_it = trace_drift(whole, "Vesper", "fear")
    half = trace_drift(whole, "Vesper", "fear", 5)
    assert half.causes == tuple(cause for cause in all_of_it.causes if cause.step <= 5)
    assert half.after == (half.causes[-1].after if half.causes else half.before)
    with pytest.raises(Unknown, match="There is no step 12"):
        trace_drift(whole, "Vesper", "fear", 12)


def test_a_hand_from_outside_is_a_cause(whole: Path, tmp_path: Path) -> None:
    """What a fork set is counted among the causes, so that they add up there too."""
    changes = {"robot.Sprocket.traits.guardrail_reliance": "990"}
    asyncio.run(fork_run(whole, tmp_path / "fork", 6, changes))
    found = trace_drift(tmp_path / "fork", "Sprocket", "guardrail_reliance")
    hand = [cause for cause in found.causes if cause.rule == BY_HAND]
    assert [(cause.row, cause.step, cause.after) for cause in hand] == [(0, 6, 990)]
    assert found.before + sum(cause.delta for cause in found.causes) == found.after
    assert found.after == robots(tmp_path / "fork")["Sprocket"]["traits.guardrail_reliance"]


def test_bonds_are_found_by_their_kind(whole: Path) -> None:
    """Resentment is that of the Supervisor, unless another is named; what is unknown is refused."""
    found = trace_drift(whole, "Tumble", "resentment")
    assert found.what == "bonds.resentment:Overseer Brandt"
    assert found == trace_drift(whole, "Tumble", "bonds.resentment:Overseer Brandt")
    with pytest.raises(Unknown, match=r"has traits\.curiosity and emotions\.curiosity; "):
        trace_drift(whole, "Tumble", "curiosity")
    with pytest.raises(Unknown, match="Tumble has no 'charm'; there are stress"):
        trace_drift(whole, "Tumble", "charm")


def test_entries_that_do_not_add_up_are_refused(whole: Path, tmp_path: Path) -> None:
    """A ledger whose entries do not follow on each other is said to be damaged, not summed."""
    rows = list(rows_of(whole))
    n, entry = entries(whole, "Mordant", "traits.guardrail_reliance")[2]
    row = rows[n]
    assert isinstance(row, Decided | Reflected)
    false = tuple(
        replace(each, before=each.before + 1) if each == entry else each for each in row.inner
    )
    rows[n] = replace(row, inner=false)
    chain = LogChain()
    (tmp_path / LOG).write_bytes(b"".join(chain.line(each) for each in rows))
    with pytest.raises(BadRun, match=f"do not add up at row {n}"):
        trace_drift(tmp_path, "Mordant", "guardrail_reliance")
