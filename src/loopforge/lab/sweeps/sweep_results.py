"""The folder of a sweep: what it was, how far it came, and a line for each run that is done.

DIR/experiment.json   the experiment with its scenarios: all that is needed to do it again
DIR/manifest.json     digest, versions, cells, seeds, what was left out, what is not deterministic,
                      how far it came
DIR/results.jsonl     one line for each run that is done (score.Result), sorted once a sweep ends
DIR/tapes/            what models answered, a tape for each run
DIR/runs/             the runs' own logs, where they are kept

A folder is written by one process at a time. Knows nothing of how runs are run.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from loopforge.errors import BadRun
from loopforge.lab.run.answered_decisions import AnswerCounts, sum_answer_counts
from loopforge.lab.run.run_folder import EXPERIMENT, replace_file
from loopforge.lab.sweeps.experiment_design import ExperimentDesign
from loopforge.lab.sweeps.run_score import RunResult

MANIFEST, RESULTS = "manifest.json", "results.jsonl"
SWEPT = (EXPERIMENT, MANIFEST, RESULTS)
ANEW = "results.anew.jsonl"
"""Results that are scored again, until all of them are there."""
TAPES, RUNS = "tapes", "runs"
WRITTEN = (*SWEPT, ANEW, TAPES, RUNS)
"""All that a sweep writes in its folder."""
_decoder = msgspec.json.Decoder(RunResult)

Key = tuple[int, int]
"""(cell, seed)"""


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold a folder, which is made if need be, against other processes. Raises BadRun."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        door = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise BadRun(f"{folder} cannot be written: {error.strerror}.") from error
    try:
        try:
            fcntl.flock(door, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BadRun(f"{folder} is being written by another process just now.") from error
        yield
    finally:
        os.close(door)


def write_json(path: Path, value: object) -> None:
    """Write a JSON file, all of it or nothing. Raises BadRun."""
    data = msgspec.json.format(msgspec.json.encode(value), indent=1)
    replace_file(path, [data, b"\n"])


def manifest_of(folder: Path) -> dict[str, Any]:
    """The manifest of a sweep. Raises BadRun where there is none."""
    return _plain(folder / MANIFEST)


def layout_of(folder: Path) -> ExperimentDesign:
    """The experiment of a sweep as it was laid out. Raises BadRun, BadScenario."""
    return ExperimentDesign.from_dict(_plain(folder / EXPERIMENT))


def _plain(path: Path) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        raise BadRun(
            f"{path.parent} holds no {path.name}: it is no sweep. `loopforge lab sweep` makes one."
        ) from None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadRun(f"{path} cannot be read: {error}.") from error
    return found


def results_of(folder: Path) -> list[RunResult]:
    """The results of a sweep, in order of cells and seeds; none yet is none. Raises BadRun."""
    found = [result for _, result in _lines(folder / RESULTS)]
    return sorted(found, key=lambda each: (each.cell, each.seed))


def heads_in(path: Path) -> dict[Key, str]:
    """The hash of all rows of each run in a results file."""
    return {(result.cell, result.seed): result.head for _, result in _lines(path)}


def answers_in(results: Iterable[RunResult]) -> AnswerCounts:
    """How many decisions of these runs were answered, together."""
    return sum_answer_counts([(each.decisions, each.counts, each.asked) for each in results])


def results_by_cell(results: Iterable[RunResult]) -> dict[int, list[RunResult]]:
    """These runs by the cell of the design that they are of."""
    found: dict[int, list[RunResult]] = {}
    for result in results:
        found.setdefault(result.cell, []).append(result)
    return found


def worst_of(results: Iterable[RunResult]) -> AnswerCounts:
    """The answers of the cell with the greatest share of decisions that were not answered."""
    found = [answers_in(some) for some in results_by_cell(results).values()] or [AnswerCounts()]
    return max(found, key=lambda answers: answers.share)


def _lines(path: Path) -> Iterator[tuple[bytes, RunResult]]:
    """The whole lines of a results file; a last one that was cut off is left out."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield line, _decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise BadRun(f"{path}, line {number}: this is no result: {error}.") from error


def recover_finished_runs(path: Path, expected: Set[Key]) -> dict[Key, float]:
    """What each finished run cost, from a results file; a line that was cut off is removed.

    Raises BadRun for a line that is damaged, or of no run that is `expected`.
    """
    costs: dict[Key, float] = {}
    length = 0
    for line, result in _lines(path):
        key = (result.cell, result.seed)
        if key not in expected or key in costs:
            raise BadRun(f"{path} holds a run that is not of this sweep: {key}.")
        costs[key] = result.cost
        length += len(line)
    if path.exists() and path.stat().st_size > length:
        os.truncate(path, length)
    return costs


def sort_results(source: Path, target: Path) -> None:
    """Write the lines of `source`, in order of cells and seeds, as `target`."""
    lines = {(result.cell, result.seed): line for line, result in _lines(source)}
    replace_file(target, (lines[key] for key in sorted(lines)))
    if source != target:
        source.unlink(missing_ok=True)
