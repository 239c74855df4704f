"""An older program cannot read kinds of events that it does not know: the schema says so first."""

from pathlib import Path
from typing import get_args

from loopforge.core.events import Body
from loopforge.ledger.schema_migration import NEWEST

KNOWN = Path(__file__).with_name(f"event-kinds-{NEWEST}.txt")


def test_a_new_kind_of_event_comes_with_a_new_schema() -> None:
    """Where this fails, add a migration (it may change nothing) and the list of its kinds.

    Then an older program refuses the home in one sentence, in place of writing into one of which it
    cannot read all.
    """
    kinds = sorted(str(one.__struct_config__.tag) for one in get_args(Body))
    assert kinds == KNOWN.read_text("utf-8").split()
