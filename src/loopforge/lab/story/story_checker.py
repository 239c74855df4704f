"""The checker of stories: each claim is recomputed from the rows, and each sentence held to it.

    problems = check(story, folder)

A sentence stands if what it claims is what the rows say, if it names exactly the rows that this
rests on, and if its words are one of the phrases that the claim allows. The rows are watched as a
teller watches them (moment_watching.py), and every finding that a story might have told of them is
made once more; a claim is borne out if it is one of these. An act whose own outcome does not fit
the truth in its row bears nothing out, nor does a ledger with a hole.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import get_args

from msgspec.structs import replace

from loopforge.core.factory_vocabulary import Decided, Reflected, Row
from loopforge.lab.inspect.inner_life import BY_HAND
from loopforge.lab.run.run_log import rows_of, split_first_row
from loopforge.lab.story import act_findings as found
from loopforge.lab.story import day_findings as days
from loopforge.lab.story.act_findings import Evening, Told
from loopforge.lab.story.claim_phrases import phrases
from loopforge.lab.story.claims import EVER, AnyClaim
from loopforge.lab.story.moment_watching import Accounts, StoryWatch, Today, net_edits
from loopforge.lab.story.story_text import Sentence, Story
from loopforge.lab.world.noun_articles import add_place_articles


class ClaimEvidence:
    """A run's rows, watched for these claims. Raises BadRun where they do not begin a run."""

    def __init__(self, rows: Iterable[Row], claims: Sequence[AnyClaim]) -> None:
        first, stream = split_first_row(rows)
        self.watch = StoryWatch(first)
        self._claims = frozenset(claims)
        self._named = {getattr(claim, "row", 0) for claim in claims}
        self._acts: dict[int, Decided] = {}
        self._borne: dict[AnyClaim, set[int]] = {}
        for today in self.watch.days(self._looked_at(stream)):
            self._take(self._of_day(today))
        self._take(self._of_run())

    def borne(self, claim: AnyClaim) -> set[int] | None:
        """The rows that a claim rests on; None where the rows do not bear it out."""
        return self._borne.get(claim)

    def _take(self, findings: Iterable[Told | None]) -> None:
        for each in findings:
            if each is not None and each[0] in self._claims:
                self._borne.setdefault(each[0], set(each[1]))

    def _looked_at(self, stream: Iterator[Row]) -> Iterator[Row]:
        """The same rows; one that a claim names is looked at once the watch has taken it in."""
        for row in stream:
            yield row
            if row.n in self._named and isinstance(row, Decided):
                self._take(self._of_act(row))
            elif row.n in self._named and isinstance(row, Reflected):
                self._take(
                    found.voiced(self.watch, row, source, voice=voice)
                    for source in get_args(Evening)
                    for voice in (True, False)
                )

    def _of_act(self, row: Decided) -> Iterator[Told | None]:
        watch = self.watch
        if watch.judged(row) != (row.outcome.kept, row.outcome.good):
            return
        self._acts[row.n] = row
        yield from (found.did(watch, row, brief=brief) for brief in (False, True))
        yield from (found.met(watch, row), found.unseen(watch, row))
        yield from (found.turned(watch, row, watch.ended), found.silent(watch, row))
        yield from (found.heard(watch, row), found.heard(watch, row, words=False))
        yield from (found.reason(watch, row), found.gap(watch, row))
        yield from (found.bent(watch, row, edit) for edit in net_edits(row))

    def _of_day(self, today: Today) -> Iterator[Told | None]:
        watch, counts = self.watch, today.counts
        before = watch.past[-2] if len(watch.past) > 1 else None
        yield from (days.morning(counts, before), days.made(counts), days.tense(counts))
        yield from (days.tally(counts.day, [counts]), days.silent_acts(counts.day, [counts]))
        yield from self._moved(counts.day, today.accounts)
        for evening in today.evenings:
            yield days.misjudged(watch, evening)
            for each in evening.of:
                act = self._acts.get(each.row)
                if act is not None and (act.day, act.who) == (counts.day, evening.who):
                    told = found.believed(act, evening)
                    yield (replace(told[0], truly=act.outcome.good), told[1]) if told else None

    def _moved(self, day: int, accounts: Accounts) -> Iterator[Told]:
        for key, account in accounts.items():
            if BY_HAND not in account.causes or self.watch.first.forked:
                yield days.moved(*key, day, account)

    def _of_run(self) -> Iterator[Told | None]:
        watch = self.watch
        yield from (days.opening(watch), days.forked(watch), days.broke_off(watch))
        yield from (days.ranked(watch), days.tally(EVER, watch.past))
        yield days.silent_acts(EVER, watch.past)
        yield from (days.brought(watch, spec.name) for spec in watch.scenario.robots)
        yield found.gap(watch, watch.widest, widest=True) if watch.widest else None
        yield from (days.wrong_ever(watch, who) for who in watch.evenings)
        yield from self._moved(EVER, watch.accounts)
        for step, (row, faults) in watch.faults.items():
            yield from (found.struck(watch, row, step, what) for what in faults)
        most = max(watch.depths.values(), default=0)
        for known in watch.incidents.values():
            yield from (found.happened(watch, known, threaded=way) for way in (True, False))
            if watch.depths[known.incident.id] == most:
                yield found.happened(watch, known, longest=True)


def check_story(story: Story, rows: Path | Iterable[Row]) -> list[str]:
    """What is wrong in a story, held against the rows of its run (or the run's folder).

    A sentence for each problem. An empty list says that every claim holds, rests on the rows it
    names, and is said in words that fit it. Raises BadRun.
    """
    placed = list(story.placed())
    rows = rows_of(rows) if isinstance(rows, Path) else rows
    grounds = grounds_of((sentence for _, sentence in placed), rows)
    problems: list[str] = []
    for place, sentence in placed:
        wrong = sentence_problems(sentence, grounds)
        problems += [f"{place}, “{sentence.text[:60]}”: {problem}." for problem in wrong]
    return problems


def grounds_of(sentences: Iterable[Sentence], rows: Iterable[Row]) -> ClaimEvidence:
    """What the rows say of all that these sentences speak of. Raises BadRun."""
    return ClaimEvidence(rows, [sentence.claim for sentence in sentences])


def sentence_problems(sentence: Sentence, grounds: ClaimEvidence) -> Iterator[str]:
    """What is wrong with one sentence; `grounds` must have been made with its claim."""
    if not sentence.rows:
        yield "it rests on no row"
    rows = grounds.borne(sentence.claim)
    if rows is None:
        yield "the rows do not bear it out"
        return
    if sentence.rows and set(sentence.rows) != rows:
        yield f"it rests on {_ids(rows)}, and names {_ids(sentence.rows)}"
    places = tuple(place.name for place in grounds.watch.scenario.places)
    if sentence.text not in (
        add_place_articles(phrase, places) for phrase in phrases(sentence.claim)
    ):
        yield "its words are not those of its claim"


def _ids(rows: Iterable[int]) -> str:
    return " ".join(f"r{row}" for row in sorted(rows)) or "nothing"
