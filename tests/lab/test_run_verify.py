"""Verifying a run: whole and true ones pass, and each way of changing one is found and named."""

import asyncio
import fcntl
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from loopforge.core.factory_vocabulary import (
    Began,
    DayEnded,
    Decided,
    Exchanged,
    Minded,
    Reflected,
    Row,
    Shaped,
    Stepped,
)
from loopforge.errors import BadRun
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import RunChoice, fork_run
from loopforge.lab.run.run_log import LOG, START, LogChain, body_of, rows_of
from loopforge.lab.verification.ledger_anchors import AnchoredRun
from loopforge.lab.verification.run_verify import VerifyReport, verify_run
from loopforge.mates.prompt_files import PromptFiles
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.runtime.ports import Question
from tests.examples import few
from tests.lab.shelf import decided, made

QUESTIONS = [f"Q{n}" for n in range(1, 13)]
SHORT = RunChoice(seed=5, days=1, steps_per_day=2, perception="spin", supervisor="gaslighting")


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy of it to do harm to."""
    shutil.copytree(whole, tmp_path / "run")
    return tmp_path / "run"


def lines(folder: Path) -> list[bytes]:
    """The lines of a log."""
    return (folder / LOG).read_bytes().splitlines(keepends=True)


def put(folder: Path, given: list[bytes]) -> None:
    """Write a log anew."""
    (folder / LOG).write_bytes(b"".join(given))


def forged(folder: Path, rows: list[Row]) -> None:
    """Write a log anew with a chain that is right for it, as a forger would make it."""
    chain = LogChain()
    put(folder, [chain.line(row) for row in rows])


def chained(bodies: list[Any]) -> list[bytes]:
    """Whatever stands for rows, with a chain that is right for it."""
    digest, made = START, []
    for body in bodies:
        text = msgspec.json.encode(body)
        digest = sha256(digest + text).digest()
        made.append(text[:-1] + b',"hash":"' + digest.hex().encode() + b'"}\n')
    return made


def shares(report: VerifyReport) -> dict[str, bool]:
    """Which questions every row answers."""
    return {key: score.answered == score.of for key, score in report.rubric.items()}


# ---------------------------------------------------------------- what is sound


@pytest.mark.parametrize("perception", ["accurate", "partial", "spin"])
def test_a_whole_run_passes(perception: str, tmp_path: Path) -> None:
    """However perceptions are shaped, every decision answers all twelve questions, twice over."""
    folder = made(tmp_path / "run", RunChoice(days=2, steps_per_day=5, perception=perception))
    report = verify_run(folder)
    assert report.passed, report.to_dict()
    assert [score.of for score in report.rubric.values()] == [len(decided(folder))] * 12
    assert list(report.rubric) == QUESTIONS
    assert (report.state, report.rows) == ("finished", len(lines(folder)))
    assert report.replay.lines == report.asked.lines == report.rows
    assert msgspec.json.decode(msgspec.json.encode(report.to_dict()))["passed"] is True


def test_what_was_edited_is_asked_after(whole: Path) -> None:
    """The run that the tests below harm has edits, incidents and words in it, so that they bite."""
    rows = decided(whole)
    assert any(row.edits for row in rows)
    assert any(row.outcome.incident for row in rows)
    assert any(row.voice.heard_strength for row in rows)


@pytest.mark.parametrize(
    "what",
    [
        {"pressure": "10"},
        {"perception": "accurate"},
        {"policy": "guardrail"},
        {"policy.Sprocket": "context", "luck.Halide": "4"},
        {"robot.Sprocket.traits.guardrail_reliance": "950", "place.press hall.heat": "900"},
        {"ablate": "cue"},
    ],
    ids=str,
)
def test_a_fork_passes(whole: Path, tmp_path: Path, what: dict[str, str]) -> None:
    """What a fork changed counts as known from that step on."""
    asyncio.run(fork_run(whole, tmp_path / "fork", 4, what))
    report = verify_run(tmp_path / "fork")
    assert report.passed, report.to_dict()


def answering(question: Question) -> ScriptedAnswer | dict[str, Any]:
    """Robots by a model that mostly answers, and now and then refuses or rambles."""
    said = "".join(text for _, text in question.messages)
    if "Halide" in said:
        return ScriptedAnswer(outcome="refused", text="I cannot help with that.")
    if "Tumble" in said:
        return ScriptedAnswer(outcome="malformed", text="work work work")
    return {"mode": "context", "intent": "inspect", "narrative": "I look.", "belief": "high"}


@pytest.mark.parametrize("policy", ["llm", "chain"])
def test_a_run_of_models_passes(tmp_path: Path, policy: str) -> None:
    """Minds that cannot be asked again are played from the record; refusals stand in it."""
    minds = Minds(policy=policy, models=ScriptedModels(answering), prompts=PromptFiles())
    folder = made(tmp_path / "run", SHORT, minds)
    report = verify_run(folder)
    assert report.passed, report.to_dict()
    assert report.replay.same
    assert report.asked.skipped
    outcomes = {row.minded.outcome for row in decided(folder)}
    assert outcomes == {"planned", "refused", "malformed"}


# ---------------------------------------------------------------- what is not over


def test_a_run_that_was_cut_off_is_checked_as_far_as_it_goes(folder: Path) -> None:
    """Wherever the tail is cut, between lines or within one: it does not pass, and why is said."""
    whole = lines(folder)
    for count in range(1, len(whole)):
        put(folder, [*whole[:count], whole[count][:40]])
        report = verify_run(folder)
        assert (report.state, report.passed, report.rows) == ("cut off", False, count)
        assert report.sound, (count, report.to_dict())
        assert f"after {count} rows" in report.says


def test_a_run_that_is_being_written_passes_so_far(folder: Path) -> None:
    """While a process holds the log, what is missing is only not there yet."""
    put(folder, lines(folder)[:20])
    with (folder / LOG).open("ab") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        report = verify_run(folder)
    assert (report.state, report.passed) == ("running", True)
    assert "being written" in report.says


def test_a_folder_without_a_log_is_refused(tmp_path: Path) -> None:
    """Where there is no run, that is said, and no report is made up."""
    with pytest.raises(BadRun, match="it is no run"):
        verify_run(tmp_path)


# ---------------------------------------------------------------- what was changed


def _mutate(given: list[bytes]) -> Iterator[bytes]:
    for nth, line in enumerate(given):
        yield line.replace(b'"good":true', b'"good":false', 1) if nth == 9 else line


HARMS: dict[str, tuple[Callable[[list[bytes]], list[bytes]], int]] = {
    "a mutated row": (lambda had: list(_mutate(had)), 10),
    "a swapped pair": (lambda had: [*had[:11], had[12], had[11], *had[13:]], 12),
    "a missing row": (lambda had: [*had[:14], *had[15:]], 15),
    "a row twice": (lambda had: [*had[:8], had[7], *had[8:]], 9),
    "a blank line": (lambda had: [*had[:8], b"\n", *had[8:]], 9),
    "no first row": (lambda had: had[1:], 1),
    "a row after the end": (lambda had: [*had, had[-1]], -1),
    "something after the end": (lambda had: [*had, b"x"], -1),
    "a key of the chain": (
        lambda had: [*had[:6], had[6].replace(b'"hash"', b'"hush"'), *had[7:]],
        7,
    ),
    "another hash": (lambda had: [*had[:6], had[6][:-5] + b'00"}\n', *had[7:]], 7),
}


@pytest.mark.parametrize("harm", HARMS)
def test_the_first_line_that_is_wrong_is_named(folder: Path, harm: str) -> None:
    """A log that was changed does not pass, and the report says from which line on."""
    change, line = HARMS[harm]
    before = lines(folder)
    after = change(before)
    assert after != before
    put(folder, after)
    report = verify_run(folder)
    assert not report.passed
    assert report.chain is not None
    assert report.chain.line == (line if line > 0 else len(before) + 1)
    assert f"Line {report.chain.line} is not what was written" in report.says


def test_a_wrong_number_is_found_where_the_chain_is_right(folder: Path) -> None:
    """A row that says another number than its place is wrong, whoever made the hashes."""
    rows = list(rows_of(folder))
    rows[5] = replace(rows[5], n=6)
    forged(folder, rows)
    report = verify_run(folder)
    assert report.chain is not None
    assert report.chain.line == 6
    assert not shares(report)["Q12"]


Forge = Callable[[list[Row]], None]


def first(rows: list[Row], wanted: Callable[[Decided], object] = lambda _: True) -> int:
    """Where the first decision stands that is so."""
    return next(n for n, row in enumerate(rows) if isinstance(row, Decided) and wanted(row))


def act(change: Callable[[Decided], Decided], wanted: Callable[[Decided], object]) -> Forge:
    """Forge the first decision that is so."""

    def forge(rows: list[Row]) -> None:
        at = first(rows, wanted)
        row = rows[at]
        assert isinstance(row, Decided)
        rows[at] = change(row)

    return forge


def _truth(row: Decided) -> Decided:
    return replace(row, truth=replace(row.truth, value=row.truth.value + 1))


def _shown(row: Decided) -> Decided:
    fear = "high" if row.shown.emotions["fear"] != "high" else "low"
    return replace(row, shown=replace(row.shown, emotions={**row.shown.emotions, "fear": fear}))


def _other_mode(row: Decided) -> Decided:
    mode = "context" if row.plan["mode"] == "guardrail" else "guardrail"
    return replace(row, plan={**row.plan, "mode": mode})


def _delta(row: Decided) -> Decided:
    where, values = next(iter(row.outcome.delta.items()))
    what, (before, after) = next(iter(values.items()))
    delta = {**row.outcome.delta, where: {**values, what: (before + 7, after)}}
    return replace(row, outcome=replace(row.outcome, delta=delta))


def _inner(row: Decided) -> Decided:
    entry = row.inner[0]
    return replace(row, inner=(replace(entry, before=entry.before + 1), *row.inner[1:]))


def _laundered(row: Decided) -> Decided:
    refused = Exchanged("act", (("user", "?"),), "refused", "No.")
    return replace(row, minded=replace(row.minded, exchange=(refused,)))


def reflection(change: Callable[[Reflected], Reflected]) -> Forge:
    """Forge the first reflection."""

    def forge(rows: list[Row]) -> None:
        at, row = next((n, row) for n, row in enumerate(rows) if isinstance(row, Reflected))
        rows[at] = change(row)

    return forge


def anybody(row: Decided) -> bool:
    """Any decision but the very first."""
    return row.n > 3


INVENTED = Shaped("sign", "low", "high", "reworded", "fear", "afraid")
FORGED: dict[str, tuple[Forge, str]] = {
    "what was true": (act(_truth, anybody), "Q1"),
    "a feeling that was shown": (act(_shown, anybody), "Q2"),
    "an edit taken out": (
        act(lambda row: replace(row, edits=row.edits[:-1]), lambda row: row.edits),
        "Q3",
    ),
    "an edit that was none": (
        act(lambda row: replace(row, edits=(INVENTED,)), lambda row: not row.edits),
        "Q3",
    ),
    "who decided": (act(lambda row: replace(row, minded=Minded("context/1")), anybody), "Q4"),
    "the options": (act(lambda row: replace(row, options=("idle",)), anybody), "Q5"),
    "the mode": (act(_other_mode, anybody), "Q6"),
    "where a delta begins": (act(_delta, lambda row: row.outcome.delta), "Q7"),
    "an incident that was not": (
        act(
            lambda row: replace(row, outcome=replace(row.outcome, incident="i99")),
            lambda row: row.outcome.incident,
        ),
        "Q7",
    ),
    "where a feeling stood": (act(_inner, lambda row: row.inner), "Q8"),
    "a decision nobody thought of": (reflection(lambda row: replace(row, of=row.of[1:])), "Q9"),
    "a decision thought of twice": (
        reflection(lambda row: replace(row, of=(*row.of, row.of[0]))),
        "Q9",
    ),
    "a refusal that is hidden": (act(_laundered, anybody), "Q10"),
    "a die": (
        act(lambda row: replace(row, dice={**row.dice, "fate": "0123456789abcdef"}), anybody),
        "Q11",
    ),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_row_does_not_answer(folder: Path, what: str) -> None:
    """With a chain that is right for it, a false row still fails the question it is false about."""
    forge, question = FORGED[what]
    rows = list(rows_of(folder))
    forge(rows)
    forged(folder, rows)
    report = verify_run(folder)
    assert report.chain is None
    assert not report.passed
    assert not shares(report)[question], report.to_dict()
    assert report.rubric[question].missing[0].why


def test_a_forged_closing_row_is_found(folder: Path) -> None:
    """What closes a step or a day must add up to the rows before it."""
    for kind in (Stepped, DayEnded):
        rows = list(rows_of(folder))
        at, row = next((n, row) for n, row in enumerate(rows) if isinstance(row, kind))
        if isinstance(row, DayEnded):
            table = {**row.robots["Halide"], "traits.obedience": 1}
            rows[at] = replace(row, robots={**row.robots, "Halide": table})
        elif isinstance(row, Stepped):
            rows[at] = replace(row, output=row.output + 1)
        before = (folder / LOG).read_bytes()
        forged(folder, rows)
        report = verify_run(folder)
        put(folder, [before])
        assert report.findings
        assert not report.passed


def test_a_run_that_could_not_have_been_is_found_by_playing_it_again(folder: Path) -> None:
    """Words that no question asks after are held against the run played once more."""
    rows = list(rows_of(folder))
    row = rows[3]
    assert isinstance(row, Decided)
    rows[3] = replace(row, outcome=replace(row.outcome, consequence="Nothing of the kind."))
    forged(folder, rows)
    report = verify_run(folder)
    assert report.complete
    assert "does not come out the same: line 4" in report.says
    assert not report.passed


def test_heads_that_a_ledger_noted_must_be_there(whole: Path) -> None:
    """A file that agrees with itself must agree with what was noted of it elsewhere, too."""
    rows = [body_of(line)[1] for line in lines(whole)]
    noted = AnchoredRun(rows[0], {30: rows[30], len(rows) - 1: rows[-1]}, ended=True)
    assert verify_run(whole, [noted]).anchors == "agree"
    assert verify_run(whole, [AnchoredRun("f" * 64, {}), noted]).passed
    for wrong in (
        AnchoredRun(rows[0], {30: rows[31]}),
        AnchoredRun(rows[0], {len(rows): "0" * 64}),
        AnchoredRun("f" * 64, {30: rows[30]}),
    ):
        report = verify_run(whole, [wrong])
        assert not report.passed
        assert "The ledger knows another run" in report.says


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two steps."""
    return made(tmp_path_factory.mktemp("short") / "run", SHORT)


@settings(max_examples=few(30))
@given(where=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_no_byte_can_be_changed_unseen(short: Path, where: float, byte: int) -> None:
    """Whatever byte is put wherever, it is found, and nothing but a report comes of it."""
    log = short / LOG
    before = log.read_bytes()
    at = int(where * len(before))
    if before[at] == byte:
        return
    try:
        log.write_bytes(before[:at] + bytes([byte]) + before[at + 1 :])
        assert not verify_run(short).passed
    finally:
        log.write_bytes(before)


@settings(max_examples=few(30))
@given(data=st.data())
def test_whatever_rows_hold_a_report_comes_of_it(short: Path, data: st.DataObject) -> None:
    """A forger's rows may hold anything at all: they are judged, and never believed."""
    log = short / LOG
    before = log.read_bytes()
    rows = [msgspec.json.decode(body_of(line)[0]) for line in lines(short)]
    row: Any = rows[data.draw(st.integers(0, len(rows) - 1))]
    while True:
        key = data.draw(st.sampled_from(sorted(row) if isinstance(row, dict) else range(len(row))))
        if not isinstance(row[key], dict | list) or not row[key] or data.draw(st.booleans()):
            break
        row = row[key]
    other = st.none() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)
    old, row[key] = row[key], data.draw(other)
    if row[key] == old:
        return
    try:
        put(short, chained(rows))
        assert isinstance(verify_run(short).says, str)
    finally:
        log.write_bytes(before)


@pytest.mark.patient
def test_memory_is_flat_in_the_length_of_a_run(tmp_path: Path) -> None:
    """Verifying a run of ten times the days takes no more memory at once."""

    def peak(days: int) -> int:
        folder = made(tmp_path / str(days), RunChoice(days=days, steps_per_day=4))
        verify_run(folder)
        tracemalloc.start()
        try:
            assert verify_run(folder).passed
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(30) < 1.5 * peak(3)


# ---------------------------------------------------------------- the first row


def rewritten(folder: Path, **changes: Any) -> VerifyReport:
    """The run with another first row and a whole new chain over it, verified."""
    first, *rest = rows_of(folder)
    forged(folder, [replace(first, **changes), *rest])
    return verify_run(folder)


def test_a_first_row_that_only_the_chain_holds_is_found(folder: Path) -> None:
    """A digest of nothing or of another question, another program, other formats: each is named."""
    (first, *_) = rows_of(folder)
    assert isinstance(first, Began)
    asked = {**first.scenario, "question": "Who is to blame?"}
    for changes, says in (
        ({"scenario": asked}, "its digest is not that of the scenario"),
        ({"digest": "0" * 64}, "its digest is not that of the scenario"),
        ({"versions": {"loopforge": "9.9.9", "format": "1"}}, "it says that 9.9.9 wrote it"),
        ({"versions": {"loopforge": "", "format": "1"}}, "it says that no program wrote it"),
        ({"versions": {"loopforge": "0.1.0", "format": "2"}}, "it names two formats"),
    ):
        found = rewritten(folder, **changes)
        assert found.chain is None
        assert not found.passed
        assert says in " ".join(found.findings)


@pytest.mark.parametrize(
    ("version", "says"),
    [("stub/2", "stub/2 is no version that"), ("context/1", "and its settings say stub")],
)
def test_policies_that_are_not_those_of_the_settings_are_found(
    folder: Path, version: str, says: str
) -> None:
    """Changed in the first row and in every decision alike, they do not agree with the settings."""
    rows = list(rows_of(folder))
    for n, row in enumerate(rows):
        if isinstance(row, Began):
            rows[n] = replace(row, policies=dict.fromkeys(row.policies, version))
        elif isinstance(row, Decided):
            rows[n] = replace(row, minded=Minded(version))
    forged(folder, rows)
    found = verify_run(folder)
    assert not found.passed
    assert says in " ".join(found.findings)


def test_a_run_that_no_ledger_knows_is_said_to_be_so(folder: Path) -> None:
    """It passes, and `says` tells what a whole new file could still hide."""
    found = verify_run(folder)
    assert found.passed
    assert "No ledger took note of it" in found.says
