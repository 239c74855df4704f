"""What can be set of the log, besides how much of it is written."""

from dataclasses import dataclass
from typing import Literal

from loopforge.runtime.plugins.setting_declarations import SettingsPart, setting


@dataclass(frozen=True, kw_only=True)
class LogSettings:
    """How the log is written, and where."""

    format: Literal["text", "json"] = setting(
        "text", "Lines for people, or objects of JSON with the room or task that they are about."
    )
    to: Literal["file", "stderr"] = setting(
        "file", "data/logs/loopforge.log, or the standard error of the process, as containers want."
    )


PART = SettingsPart("The log", LogSettings)
