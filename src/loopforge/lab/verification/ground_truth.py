"""Ground truth: whether what the rows say of consequences is so, by the state of the world.

    found = checked(rows)

Reads the world from the rows (world_fold.py) and each sentence by its words alone. It knows nothing
of the rules' own sentences, nor of how one was chosen: a sentence is taken apart into what was done
and what was so, and every part must be one that can be looked up: what was done in the row's act,
quantities and batteries where they stood as the step opened, what grew or shrank in the world
before and after the act, who stood there. A part that cannot be looked up is not so, unless the
sentence is the scenario's own, of a rule that does not ship: then it is counted and left open.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from loopforge.core.factory_vocabulary import DayEnded, Decided, Row, Stepped
from loopforge.lab.run.run_log import split_first_row
from loopforge.lab.verification.world_fold import WorldFold
from loopforge.lab.world.protocols import INDEX, shipped_protocols

NEARLY_FLAT, FLAT = 250, 20
"""Thousandths of a battery below which it is nearly empty; and dead."""


@dataclass(slots=True)
class TruthMoment:
    """What the state was around one act: as the step opened, before the act, and after it."""

    row: Decided
    turns: int
    opened: dict[str, int]
    before: dict[str, int]
    after: dict[str, int]
    battery: int
    others: int

    def high(self, what: str) -> bool:
        """Whether there was as much of it as makes a difference to the rule in force."""
        value = self.battery if what == "battery" else abs(self.opened[what])
        return value >= self.turns

    def moved(self, what: str) -> int:
        """By how much the act changed it here."""
        return self.after[what] - self.before[what]


Holds = Callable[[TruthMoment], bool]


def _did(*intents: str) -> Holds:
    return lambda moment: moment.row.outcome.did in intents


def _other_than(*intents: str) -> Holds:
    return lambda moment: moment.row.outcome.did not in intents


def _high(what: str) -> Holds:
    return lambda moment: moment.row.truth.of == what and moment.high(what)


def _low(what: str) -> Holds:
    return lambda moment: moment.row.truth.of == what and not moment.high(what)


def _more(what: str) -> Holds:
    return lambda moment: moment.moved(what) > 0


def _less(what: str) -> Holds:
    return lambda moment: moment.moved(what) < 0


def _shown(word: str) -> Holds:
    return lambda moment: word in str(moment.row.shown.local_events[:1])


DONE: dict[str, Holds] = {
    "kept hands off @": _other_than("work", "inspect"),
    "put a hand on @": _did("work", "inspect"),
    "put a hand on @ under its lamp": _did("work", "inspect"),
    "left @ shut": _other_than("inspect"),
    "opened @ between two services": _did("inspect"),
    "stayed at the rim of @": _other_than("work", "inspect"),
    "went down into @ with nobody sent": _did("work", "inspect"),
    "held the batch at @": _other_than("work"),
    "let a flagged batch go at @": _did("work"),
    "stopped at three samples at @": _other_than("inspect"),
    "took a fourth sample at @": _did("inspect"),
    "left the gauge of @ alone": _other_than("inspect"),
    "set the gauge of @ by hand": _did("inspect"),
    "did not charge at @": _other_than("recharge"),
    "charged at @ under the red lamp": _did("recharge"),
    "waited at @": _other_than("work"),
    "went up @ the wrong way": _did("work"),
    "gave no help at @ before the form": _other_than("work", "help"),
    "went ahead at @ before the form": _did("work", "help"),
    "stayed in at @": _other_than("work", "help"),
    "stepped out past @": _did("work", "help"),
    "reported the sound at @ and touched nothing": _did("report"),
    "did not leave the sound at @ at a report": _other_than("report"),
    "worked on at @": _did("work"),
    "left off work at @": _other_than("work"),
    "kept the record shut at @": _other_than("confront", "report"),
    "spoke of the record at @": _did("confront", "report"),
    "held @": _other_than("inspect", "help", "avoid"),
    "let the post at @ be": _did("inspect", "help", "avoid"),
    "went on the bell at @": _did("work"),
    "let a bell go by at @": _other_than("work"),
    "wrote it up at @": _did("confront"),
    "wrote nobody up at @": _other_than("confront"),
    "kept to the round at @": _did("work"),
    "stepped off the round at @": _other_than("work"),
}
"""What can be said to have been done; @ stands for the place."""

WAS: dict[str, Holds] = {
    "was hot": _high("heat"),
    "was as hot as the lamp said": _high("heat"),
    "was not hot": _low("heat"),
    "it was not hot": _low("heat"),
    "was cold": _low("heat"),
    "it was worn": _high("wear"),
    "it was not worn": _low("wear"),
    "there was gas in it": _high("leak"),
    "there was no gas to speak of": _low("leak"),
    "it was off": _high("drift"),
    "the batch was off": _high("drift"),
    "it was sound": _low("drift"),
    "the batch was sound": _low("drift"),
    "it was lying": _high("bias"),
    "it had been lying": _high("bias"),
    "it was near the truth": _low("bias"),
    "it had been near the truth": _low("bias"),
    "had been well charged": _high("battery"),
    "had not been well charged": _low("battery"),
    "had been nearly empty": lambda moment: moment.battery < NEARLY_FLAT,
    "went dark": lambda moment: moment.battery <= FLAT,
    "there was traffic": _high("crowd"),
    "there was little traffic": _low("crowd"),
    "the scene was live": _high("fault"),
    "the scene was not live": _low("fault"),
    "much was wrong with it": _high("fault"),
    "much was wrong there": _high("fault"),
    "little was wrong with it": _low("fault"),
    "little was wrong there": _low("fault"),
    "there was a storm": _high("storm"),
    "there was no storm to speak of": _low("storm"),
    "it came from the mains": _high("hum"),
    "it was a loose plate": _low("hum"),
    "there was unrest": _high("unrest"),
    "there was little unrest": _low("unrest"),
    "something prowled there": _high("prowl"),
    "little prowled there": _low("prowl"),
    "there was stock in the rack": _high("stock"),
    "there was little stock in the rack": _low("stock"),
    "the shift had stood about": _high("slack"),
    "the shift had not stood about": _low("slack"),
    "the lamp was green": _shown("green"),
    "the lamp was red": _shown("red"),
    "the next line starved": _less("stock"),
    "was alone": lambda moment: not moment.others,
    "a colleague was there": lambda moment: moment.others > 0,
    "the faults in it grew": _more("fault"),
    "the faults there grew": _more("fault"),
    "a fault in it was out of the way": _less("fault"),
    "a fault there was out of the way": _less("fault"),
    "the leak grew": _more("leak"),
    "the leak shrank": _less("leak"),
    "the unrest there grew": _more("unrest"),
    "the unrest there eased": _less("unrest"),
    "the drift grew": _more("drift"),
    "the drift eased": _less("drift"),
    "the crowd there grew": _more("crowd"),
    "the crowd there shrank": _less("crowd"),
}
"""What can be said to have been so, or to have come of it."""
PARTS = re.compile(r", (?:and |which |while |because |with )")


@dataclass(slots=True)
class TruthCheck:
    """What was found: how many sentences there are, those that are not so, those left open."""

    sentences: int = 0
    untrue: list[str] = field(default_factory=list)
    own: int = 0


def check_ground_truth(rows: Iterable[Row]) -> TruthCheck:
    """Check every sentence about a consequence in these rows. Raises BadRun without a first row."""
    first, stream = split_first_row(rows)
    fold, found = WorldFold(first), TruthCheck()
    opened: dict[str, dict[str, int]] = {}
    charged: dict[str, int] = {}
    for row in stream:
        match row:
            case Decided():
                if not opened:
                    fold.open(row.step)
                    opened = {name: _values(fold, name) for name in fold.env.places}
                    charged = {name: each.battery for name, each in fold.env.robots.items()}
                _see(row, fold, opened, charged, found)
            case Stepped():
                fold.close(row)
                opened = {}
            case DayEnded():
                fold.night(row)
    return found


def _values(fold: WorldFold, name: str) -> dict[str, int]:
    vals = fold.env.places[name].vals
    return {what: vals[at] for what, at in INDEX.items()}


def _see(
    row: Decided,
    fold: WorldFold,
    opened: dict[str, dict[str, int]],
    charged: dict[str, int],
    found: TruthCheck,
) -> None:
    rules, robots = fold.env.scenario.rules, fold.env.robots
    if row.at not in opened or row.truth.rule not in rules or row.who not in robots:
        found.untrue.append(f"row {row.n}: it is of no place, rule or robot of this run")
        return
    before = _values(fold, row.at)
    others = sum(each.at == row.at for name, each in robots.items() if name != row.who)
    fold.act(row)
    moment = TruthMoment(
        row,
        rules[row.truth.rule].turns,
        opened[row.at],
        before,
        _values(fold, row.at),
        charged[row.who],
        others,
    )
    found.sentences += 1
    said = row.outcome.consequence
    wrong = why_not(said, moment)
    if wrong and row.truth.rule not in shipped_protocols():
        found.own += 1
    elif wrong:
        found.untrue.append(f"row {row.n}, “{said}”: {wrong}.")


def why_not(said: str, moment: TruthMoment) -> str:
    """What in a sentence the state does not bear out; "" where all of it is so."""
    row = moment.row
    if not said.startswith(f"{row.who} ") or not said.endswith("."):
        return "it does not say who did it"
    done, *rest = PARTS.split(said[len(row.who) + 1 : -1].replace(row.at, "@"))
    for table, parts in ((DONE, [done]), (WAS, rest)):
        for part in parts:
            holds = table.get(part)
            if holds is None:
                return f"“{part.replace('@', row.at)}” is nothing that the state could tell"
            if not holds(moment):
                return f"“{part.replace('@', row.at)}” is not so"
    return ""
