"""Record as text: a flight record as plain text, for a terminal and the command line.

The story first, then everything, as record.txt lays it out. Nothing is computed again: what stands
here was stored when it happened.
"""

from __future__ import annotations

from datetime import UTC, tzinfo
from functools import cache
from typing import TYPE_CHECKING

from loopforge.chat.why.flight_record import Flight
from loopforge.chat.why.plain_summary import clock, why_story
from loopforge.core.text.spoken_lists import pluralize

if TYPE_CHECKING:
    from jinja2 import Template


def why_record_as_text(record: Flight, zone: tzinfo = UTC) -> str:
    """The record as plain text: for people first, and complete below."""
    written = _layout().render(record=record, story=why_story(record, clock(zone)), many=pluralize)
    return written.removesuffix("\n")


@cache
def _layout() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(  # noqa: S701 - plain text, in which nothing is escaped
        loader=PackageLoader("loopforge.chat.why", ""),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return made.get_template("record.txt")
