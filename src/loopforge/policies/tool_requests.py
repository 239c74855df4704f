"""Tools that an answer wants used: read from its form, used, and shown to the mind as lines.

For every mind that uses tools; what it makes of what they gave is its own.
"""

import json
from typing import Any, NamedTuple

from msgspec import structs

from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import Asking, Call, Result, call, together
from loopforge.core.text.erasable_text import Words, public_words

MOST_AT_ONCE = 8
"""How many uses of tools one answer may want."""
LEFT = "Left to you in this turn: {left}."
SPARING = "Left to spend here: {left}."
BOUND = "No tool can be used any more: {bound}. Answer with what you have; say what is missing."


class WantedCall(NamedTuple):
    """A tool that is to be used, and its arguments; None where they were no JSON object."""

    tool: str
    arguments: dict[str, Any] | None

    @property
    def told(self) -> str:
        """Which of several uses it is."""
        return json.dumps(self.arguments, ensure_ascii=False)


def wanted_calls(data: dict[str, Any]) -> list[WantedCall]:
    """The tools that an answer wants used, in order; arguments mostly come as JSON in a string.

    Each also by the names that providers' own forms have for it.
    """
    written = data.get("calls")
    named = (
        [each for each in written if isinstance(each, dict)] if isinstance(written, list) else []
    )
    held = [one if isinstance(one := each.get("function"), dict) else each for each in named]
    return [
        WantedCall(tool, _arguments(named_one(each, "arguments", "args", "parameters", "input")))
        for each in held
        if (tool := str(named_one(each, "tool", "name") or ""))
    ]


def named_one(written: dict[str, Any], *names: str) -> Any:
    """What stands under the first of these names that holds something; None where none does."""
    return next((found for name in names if (found := written.get(name))), None)


def _arguments(written: object) -> dict[str, Any] | None:
    if not isinstance(written, dict):
        try:
            written = json.loads(str(written or "{}"))
            # Half a character, as of a broken emoji, can be written into no record.
            plain = json.dumps(written, ensure_ascii=False).encode("utf-8", "replace")
            written = json.loads(plain)
        except (ValueError, RecursionError):
            return None
    return written if isinstance(written, dict) else None


class UsedTools(NamedTuple):
    """What a mind is shown next (what tools gave, and news), the last result, what was not tried.

    `unused` says of each use that was not tried why.
    """

    seen: AgentPerception
    last: Result | None
    unused: tuple[str, ...]


def use_tools(wanted: list[WantedCall], seen: AgentPerception) -> Asking[UsedTools]:
    """Have tools used.

    They are used side by side where all of them only read, and else one after the other, until one
    does not come back: what follows may have rested on it.
    """
    reads = {tool.name for tool in seen.offered if tool.reads}
    results: dict[int, Result] = {}
    good = [nth for nth, one in enumerate(wanted[:MOST_AT_ONCE]) if one.arguments is not None]
    if len(good) > 1 and all(wanted[nth].tool in reads for nth in good):
        given = yield from together(*(_call(wanted[nth]) for nth in good))
        results = {
            nth: one for nth, one in zip(good, given, strict=True) if isinstance(one, Result)
        }
        good = []
    for nth in good:
        request = _call(wanted[nth])
        results[nth] = yield from call(request.tool, request.arguments)
        if results[nth].outcome != "returned":
            break
    several = len(wanted) > 1
    unused = {
        nth: _unused(one, within=nth < MOST_AT_ONCE)
        for nth, one in enumerate(wanted)
        if nth not in results
    }
    for nth, one in enumerate(wanted):
        seen = _with(results.get(nth) or unused[nth], one, seen, several=several)
    last = results[max(results)] if results else None
    return UsedTools(seen, last, tuple(one.value for one in unused.values()))


def left_rows(last: Result | None, seen: AgentPerception) -> str:
    """What the turn may still have done by tools, and what budgets have left, as rows at the end.

    There they change nothing of what a provider caches.
    """
    rows: list[str] = []
    if left := seen.context.get("left"):
        rows.append(SPARING.format(left=left))
    if last is not None and last.bound:
        rows.append(BOUND.format(bound=last.bound))
    elif last is not None and last.left:
        rows.append(LEFT.format(left=last.left))
    return "".join(f"\n{row}" for row in rows)


def _call(wanted: WantedCall) -> Call:
    return Call(wanted.tool, wanted.arguments or {})


def _unused(wanted: WantedCall, *, within: bool) -> Result:
    why = "the tool before it did not come back"
    if not within:
        why = f"one answer uses tools {MOST_AT_ONCE} times at most"
    elif wanted.arguments is None:
        why = "its arguments were no JSON object"
    return Result("refused", f"{wanted.tool} was not used: {why}.")


def _with(
    result: Result, wanted: WantedCall, seen: AgentPerception, *, several: bool
) -> AgentPerception:
    """What it is shown next: the same, what the tool gave, and what was heard meanwhile."""
    tool, good = wanted.tool, result.outcome == "returned"
    value = f"(for {wanted.told})\n{result.value}" if several else result.value
    called = tool if good else f"{tool}, {result.outcome}"
    line = Line(kind="result", who=public_words(called), text=Words(value))
    return structs.replace(seen, local_events=(*seen.local_events, line, *result.news))
