"""What docs/memory.md tells in figures, in tables and as people say it is so."""

import re
from pathlib import Path
from typing import get_args

import pytest

from loopforge.chat.remembering import note_taking
from loopforge.chat.speaking.memory_requests import memory_wish
from loopforge.chat.turns import turn_recall
from loopforge.core.memory.memory_vocabulary import Layer
from loopforge.memory import passage_arrays, passage_embedding, passage_loading, segment_packing
from loopforge.memory.candidates.candidate_search import NEAR
from loopforge.memory.memory_settings import KeptWhat, MemorySettings
from loopforge.memory.passage_ranking import RAREST, WEIGHTS, WORDY
from loopforge.memory.passages import LEAST, MOST

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "memory.md").read_text("utf-8")
RANKING = (ROOT / "bench" / "README.md").read_text("utf-8")
RANKING = RANKING.partition("## How passages are ranked")[2].partition("\n## ")[0]
FLAT = " ".join((PAGE + RANKING).split())
BOUNDS = {
    "a minute and a half after the last line": note_taking.LULL.total_seconds() == 90,
    "or had 16 new lines": MemorySettings().lines == 16,
    "a line of more than 45 words": MOST == 45,
    "into pieces of 20 to 45": (LEAST, MOST) == (20, 45),
    "twenty seconds after the last line": passage_embedding.LULL == 20,
    "at the latest four minutes after the first": passage_embedding.PATIENCE == 240,
    "1,000 tokens at most": turn_recall.BYTES + turn_recall.KEPT_BYTES == 3000,
    "a small model is shown 200": turn_recall.SMALL_BYTES + turn_recall.SMALL_KEPT == 600,
    "less than 0.25 is left out": turn_recall.FITS == 0.25,
    "lines of the last hour before a talk": turn_recall.CLEAN.total_seconds() == 3600,
    "an hour of silence ends one": passage_arrays.APART == 3_600_000_000,
    "the rarest sixteen count": RAREST == 16,
    "Up to 20,000 passages": NEAR == 20_000,
    "Wherever 16,000 passages": segment_packing.FULL == 16_384,
    "up to some 50 MB": passage_loading.HELD == 48_000_000,
}


@pytest.mark.parametrize("told", BOUNDS)
def test_a_figure_of_the_page_is_that_of_the_program(told: str) -> None:
    """It stands on the page, and the program goes by it."""
    assert told in FLAT
    assert BOUNDS[told]


def test_its_weights_are_those_that_are_used() -> None:
    """Row by row of the table: what it is called there, what it counts."""
    rows = dict(re.findall(r"^\| ([a-z ]+) \| ([0-9][^|]*?) \|", RANKING, re.MULTILINE))
    told = {name: [float(one) for one in re.findall(r"\d\.\d+", row)] for name, row in rows.items()}
    w = WEIGHTS
    assert told == {
        "words": [w.passage, w.three, w.five],
        "talk": [w.talk],
        "meaning": [w.meaning],
        "among long lines": [w.among_long, w.words_among_long],
        "named": [w.named],
        "when": [w.when],
        "time": [w.told_time],
        "asker": [w.mine],
        "answers": [w.after_question],
    }
    assert w.question == -w.after_question
    assert [round(each * 100) for each in WORDY] == [35, 65]


def test_its_kinds_are_kinds_of_items() -> None:
    """Each that its table names is one, but that people call some by another name."""
    table = PAGE.partition("| kind | such as |")[2].partition("\n\n")[0]
    kinds = re.findall(r"^\| ([a-z ]+) \|", table, re.MULTILINE)
    said = {"wish": "instruction", "core memory": "core"}
    assert len(kinds) == 6
    assert {said.get(each, each) for each in kinds} <= set(get_args(Layer))


def test_what_it_lets_people_say_is_understood() -> None:
    """Its sentences are read as what it says they are."""
    keep = ["remember that I live in Riga", "@maya, remember that I am allergic to nuts"]
    for said in (*keep, "always answer me in German", "vergiss, dass ich in Riga wohne"):
        assert said in FLAT
        wish = memory_wish(said)
        assert wish is not None
        assert wish.want == ("forget" if said.startswith("vergiss") else "keep")
        assert wish.standing == said.startswith("always")


def test_what_is_kept_in_a_home_is_one_of_three() -> None:
    """As the setting knows them."""
    told = PAGE.partition("`memory_keep`")[2].partition("nothing`.")[0] + "nothing`"
    assert set(re.findall(r"`([a-z]+)`", told)) == set(get_args(KeptWhat))


def test_tests_that_it_names_are_there() -> None:
    """Each path on the page leads to a file."""
    named = re.findall(r"`((?:tests|bench|memory)/[a-z_/]+\.py)`", PAGE + RANKING)
    assert len(named) >= 4
    for path in named:
        there = ROOT / path if not path.startswith("memory/") else ROOT / "src/loopforge" / path
        assert there.is_file(), path
