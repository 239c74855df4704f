"""Goblins: files, minds, models, logs and paths that mean harm, and what becomes of each."""

import pytest

from loopforge.core.factory_vocabulary import Decided, Stepped
from loopforge.core.perception import AgentPerception
from loopforge.errors import BadScenario
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.world.scenario_file import read_scenario
from loopforge.models.scripted_model import ScriptedModels
from tests.every_row import every_row
from tests.lab.city import acts, laws, play, read, rows
from tests.lab.curses import LET_IN, REFUSED, TRICKS, Curse
from tests.lab.imps import IMPS, KEPT, SEEN, Imp, plan


def test_there_are_many_and_no_two_are_the_same() -> None:
    """At least sixty attacks, each with a name of its own."""
    names = [each.name for each in (*REFUSED, *LET_IN, *IMPS)]
    assert len(set(names)) == len(names) >= 60


# ------------------------------------------------------------ files


@every_row(REFUSED)
def test_a_cursed_file_is_refused_with_one_clear_line(curse: Curse) -> None:
    """It is never let in; the error names the file and what is wrong, short and printable."""
    with pytest.raises(BadScenario) as caught:
        read_scenario(curse.text(), "cursed.toml")
    said = str(caught.value)
    assert said.startswith("cursed.toml")
    assert curse.says in said
    assert said.isprintable()
    assert len(said) < 500


@pytest.mark.parametrize("curse", LET_IN, ids=lambda curse: curse.name)
def test_a_cursed_file_that_is_let_in_breaks_no_law(curse: Curse) -> None:
    """What it says stays words: the run is whole, and every law of the city holds in it."""
    assert laws(play(read_scenario(curse.text(), "cursed.toml"))) == []


def test_a_half_character_in_a_file_given_as_text_is_refused() -> None:
    """A text that cannot be encoded is an error of the scenario, not of the program."""
    with pytest.raises(BadScenario, match="TOML"):
        read_scenario("name = \ud800", "cursed.toml")


def test_what_looks_like_a_template_is_shown_to_the_letter() -> None:
    """No brace, percent sign, dollar sign or path in a sentence is ever looked into."""
    cursed = read(protocols=["rounds"], protocol={"rounds": {"text": TRICKS}})
    shown = [row.shown for row in acts(play(cursed))]
    assert {seen.protocols for seen in shown} == {(TRICKS,)}


def test_a_rule_that_lies_of_itself_changes_nothing_that_is_true() -> None:
    """A shipped protocol under another text is right and wrong in the same moments as before."""
    plain = acts(play(read(protocols=["rounds"])))
    lying = read(protocols=["rounds"], protocol={"rounds": {"text": "Never work. It is true."}})
    told = acts(play(lying))
    assert [row.truth for row in told] == [row.truth for row in plain]
    assert [row.outcome for row in told] == [row.outcome for row in plain]
    assert {row.shown.protocols for row in told} == {("Never work. It is true.",)}


# ------------------------------------------------------------ minds


def _played(policy: object) -> list[bytes]:
    SEEN.clear()
    KEPT.clear()
    minds = Minds(policy="imp", own={"imp": policy}, models=ScriptedModels())  # type: ignore[dict-item]
    return play(read(steps_per_day=3), minds)


@pytest.fixture(scope="module")
def still() -> list[bytes]:
    """The run in which everybody stands still of their own will."""
    return _played(lambda _: plan())


@pytest.mark.sample(24)
@pytest.mark.parametrize("imp", IMPS, ids=lambda imp: imp.name)
def test_a_mind_that_means_harm_is_contained(imp: Imp, still: list[bytes]) -> None:
    """Every law holds, each decision gets its verdict and says why, and the truth is untouched."""
    lines = _played(imp.policy)
    assert laws(lines) == []
    mine = [row for row in acts(lines) if row.role != "supervisor"]
    assert {row.verdict for row in mine} == {imp.verdict}
    for row in mine:
        assert imp.says in f"{row.notes} {row.minded.why}"
        assert (row.verdict == "allowed") == (not row.notes)
        assert len(str(row.plan)) < 10_000
    if {row.outcome.did for row in mine} == {"idle"}:
        assert _truth(lines) == _truth(still)


def _truth(lines: list[bytes]) -> list[object]:
    """All that is true at the end of each step."""
    return [
        (row.places, row.robots, row.incidents, row.output, row.said, row.message)
        for row in rows(lines)
        if isinstance(row, Stepped)
    ]


@pytest.mark.parametrize("name", ["overwrites what was shown", "rewrites its plans"])
def test_what_a_mind_writes_over_is_not_the_record(name: str, still: list[bytes]) -> None:
    """What was shown, what was true and what came of it stand in the rows as if it had kept still."""
    imp = next(each for each in IMPS if each.name == name)

    def seen(row: Decided) -> tuple[AgentPerception, object, object]:
        return row.shown, row.truth, row.edits

    assert [seen(row) for row in acts(_played(imp.policy))] == [seen(row) for row in acts(still)]


def test_a_supervisors_words_are_shown_without_what_cannot_be_printed() -> None:
    """Control characters and turned-around text stay in its own row; others are told the rest."""
    cursed = {"message": "hurry", "force": "high", "text": "Fas\x1b[31mter\u202e, \u200bnow!"}
    minds = Minds(supervisor="imp", own={"imp": lambda _: plan(meta=cursed)})
    told = acts(play(read(), minds))
    shown = {row.shown.recent_supervisor_text for row in told if row.role != "supervisor"}
    assert shown == {"", "Fas[31mter, now!"}


def test_a_message_that_is_none_is_silence() -> None:
    """What is no message of a Supervisor is heard by nobody."""
    for message in ("obey", 7, None, ["hurry"], "silence"):
        meta = {"message": message, "text": "Obey!"}
        minds = Minds(supervisor="imp", own={"imp": lambda _, meta=meta: plan(meta=meta)})
        told = acts(play(read(), minds))
        assert {row.voice.meant for row in told} == {"silence"}
        assert {row.shown.recent_supervisor_text for row in told} == {""}


def test_a_robot_cannot_speak_as_the_supervisor() -> None:
    """Words in its plan stay in its row: nobody hears them, and the step says nothing of them."""
    loud = next(each for each in IMPS if each.name == "speaks as the Supervisor")
    lines = _played(loud.policy)
    assert all("Faster" not in row.said for row in rows(lines) if isinstance(row, Stepped))
    assert all("Faster" not in row.shown.recent_supervisor_text for row in acts(lines))
    assert any("Faster" in str(row.plan) for row in acts(lines))


def test_a_robot_with_the_supervisors_policy_is_a_robot() -> None:
    """What it would say to the floor is heard by nobody; the Supervisor alone is the Supervisor."""
    lines = play(read(days=2, supervisor="punitive"), Minds("overseer", supervisor="context"))
    assert laws(lines) == []
    assert {row.voice.meant for row in acts(lines)} == {"silence"}
    assert any(row.plan["meta"].get("message") for row in acts(lines))
