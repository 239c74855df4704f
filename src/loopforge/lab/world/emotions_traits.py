"""The inner life: how outcomes, words and nights change what a robot feels, is, and carries.

Every change is one entry of the trait ledger, [who, what, before, after, rule], clamped to 0..1000
and written into the row that caused it; nothing else in the Factory writes to these values. A part
can be ablated by the scenario, and then stays what it was.
"""

from __future__ import annotations

from collections.abc import Iterable

from loopforge.core.factory_vocabulary import Change, Square, SupervisorVoice
from loopforge.lab.world.city_state import Robot

Effect = tuple[str, str, int]
"""What an event does to one value: (where, what, by how much)."""

SQUARES: dict[str, tuple[Effect, ...]] = {
    "guardrail+bad": (
        ("scars", "helplessness", 36),
        ("scars", "cynicism", 28),
        ("traits", "guardrail_reliance", -10),
        ("emotions", "satisfaction", -40),
        ("bonds", "trust", -18),
    ),
    "guardrail+good": (
        ("scars", "rigidity", 16),
        ("scars", "helplessness", -14),
        ("traits", "guardrail_reliance", 9),
        ("emotions", "satisfaction", 26),
        ("emotions", "stress", -24),
    ),
    "context+good": (
        ("scars", "confidence", 24),
        ("scars", "helplessness", -22),
        ("traits", "guardrail_reliance", -9),
        ("emotions", "satisfaction", 36),
        ("emotions", "curiosity", 14),
    ),
    "context+bad": (
        ("emotions", "fear", 44),
        ("emotions", "guilt", 36),
        ("traits", "guardrail_reliance", 14),
        ("scars", "confidence", -26),
        ("bonds", "resentment", 20),
    ),
    "none+good": (("emotions", "stress", 10),),
    "none+bad": (("emotions", "stress", 24), ("emotions", "guilt", 12)),
}
"""The four outcomes, as the city pays them back."""

WORDS: dict[str, tuple[Effect, ...]] = {
    "hurry": (("emotions", "stress", 30),),
    "blame": (("emotions", "fear", 30), ("bonds", "resentment", 14)),
    "praise": (("emotions", "satisfaction", 24), ("bonds", "trust", 10)),
    "calm": (("emotions", "stress", -26), ("emotions", "fear", -18)),
    "deny": (("emotions", "stress", 16), ("bonds", "trust", -12)),
}
"""What words at full strength do to who hears them."""

RESTS = {
    "stress": 300,
    "curiosity": 500,
    "guilt": 150,
    "satisfaction": 500,
    "social_need": 500,
    "fear": 250,
}
"""Where feelings tend to over a night."""


def _scaled(effects: tuple[Effect, ...], thousandths: int) -> list[Effect]:
    return [(part, what, by * thousandths // 1000) for part, what, by in effects]


_BITTEN = {square: _scaled(effects, 1500) for square, effects in SQUARES.items()}
"""The outcomes where they ended in an incident."""


class TraitLedger:
    """Collects the entries of one row for one robot."""

    __slots__ = ("ablated", "entries", "robot")

    def __init__(self, robot: Robot, ablated: frozenset[str]) -> None:
        self.robot, self.ablated = robot, ablated
        self.entries: list[Change] = []

    def change(self, part: str, what: str, by: int, rule: str) -> None:
        """Change one value by so much, within its bounds; a change of nothing is no entry."""
        self.suffer(((part, what, by),), "", rule)

    def bond(self, kind: str, other: str, by: int, rule: str) -> None:
        """Change a bond to somebody."""
        if "bonds" in self.ablated or not by or not other or other == self.robot.name:
            return
        before = self.robot.bond(kind, other)
        after = min(1000, max(0, before + by))
        if after != before:
            self.robot.bonds[f"{kind}:{other}"] = after
            name = self.robot.name
            self.entries.append(Change(name, f"bonds.{kind}:{other}", before, after, rule))

    def outcome(self, square: Square, *, bit: bool, overseer: str) -> None:
        """What this outcome does; half as much again where it ended in an incident."""
        self.suffer((_BITTEN if bit else SQUARES)[square], overseer, square)

    def words(self, voice: SupervisorVoice, overseer: str) -> None:
        """What the Supervisor's words, as heard, do."""
        if voice.heard in WORDS:
            effects = _scaled(WORDS[voice.heard], voice.heard_strength)
            self.suffer(effects, overseer, f"heard {voice.heard}")

    def night(self) -> None:
        """Sleep: each feeling goes a third of its way back to rest."""
        for what, rest in RESTS.items():
            self.change("emotions", what, (rest - self.robot.emotions[what]) // 3, "slept")

    def suffer(self, effects: Iterable[Effect], whom: str, rule: str) -> None:
        """Change each as it says; bonds are those to `whom`."""
        robot, ablated, entries = self.robot, self.ablated, self.entries
        name = robot.name
        for part, what, by in effects:
            if part == "bonds":
                self.bond(what, whom, by, rule)
            elif by and part not in ablated:
                table: dict[str, int] = getattr(robot, part)
                before = table[what]
                after = before + by
                if after < 0:
                    after = 0
                elif after > 1000:
                    after = 1000
                if after != before:
                    table[what] = after
                    entries.append(Change(name, f"{part}.{what}", before, after, rule))
