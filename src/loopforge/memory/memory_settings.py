"""What can be set of memory; its settings begin with the part's own name, `memory_`."""

from dataclasses import dataclass
from typing import Literal

from loopforge.runtime.plugins.setting_declarations import SettingsPart, setting

KeptWhat = Literal["all", "asked", "nothing"]


@dataclass(frozen=True, kw_only=True)
class MemorySettings:
    """What can be set."""

    keep: Literal["all", "asked", "nothing"] = setting(
        "all",
        "What mates keep beyond lines: `all` that matters, noted in idle time; only what they are "
        "`asked` to; `nothing`. A room and a person may say less.",
        live=True,
    )
    lines: int = setting(
        16,
        "After how many lines a mate notes what matters of a talk that goes on.",
        least=4,
        most=40,
        live=True,
    )
    index: Literal["files", "pgvector"] = setting(
        "files",
        "Where the index of very many lines is: in `files` in data/memory, which is quickest; or, "
        "on PostgreSQL with the extension `pgvector`, in the database, and no machine keeps files.",
    )


PART = SettingsPart("Memory", MemorySettings)
