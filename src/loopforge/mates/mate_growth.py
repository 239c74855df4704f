"""The parts that make mates grow, as one value: their files, changes, forks, merges, traits."""

from typing import NamedTuple

from loopforge.mates.growth_service import GrowthService
from loopforge.mates.mate_forking import Forking
from loopforge.mates.mate_merging import Merging
from loopforge.mates.mate_roster import Roster
from loopforge.mates.trait_proposals import TraitProposals
from loopforge.mates.version_history import Chronicle
from loopforge.runtime.ports import Ledger, MateMemory
from loopforge.runtime.system_clock import Stamp


class MateGrowth(NamedTuple):
    """How the mates of a home grow."""

    chronicle: Chronicle
    roster: Roster
    changes: GrowthService
    forking: Forking
    merging: Merging
    traits: TraitProposals


def growth_of(ledger: Ledger, roster: Roster, stamp: Stamp, memory: MateMemory) -> MateGrowth:
    """The growth of the mates of one home."""
    chronicle = Chronicle(ledger, roster, stamp)
    changes = GrowthService(ledger, chronicle, roster, memory)
    return MateGrowth(
        chronicle,
        roster,
        changes,
        Forking(chronicle, roster, changes, memory),
        Merging(ledger, chronicle, roster, changes, memory),
        TraitProposals(ledger, chronicle, roster, stamp),
    )
