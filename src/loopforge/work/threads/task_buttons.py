"""The buttons under a task's lines in its room: stop it, allow a call, approve or reject a result.

Each stands only under the line that it is for, and while that is still to be decided.
"""

from collections.abc import Sequence

from loopforge.core.effect_states import EffectProposed
from loopforge.core.events import Event
from loopforge.core.work.work_vocabulary import ResultOffered, TaskClassified
from loopforge.runtime.ports import Ledger, LineButton
from loopforge.work.task_state import TaskState
from loopforge.work.threads.task_rights import possible_acts

STOP = (LineButton("stop", "Stop", "no"),)
ALLOWING = (LineButton("approve", "Allow this once", "yes"), LineButton("deny", "Do not", "no"))
DECIDING = (LineButton("approve", "Approve", "yes"), LineButton("reject", "Reject", "no"))


async def task_buttons(ledger: Ledger, cause: Event, state: TaskState) -> Sequence[LineButton]:
    """Those of a line that tells of this, as its task stands now."""
    acts = possible_acts(state)
    match cause.body:
        case TaskClassified() if "stop" in acts:
            first = await ledger.read(cause.stream, kinds=[cause.kind], limit=1)
            return STOP if first[0].id == cause.id else ()
        case EffectProposed() if cause.id in state.allowing:
            return ALLOWING
        case ResultOffered() as body if "approve" in acts and still_offered(state, body):
            return DECIDING
        case _:
            return ()


def still_offered(state: TaskState, offer: ResultOffered) -> bool:
    """Whether a yes would be for this."""
    now = state.offered
    return state.stage == "finished" and now is not None and now.commit == offer.commit
