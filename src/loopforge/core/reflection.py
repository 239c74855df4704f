"""AgentReflection: what a mind makes of a day, a task or a conversation.

The environment turns it into trait and relationship changes; each change is an entry in the
ledger that cites the step that caused it. A reflection changes nothing by itself.
"""

from loopforge.core.perception import SeamValue
from loopforge.errors import BadReflection


class AgentReflection(SeamValue, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Looking back. `tags` are short snake_case words such as `regretted_obedience`."""

    refused = BadReflection
    summary_of_day: str
    self_assessment: str = ""
    intended_changes: str = ""
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for tag in self.tags:
            if not tag or not tag.replace("_", "").isalnum() or tag != tag.lower():
                raise BadReflection(f"`tags`: {tag!r} is no tag; use words like blamed_policy")
