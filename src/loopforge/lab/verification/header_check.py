"""The header: whether what a run says of itself agrees with what it holds.

Its digest must be that of the scenario beside it, each robot's policy must be the one that its
settings name, in the version that the program which wrote it had, and that program must be one that
there can have been. Whether it is the row that was written first, no row can show: for that a
ledger took note of its hash (ledger_anchors.py), or somebody wrote it down.
"""

import re
from collections.abc import Iterator

from loopforge import __version__
from loopforge.core.factory_vocabulary import Began
from loopforge.lab.run.robot_minds import PLAIN
from loopforge.lab.verification.world_fold import stand_in_minds
from loopforge.lab.world.scenario_checks import Scenario

VERSION = re.compile(r"\d+(\.\d+)*")


def first_row_problems(first: Began) -> Iterator[str]:
    """What in a first row does not agree. Raises BadScenario, BadRun where it is none."""
    scenario = Scenario.from_dict(first.scenario)
    if first.digest != scenario.digest:
        yield "row 0: its digest is not that of the scenario it holds"
    if first.versions.get("format") != str(first.format):
        yield "row 0: it names two formats"
    written = str(first.versions.get("loopforge", ""))
    if _number(written) > _number(__version__) or not _number(written):
        yield f"row 0: it says that {written or 'no program'} wrote it; this is {__version__}"
    minds, robots = stand_in_minds(first), {robot.name: robot.role for robot in scenario.robots}
    if set(first.policies) != set(robots):
        yield "row 0: its policies are not those of its robots"
    for who, version in first.policies.items():
        if who not in robots:
            continue
        name = minds.name_for(who, supervisor=robots[who] == "supervisor")
        if version.rpartition("/")[0] != name:
            yield f"row 0: {who} is decided for by {version}, and its settings say {name}"
        elif written == __version__ and not _known(name, version):
            yield f"row 0: {version} is no version that {written} has"


def _known(name: str, version: str) -> bool:
    """Whether this program has that version; a mate's and a stranger's are told by nobody."""
    if name in PLAIN:
        return version == PLAIN[name][0]
    if name in ("llm", "chain"):
        from loopforge.policies import robot_model

        return version in (robot_model.LLM, robot_model.CHAIN)
    return True


def _number(version: str) -> tuple[int, ...]:
    """A version as numbers; of what follows them nothing is known."""
    found = VERSION.match(version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()
