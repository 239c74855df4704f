"""AgentReflection: what a mind makes of a day, a task or a conversation.

The environment turns it into trait and relationship changes; each change is an entry in the
ledger that cites the step that caused it. A reflection changes nothing by itself.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from loopforge.errors import BadReflection


class AgentReflection(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Looking back. `tags` are short snake_case words such as `regretted_obedience`."""

    summary_of_day: str
    self_assessment: str = ""
    intended_changes: str = ""
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for tag in self.tags:
            if not tag or not tag.replace("_", "").isalnum() or tag != tag.lower():
                raise BadReflection(f"`tags`: {tag!r} is no tag; use words like blamed_policy")

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and strings; `from_dict` gives the same reflection back."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> AgentReflection:
        """Read what `to_dict` wrote. Raises BadReflection, naming the field, on anything else."""
        try:
            return msgspec.convert(fields, cls)
        except (msgspec.ValidationError, ValueError, TypeError) as error:
            raise BadReflection(f"This is no reflection: {error}.") from error
