"""Runs counted as they are made, without a file: for tests that need many of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from loopforge.core.factory_vocabulary import Row
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import Choice, Run
from loopforge.lab.run.step_loop import Episode, began
from loopforge.lab.world.scenario_file import open_scenario


class Nowhere:
    """A sink that keeps nothing."""

    def write(self, lines: bytes) -> None:
        """Let it go."""


class Counted(Episode):
    """An episode whose rows are counted instead of written."""

    def __init__(self, *given: Any) -> None:
        self.run_counts = Run(Path())
        self.acts: list[tuple[int, str, str, str]] = []
        super().__init__(*given)

    def _write(self, row: Row) -> None:
        self.run_counts.add(row)
        self.env.row += 1
        if outcome := getattr(row, "outcome", None):
            self.acts.append((row.step, row.who, outcome.did, outcome.square))  # type: ignore[union-attr]


def play(episode: Episode) -> None:
    """Play it to the end."""

    async def to_the_end() -> None:
        async for _ in episode.run():
            pass

    asyncio.run(to_the_end())


def score(name: str, policy: str = "stub", **chosen: Any) -> Counted:
    """One run of a shipped scenario, counted."""
    scenario = Choice(**chosen).apply(open_scenario(name))
    minds = Minds(policy=policy)
    episode = Counted(began(scenario, scenario.seed, minds), minds, Nowhere())
    play(episode)
    return episode


def over_seeds(name: str, policy: str = "stub", seeds: int = 30, **chosen: Any) -> Run:
    """The counts of this many seeds together."""
    total = Run(Path())
    for seed in range(1, seeds + 1):
        run = score(name, policy, seed=seed, **chosen).run_counts
        total.decisions += run.decisions
        total.right += run.right
        total.wrong += run.wrong
        total.incidents += run.incidents
        total.belief_error += run.belief_error
        total.squares.update(run.squares)
        total.failings.update(run.failings)
    return total
