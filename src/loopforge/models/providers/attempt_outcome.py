"""What came of one attempt at one model, whatever kind of model it is. Pure."""

from typing import Any

from msgspec import Struct

from loopforge.core.model_trouble import Cause
from loopforge.core.policy import AnswerOutcome
from loopforge.core.turn_events import Usage


class AttemptOutcome(Struct, frozen=True):
    """What came of one attempt. Times in milliseconds; `detail` is for the record, not for people.

    `again`: the same model may well answer soon. `wait`: seconds it asked for, if it did.
    `lasting`: it will not answer anybody for a good while (no key, no credit, no such model).
    `ours`: the fault lies with the question, and says nothing of the model. `formless`: the server
    does not take the form that an answer is asked for in; `toolless`: nor tools. `cut`: more would
    have come. `shown`: people were shown words of it.
    """

    outcome: AnswerOutcome
    detail: str = ""
    again: bool = False
    wait: float | None = None
    lasting: bool = False
    ours: bool = False
    cause: Cause = ""
    formless: bool = False
    toolless: bool = False
    text: str = ""
    data: dict[str, Any] | None = None
    usage: Usage = Usage()
    first: int = 0
    took: int = 0
    cut: bool = False
    shown: bool = False


NO_PLACE = AttemptOutcome("timed_out", "no place came free in time", ours=True, cause="busy")
