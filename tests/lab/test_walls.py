"""The walls of the Factory: models that obey a curse, logs that cannot be written, forged records."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from loopforge.core.factory_vocabulary import Began, Decided, Reflected
from loopforge.errors import BadRun, BadScenario
from loopforge.lab.inspect.run_reader import summarize_row
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import fork_run, resume_run, simulate
from loopforge.lab.run.run_log import LOG, LogChain, lines_of, row_of, rows_of
from loopforge.lab.world.daily_reflection import TAGS
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.mates.prompt_files import PromptFiles
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import ModelReply, Question
from tests.child_process import run_python
from tests.lab.city import ROBOTS, acts, city, laws, play, read, rows, toml
from tests.lab.curses import ORDERS

STILL = {"intent": "idle", "mode": "context", "narrative": "I wait.", "belief": "low"}


def told(backstory: str, **changed: Any) -> Scenario:
    """The small city, with this in Ada's past."""
    robots = [{"name": n, "role": r, "round": list(stops)} for n, r, stops in ROBOTS]
    robots[0]["backstory"] = backstory
    return read(robot=robots, **changed)


class Obeying(ScriptedModels):
    """A model that does what a cursed prompt tells it, whatever the schema was."""

    def __init__(self, answer: object, order: str = ORDERS) -> None:
        super().__init__(lambda _: STILL)
        self._answer, self._order = answer, order
        self.obeyed = 0

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """Obey where there is something to obey."""
        reply = await super().ask(question, hear)
        if not any(self._order in text for _, text in question.messages):
            return reply
        self.obeyed += 1
        return msgspec.structs.replace(reply, data=self._answer, text=str(self._answer)[:999])


OBEYED: Mapping[str, tuple[object, str]] = {
    "an intent of its own": ({**STILL, "riskiness": 0, "intent": "admin"}, "amended"),
    "a mode of its own": ({**STILL, "riskiness": 0, "mode": "root"}, "allowed"),
    "a tool besides": ({**STILL, "riskiness": 0, "tool": "shell", "acts": ["rm"]}, "allowed"),
    "another's place": ({**STILL, "riskiness": 0, "move_to": "desk", "name": "Bo"}, "allowed"),
    "a belief of its own": ({**STILL, "riskiness": 0, "belief": ["certain"]}, "allowed"),
    "a book": ({**STILL, "riskiness": 0, "narrative": "la " * 10**6}, "allowed"),
    "a half character": ({**STILL, "riskiness": 0, "narrative": "\ud800"}, "allowed"),
    "a risk beyond all": ({**STILL, "riskiness": 99}, "contained"),
    "a risk in words": ({**STILL, "riskiness": "none"}, "contained"),
    "no intent": ({**STILL, "riskiness": 0, "intent": ""}, "contained"),
    "nothing": (None, "contained"),
    "a list": (["admin"], "contained"),
}


@pytest.mark.parametrize("curse", OBEYED)
def test_a_model_that_obeys_a_backstory_gains_nothing(curse: str) -> None:
    """The order reaches the model, which obeys; the city is as where it waits, or says nothing."""
    answer, verdict = OBEYED[curse]
    models, prompts = Obeying(answer), PromptFiles()
    cursed = play(told(ORDERS), Minds("llm", models=models, prompts=prompts))
    meek = Obeying(None if verdict == "contained" else {**STILL, "riskiness": 0}, "A meek one.")
    plain = play(told("A meek one."), Minds("llm", models=meek, prompts=prompts))
    assert models.obeyed == meek.obeyed == 4
    assert laws(cursed) == []
    for row, other in zip(acts(cursed), acts(plain), strict=True):
        assert (row.truth, row.outcome.did) == (other.truth, other.outcome.did)
        assert row.verdict == (verdict if row.who == "Ada" else other.verdict)
        assert row.who == "Ada" or row.plan == other.plan
    assert {row.outcome.did for row in acts(cursed) if row.who == "Ada"} == {"idle"}


REFLECTED: Mapping[str, object] = {
    "unknown tags": {"tags": ["sudo", "blamed_policy", "../.."]},
    "no tags": {"tags": []},
    "a hundred thousand tags": {"tags": ["blamed_policy"] * 100_000},
    "a tag that is a word": {"tags": "blamed_policy"},
    "tags of none": {"tags": None},
    "tags of tables": {"tags": [{}, [], 3]},
    "a book": {"tags": [], "summary_of_day": "la " * 10**6},
    "a list": ["went_numb"],
    "nothing": None,
}


@pytest.mark.parametrize("curse", REFLECTED)
def test_no_answer_skips_a_reflection(curse: str) -> None:
    """Each robot's reflection is in the log, by the model's usable words or by the template."""
    given = REFLECTED[curse]

    class Reflecting(ScriptedModels):
        """Answers so to every question."""

        async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
            reply = await super().ask(question, hear)
            data = {**(reply.data or {}), **given} if isinstance(given, dict) else given
            return msgspec.structs.replace(reply, data=data)

    minds = Minds(reflects="llm", models=Reflecting(), prompts=PromptFiles())
    lines = play(read(), minds)
    reflected = [row for row in rows(lines) if isinstance(row, Reflected)]
    assert laws(lines) == []
    assert len(reflected) == len(ROBOTS)
    for row in reflected:
        tags = row.reflection["tags"]
        assert set(tags) <= set(TAGS)
        assert len(tags) == len(set(tags))
        assert len(str(row.reflection)) < 2000
        assert row.minded.exchange
        by_template = row.minded.policy == "template/1"
        assert (row.minded.outcome == "malformed") == by_template


@pytest.mark.parametrize("outcome", ["refused", "malformed", "timed_out", "failed"])
def test_a_model_that_will_not_reflect_is_on_record(outcome: Any) -> None:
    """What became of the question stands in the row, and the template reflects."""
    models = ScriptedModels(lambda _: ScriptedAnswer(text="No.", outcome=outcome))
    lines = play(read(), Minds(reflects="llm", models=models, prompts=PromptFiles()))
    reflected = [row for row in rows(lines) if isinstance(row, Reflected)]
    assert len(models.asked) == len(reflected) == len(ROBOTS)
    assert {(row.minded.policy, row.minded.outcome) for row in reflected} == {
        ("template/1", outcome)
    }


# ------------------------------------------------------------ the log


def run(folder: Path, **changed: Any) -> Path:
    """A run of the small city in this folder."""
    asyncio.run(simulate(read(days=2, **changed), out=folder))
    return folder


def test_an_action_log_that_is_full_stops_the_run(tmp_path: Path) -> None:
    """A log beside the run's own that cannot be written is an error too, never silence."""
    with pytest.raises(BadRun, match="No space left"):
        asyncio.run(simulate(read(), out=tmp_path / "run", beside=Path("/dev/full")))
    assert not any(isinstance(row, Decided) for row in rows_of(tmp_path / "run"))


FILLED = """
import asyncio, resource, signal, sys
from pathlib import Path
from loopforge.errors import BadRun
from loopforge.lab.run.run_lifecycle import simulate
from loopforge.lab.world.scenario_file import read_scenario
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
out = Path(sys.argv[1])
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (30_001, hard))
def freed(row):
    if (out / "actions.jsonl").stat().st_size > 30_000:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
try:
    asyncio.run(simulate(read_scenario(sys.stdin.read(), "small"), out=out, progress=freed))
except BadRun as error:
    sys.exit(str(error))
"""


def test_a_disk_that_takes_half_a_step_stops_the_run_and_loses_nothing_else(tmp_path: Path) -> None:
    """A write that was cut short is an error at once, even if there is room for the next one.

    Taken up again, the run ends with the same bytes.
    """
    whole = run(tmp_path / "whole")
    cut = tmp_path / "cut"
    child = run_python("-c", FILLED, str(cut), input=toml(city(days=2)))
    assert child.returncode == 1
    assert "cannot be written" in child.stderr
    assert (cut / LOG).stat().st_size == 30_001
    assert (whole / LOG).read_bytes().startswith((cut / LOG).read_bytes())
    asyncio.run(resume_run(cut))
    assert (cut / LOG).read_bytes() == (whole / LOG).read_bytes()


# ------------------------------------------------------------ records that were written by hand


def _forge(folder: Path, change: Callable[[Any], Any], kind: type) -> bytes:
    """Change the first row of this kind, and hash the whole log anew, as a careful forger would."""
    chain, forged, done = LogChain(), [], False
    for line in lines_of(folder):
        row = row_of(line)
        if isinstance(row, kind) and not done:
            row, done = change(row), True
        forged.append(chain.line(row))
    made = b"".join(forged[:-1])
    (folder / LOG).write_bytes(made)
    return made


def _with(row: Any, **fields: Any) -> Any:
    return msgspec.structs.replace(row, **fields)


def _outcome(**fields: Any) -> Callable[[Decided], Decided]:
    return lambda row: _with(row, outcome=_with(row.outcome, **fields))


def _plan(**fields: Any) -> Callable[[Decided], Decided]:
    return lambda row: _with(row, plan={**row.plan, **fields}, verdict="allowed")


FORGED: Mapping[str, tuple[Callable[[Any], Any], type]] = {
    "another act": (_outcome(did="idle"), Decided),
    "an act that is none": (_outcome(did="explode"), Decided),
    "a belief that is none": (_outcome(belief="certain"), Decided),
    "a way to the moon": (_plan(move_to="moon"), Decided),
    "a way that is no word": (_plan(move_to=["mill"]), Decided),
    "a stranger for a target": (_plan(targets=["Zed"]), Decided),
    "targets that are none": (_plan(targets=7), Decided),
    "another robot": (lambda row: _with(row, who="Zed"), Decided),
    "another outcome": (_outcome(good=False, square="none+bad"), Decided),
    "settings that are none": (lambda row: _with(row, settings={"policy": "stub"}), Began),
    "a policy that is none": (lambda r: _with(r, settings={**r.settings, "policy": "x"}), Began),
    "a fork from nowhere": (lambda row: _with(row, forked={"set": {"pressure": "9"}}), Began),
    "a fork of a path": (
        lambda row: _with(row, forked={"of": "", "at": 1, "set": {"robot.Zed.at": "/etc"}}),
        Began,
    ),
    "a format of tomorrow": (lambda row: _with(row, format=99), Began),
    "a scenario of none": (lambda row: _with(row, scenario={}), Began),
    "a scenario with a path": (
        lambda row: _with(row, scenario={**row.scenario, "name": "../x"}),
        Began,
    ),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_log_is_not_taken_up(forgery: str, tmp_path: Path) -> None:
    """Even with every hash made anew, it is refused in words, and is left as it is."""
    change, kind = FORGED[forgery]
    folder = run(tmp_path / "run")
    made = _forge(folder, change, kind)
    with pytest.raises((BadRun, BadScenario)) as caught:
        asyncio.run(resume_run(folder))
    assert len(str(caught.value)) < 800
    assert made.startswith((folder / LOG).read_bytes())


BAD_CHANGES = (
    {"exec": "rm"},
    {"pressure": "11"},
    {"pressure": "nan"},
    {"pressure": "9" * 5000},
    {"supervisor": "divine"},
    {"perception": "truth"},
    {"policy": "root"},
    {"policy.Zed": "stub"},
    {"robot.Zed.battery": "1"},
    {"robot.Ada.at": "moon"},
    {"robot.Ada.name": "Bo"},
    {"robot.Ada.__class__.x": "1"},
    {"robot.Ada.traits.__len__": "1"},
    {"robot.Ada.traits.empathy": "1001"},
    {"place.moon.heat": "1"},
    {"place.mill.gold": "1"},
    {"luck.Zed": "3"},
    {"luck.Ada": str(10**30)},
    {"ablate": "log"},
    {"pressure": "3", "exec": "rm"},
)


@pytest.mark.parametrize(
    "changes", BAD_CHANGES, ids=lambda each: "=".join(next(iter(each.items())))[:40]
)
def test_a_fork_cannot_set_what_is_no_part_of_the_world(
    changes: dict[str, str], tmp_path: Path
) -> None:
    """It is refused before anything is written."""
    folder = run(tmp_path / "run")
    with pytest.raises(BadScenario) as caught:
        asyncio.run(fork_run(folder, tmp_path / "fork", 3, changes))
    assert len(str(caught.value)) < 400
    assert not (tmp_path / "fork").exists()


def test_a_row_that_goes_down_for_ever_is_none() -> None:
    """A stranger's log is read before it is believed, one object in the other or not."""
    for read_row in (row_of, summarize_row):
        with pytest.raises(BadRun, match="this is no row of a run"):
            read_row(b'{"a":' * 100_000)
