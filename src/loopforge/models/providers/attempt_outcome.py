"""What came of one attempt at one model, whatever kind of model it is. Pure."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from loopforge.core.events import Usage
from loopforge.core.model_trouble import Cause
from loopforge.core.policy import AnswerOutcome


class Tried(Struct, frozen=True, kw_only=True):
    """What came of one attempt. Times in milliseconds; `detail` is for the record, not for people.

    `again`, `wait`, `lasting`, `ours`, `cause` and `formless` as in Fault. `cut`: more would have
    come. `shown`: people were shown words of it.
    """

    outcome: AnswerOutcome
    text: str = ""
    data: dict[str, Any] | None = None
    usage: Usage = Usage()
    first: int = 0
    took: int = 0
    detail: str = ""
    again: bool = False
    wait: float | None = None
    lasting: bool = False
    ours: bool = False
    cause: Cause = ""
    formless: bool = False
    cut: bool = False
    shown: bool = False
