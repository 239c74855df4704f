"""Tools in groups, by what people are told: whether they ask, and who may have them used."""

from collections.abc import Iterable
from itertools import groupby

from loopforge.runtime.ports import Tool


def group_of(tool: Tool) -> str:
    """What people are told of it: whether it asks, and who may have it used."""
    if tool.asks:
        return "The mate asks once in a room" if tool.once else "The mate asks first"
    return (
        "Free for everybody"
        if tool.harmless and tool.idempotent
        else "For whoever may have mates use tools"
    )


def group_tools(tools: Iterable[Tool]) -> list[tuple[str, list[Tool]]]:
    """The groups with their tools, each by name."""
    ranked = sorted(tools, key=lambda tool: (group_of(tool), tool.name))
    return [(kind, list(some)) for kind, some in groupby(ranked, key=group_of)]
