"""The parts that make mates grow, as one value: their files, changes, forks, merges, traits."""

from typing import NamedTuple

from loopforge.mates.growth_service import GrowthService
from loopforge.mates.mate_forking import MateForking
from loopforge.mates.mate_merging import MateMerging
from loopforge.mates.mate_roster import MateRoster
from loopforge.mates.trait_proposals import TraitProposals
from loopforge.mates.version_history import VersionHistory
from loopforge.runtime.ports import Ledger, MateMemory
from loopforge.runtime.system_clock import Stamp


class MateGrowth(NamedTuple):
    """How the mates of a home grow."""

    chronicle: VersionHistory
    roster: MateRoster
    changes: GrowthService
    forking: MateForking
    merging: MateMerging
    traits: TraitProposals


def growth_of(ledger: Ledger, roster: MateRoster, stamp: Stamp, memory: MateMemory) -> MateGrowth:
    """The growth of the mates of one home."""
    chronicle = VersionHistory(ledger, roster, stamp)
    changes = GrowthService(ledger, chronicle, roster, memory)
    return MateGrowth(
        chronicle,
        roster,
        changes,
        MateForking(chronicle, roster, changes, memory),
        MateMerging(ledger, chronicle, roster, changes, memory),
        TraitProposals(ledger, chronicle, roster, stamp),
    )
