"""Reading a run while it grows: closed steps alone, each as its rows say, whatever the log is like."""

from itertools import pairwise
from pathlib import Path

import pytest

from loopforge.core.factory_vocabulary import DayEnded, Decided, Reflected, Stepped
from loopforge.errors import BadRun, Unknown
from loopforge.lab.inspect.run_reader import RunIndex
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import minds_of, run_simulation, summary_of
from loopforge.lab.run.run_log import LOG, began_of, lines_of, rows_of
from loopforge.lab.run.step_loop import DecisionRecord, Episode
from loopforge.mates.prompt_files import PromptFiles
from loopforge.models.scripted_model import ScriptedModels
from tests.lab.makers import answers


def read(folder: Path) -> RunIndex:
    """An index that has taken in all there is."""
    index = RunIndex(folder)
    index.refresh()
    return index


def test_it_counts_what_the_run_counts(whole: Path) -> None:
    """Rates, incidents, rows and the chain's head are those of the run's own summary."""
    index = read(whole)
    assert index.run == summary_of(whole)
    assert (index.steps, index.planned, index.days) == (12, 12, 2)
    assert index.ended
    assert not index.refresh()


def test_days_count_everybody_and_rates_the_floor(whole: Path) -> None:
    """A day's row counts the Supervisor's failings too; the run's, and its rates, leave them out."""
    rows = list(rows_of(whole))
    days = [row for row in rows if isinstance(row, DayEnded)]
    failed = [row for row in rows if isinstance(row, Decided) and row.outcome.failing]
    floor = [row for row in failed if row.role != "supervisor"]
    assert sum(sum(day.failings.values()) for day in days) == len(failed) > len(floor)
    assert read(whole).run.failings.total() == len(floor)


@pytest.mark.parametrize("page", [1, 5, 100])
def test_steps_are_what_their_rows_say(whole: Path, page: int) -> None:
    """However they are paged, steps hold each decision and the world of their rows, once."""
    index = read(whole)
    moments = [each for at in range(0, index.steps, page) for each in index.moments(at, page)]
    rows = list(rows_of(whole))
    stepped = [row for row in rows if isinstance(row, Stepped)]
    assert [moment.row for moment in moments] == stepped
    for moment, after in pairwise(moments):
        assert moment.said == after.row.said
    assert len({row.said for row in stepped}) > 2
    assert moments[-1].said
    deeds = [deed for moment in moments for deed in moment.deeds]
    assert deeds == [row for row in rows if isinstance(row, Decided)]
    briefs = index.briefs()
    assert sum(b.over_reach for b in briefs) == index.run.failings["over_reach"]
    assert [b.tension for b in briefs] == [row.tension for row in stepped]


def test_the_evenings_of_a_day_that_is_not_over_are_counted_once(tmp_path: Path) -> None:
    """Each look at a log that was cut off in the evening gives the same count."""
    minds = Minds(reflects="llm", models=ScriptedModels(answers), prompts=PromptFiles())
    run_simulation(
        "first_shift", policy="stub", minds=minds, days=1, steps_per_day=2, out=tmp_path / "run"
    )
    log = tmp_path / "run" / LOG
    lines = log.read_bytes().splitlines(keepends=True)
    third = [at for at, row in enumerate(rows_of(log.parent)) if isinstance(row, Reflected)][2]
    log.write_bytes(b"".join(lines[:third]) + lines[third][:50])
    index = read(log.parent)
    index.refresh()
    assert index.run.answers.evenings.total() == 0
    log.write_bytes(b"".join(lines))
    index.refresh()
    assert index.run.answers.evenings.total() == summary_of(log.parent).answers.evenings.total() > 3


def test_a_growing_log_is_read_up_to_its_last_whole_step(whole: Path, tmp_path: Path) -> None:
    """Cut anywhere, it shows the closed steps alone; as it grows, one index sees what a new one does."""
    text = (whole / LOG).read_bytes()
    growing = RunIndex(tmp_path)
    cuts = [1, *range(len(text) // 37, len(text), len(text) // 37), len(text)]
    for cut in cuts:
        (tmp_path / LOG).open("ab").close()
        with (tmp_path / LOG).open("r+b") as file:
            file.truncate(min(cut, growing.size))
            file.seek(0)
            file.write(text[:cut])
        growing.refresh()
        closed = sum(isinstance(row, Stepped) for row in rows_of(tmp_path))
        assert growing.steps == closed
        fresh = read(tmp_path)
        assert growing.briefs() == fresh.briefs()
        assert growing.run == fresh.run
        assert not growing.damage
        if closed:
            assert growing.moment(closed - 1) == fresh.moment(closed - 1)
        with pytest.raises(Unknown):
            growing.moment(closed)
    assert growing.ended


async def test_places_stand_still_as_long_as_the_world_says(whole: Path) -> None:
    """After each step those places are marked that are down in the world itself, or were just hit."""
    first = began_of(whole)
    record = DecisionRecord.of(rows_of(whole))

    class Nowhere:
        def write(self, lines: bytes) -> None:
            """Keep nothing."""

    episode = Episode(first, minds_of(first), Nowhere(), record)
    index, downs = read(whole), 0
    async for row in episode.run():
        if isinstance(row, Stepped):
            down = {name for name, place in episode.env.places.items() if place.down}
            hit = {incident.at for incident in row.incidents}
            assert set(index.moment(row.step).still) == down | hit
            downs += len(down)
    assert downs


def test_a_life_adds_up(whole: Path) -> None:
    """At each day's end a life has the values of the day's row, and its causes add up to them."""
    index = read(whole)
    days = [row for row in rows_of(whole) if isinstance(row, DayEnded)]
    for robot in days[0].robots:
        life = index.life(robot)
        assert len(life.battery) == index.steps
        for day in days:
            for what, value in day.robots[robot].items():
                if what == "battery":
                    continue
                assert life.value(what, day.step) == value, (robot, what)
                because = life.because(what, day.step)
                assert life.start(what) + sum(each.delta for each in because) == value
        for what in life.whats:
            points = life.points(what)
            assert [at for at, _ in points] == sorted({at for at, _ in points})
            assert points[-1][1] == life.value(what, index.steps)
    life = index.life("Sprocket")
    greatest = life.greatest(5, 11)
    assert len(greatest) == 5
    sizes = [abs(turn.after - turn.before) for turn in greatest]
    assert sizes == sorted(sizes, reverse=True)
    turn = greatest[0]
    row = index.row(turn.row)
    assert isinstance(row, Decided | Reflected)
    assert [life.who, turn.what, turn.before, turn.after, turn.why] in [
        [c.who, c.what, c.before, c.after, c.rule] for c in row.inner
    ]


def test_decisions_are_linked_to_what_was_thought_of_them_later(whole: Path) -> None:
    """Each decision is found by its row, with the evening on which its robot looked back on it."""
    index = read(whole)
    for row in rows_of(whole):
        if isinstance(row, Decided):
            assert index.decision(row.n) == row
            assert index.step_at(row.n) == row.step
            evening = index.reflection(row.day, row.who)
            assert evening is not None
            assert row.n in [each.row for each in evening.of]
        elif isinstance(row, Stepped):
            for incident in row.incidents:
                assert index.step_of(incident.id) == row.step
        elif isinstance(row, Reflected | DayEnded):
            assert index.step_at(row.n) == row.step
    done = [row for row in rows_of(whole) if isinstance(row, Decided) and row.who == "Halide"]
    lived = index.life("Halide").deeds
    assert [(deed.step, deed.row, deed.square, deed.failing) for deed in lived] == [
        (row.step, row.n, row.outcome.square, row.outcome.failing) for row in done
    ]
    deeds = index.deeds("Halide", 3, 7)
    assert [(deed.who, deed.step) for deed in deeds] == [("Halide", at) for at in (3, 4, 5, 6)]
    assert index.reflection(2, "Halide") is None
    assert index.deeds("Halide", 50, 60) == []
    for wrong in (0, 10**6, -1):
        with pytest.raises(Unknown):
            index.decision(wrong)
    with pytest.raises(Unknown):
        index.life("Nobody")


def test_the_weather_of_a_place_is_that_of_its_steps(whole: Path) -> None:
    """A place's quantities and incidents, step after step, are those of the steps' own rows."""
    index = read(whole)
    weather = index.weather("press hall")
    stepped = [row for row in rows_of(whole) if isinstance(row, Stepped)]
    assert [vals for vals, _ in weather] == [row.places["press hall"] for row in stepped]
    happened = [each.id for _, incidents in weather for each in incidents]
    assert happened == [i.id for row in stepped for i in row.incidents if i.at == "press hall"]
    with pytest.raises(Unknown):
        index.weather("nowhere")


def damaged(folder: Path, tmp_path: Path, how: str) -> RunIndex:
    """The run with something wrong in it."""
    lines = list(lines_of(folder))
    match how:
        case "a word":
            lines[30] = lines[30].replace(b'"kind":"', b'"kind":"x', 1)
        case "a missing row":
            del lines[30]
        case "a swapped pair":
            lines[30], lines[31] = lines[31], lines[30]
        case "no text":
            lines[30] = b"\xff\xfe\n"
        case "no change":
            lines = [
                line.replace(b'"emotions.stress",', b'"emotions.stress",null,') for line in lines
            ]
        case "no head":
            del lines[0]
        case _:
            lines[0] = lines[0].replace(b'"format":1', b'"format":99', 1)
    (tmp_path / LOG).write_bytes(b"".join(lines))
    return read(tmp_path)


@pytest.mark.parametrize("how", ["a word", "a missing row", "a swapped pair", "no text"])
def test_what_stands_before_the_damage_is_read(whole: Path, tmp_path: Path, how: str) -> None:
    """A damaged log says near which line, and the steps before it are shown as ever."""
    index = damaged(whole, tmp_path, how)
    assert "damaged at line 31" in index.damage
    assert 0 < index.steps < 6
    assert index.moments(0, 20) == read(whole).moments(0, index.steps)
    assert index.life("Sprocket").turns


def test_a_change_that_is_none_is_told(whole: Path, tmp_path: Path) -> None:
    """The life of whose row another program wrote ends in a sentence."""
    with pytest.raises(BadRun, match="says of no change what it was"):
        damaged(whole, tmp_path, "no change").life("Sprocket")


@pytest.mark.parametrize("how", ["no head", "another format"])
def test_a_log_without_its_head_shows_nothing(whole: Path, tmp_path: Path, how: str) -> None:
    """Where the first row is gone, or of another program, no step is shown and the damage is said."""
    index = damaged(whole, tmp_path, how)
    assert index.damage
    assert index.steps == 0
    assert index.planned == 0


def test_a_log_that_was_made_anew_is_read_anew(whole: Path, tmp_path: Path) -> None:
    """A whole whose log was replaced, or lost, is not shown as it was."""
    log = tmp_path / LOG
    log.write_bytes(b"".join(list(lines_of(whole))[:60]))
    index = read(tmp_path)
    assert index.steps
    other = tmp_path / "other"
    other.write_bytes(next(lines_of(whole)))
    other.replace(log)
    index.refresh()
    assert index.steps == 0
    assert index.scenario is not None
    log.unlink()
    with pytest.raises(BadRun):
        index.refresh()
