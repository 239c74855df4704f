"""What can be set of work on tasks; names begin with `work_`."""

import re
from dataclasses import dataclass
from typing import Literal

from loopforge.core.work.model_escalation import LADDER
from loopforge.core.work.work_roles import ROLES, TYPES, ModelPlace, read_places
from loopforge.errors import BadSettings
from loopforge.runtime.plugins.setting_declarations import SettingsPart, setting


def _types(text: str, source: str) -> str:
    read_places(text, TYPES, f"`work_types` ({source})")
    return text


def _roles(text: str, source: str) -> str:
    read_places(text, tuple(ROLES), f"`work_roles` ({source})")
    return text


def _branches(text: str, source: str) -> str:
    if not re.fullmatch(r"\s*[1-4]\s+[1-4]\s*", text):
        raise BadSettings(
            f"`work_branches` ({source}) is {text[:80]!r}; it must be two tiers from 1 to 4, such "
            "as 4 3."
        )
    return text


@dataclass(frozen=True, kw_only=True)
class WorkSettings:
    """What can be set of work on tasks."""

    types: str = setting(
        "",
        "Which model does which type of task, in place of the shipped table: a tier and the place "
        "in its list, such as `social=1.1, writing=3.2`. Other types go by their role.",
        shown="social=1.1, question=1.1, writing=3.2",
        live=True,
        clean=_types,
    )
    roles: str = setting(
        "",
        "Which model a role has, in place of the shipped table, such as `python-coder=2.2`.",
        shown="as in docs/work.md",
        live=True,
        clean=_roles,
    )
    branches: str = setting(
        "4 3",
        "The tiers of the two models that think of options side by side.",
        live=True,
        clean=_branches,
    )
    planner: str = setting(
        "",
        "The model that says what kind of task something is, where its words do not. Its variable "
        "is PLANNER_MODEL_ID.",
        shown="the first of tier 1",
        variable="PLANNER_MODEL_ID",
        live=True,
    )
    ladder: str = setting(
        ", ".join(LADDER),
        "Models that go on with a task when one does not get on, the weakest first, with commas "
        "between; those that are not configured are passed over.",
        live=True,
    )
    first_tier: Literal["tables", "learned"] = setting(
        "tables",
        "With which tier of models a task begins: as the `tables` have it, or `learned` from what "
        "people approved of past tasks, and what those cost.",
        live=True,
    )
    explore: float = setting(
        0.1,
        "Where work_first_tier is learned: the share of tasks that begin with any tier, by lot.",
        least=0.02,
        most=0.5,
        live=True,
    )
    minutes: int = setting(
        60,
        "Minutes that a task may work before it stops until somebody says: go on.",
        least=1,
        most=1440,
        live=True,
    )
    tokens: int = setting(
        2_000_000,
        "Tokens that a task may take before it stops until somebody says: go on.",
        least=1_000,
        most=1_000_000_000,
        live=True,
    )
    dollars: float = setting(
        5.0,
        "US dollars that a task may cost where nobody said otherwise; 0: what budgets allow.",
        least=0,
        most=10_000,
        live=True,
    )

    learning: Literal["on", "unused", "shuffled", "split", "off"] = setting(
        "on",
        "Whether attempts are looked back on, and the next task is given what was learned: `on`; "
        "`unused` (looked back on, given nothing); `shuffled` (given what other tasks taught); "
        "`split` (each task one of these three, by lot, so that it can be compared); `off`.",
        live=True,
    )

    @property
    def reflects(self) -> bool:
        """Whether attempts are looked back on."""
        return self.learning != "off"

    @property
    def type_places(self) -> dict[str, ModelPlace]:
        """The table of types."""
        return read_places(self.types, TYPES)

    @property
    def role_places(self) -> dict[str, ModelPlace]:
        """The table of roles."""
        return read_places(self.roles, tuple(ROLES))

    @property
    def rungs(self) -> tuple[str, ...]:
        """The list of models that go on with a task."""
        return tuple(one for part in self.ladder.split(",") if (one := part.strip()))


PART = SettingsPart("Work on tasks", WorkSettings)
