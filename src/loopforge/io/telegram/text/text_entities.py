"""Entities: Telegram's markup, which stands beside a text and says where it holds.

Offsets and lengths are UTF-16 code units. Two entities are apart or one lies within the other.
Knows no words of the house.
"""

from collections.abc import Iterable

from msgspec import Struct

from loopforge.io.text.graphemes import measure
from telegram import MessageEntity


class EntitySpan(Struct, frozen=True):
    """An entity by indices into the text, end excluded."""

    start: int
    end: int
    entity: MessageEntity


def spans(text: str, entities: Iterable[MessageEntity]) -> list[EntitySpan]:
    """The entities as spans, those that enclose others first.

    What reaches beyond the text is cut off, what reaches out of another ends with it, and what is
    empty then is left out, so that any list is one of nested spans.
    """
    indices = _indices(text)
    last = len(indices) - 1
    found: list[EntitySpan] = []
    open_: list[EntitySpan] = []
    for entity in sorted(entities, key=_order):
        start = indices[min(max(entity.offset, 0), last)]
        end = indices[min(max(entity.offset + entity.length, 0), last)]
        while open_ and open_[-1].end <= start:
            open_.pop()
        end = min([end, *(span.end for span in open_[-1:])])
        if start < end:
            open_.append(EntitySpan(start, end, entity))
            found.append(open_[-1])
    return found


def _order(entity: MessageEntity) -> tuple[int, int, int]:
    """Quotes enclose all else; code encloses nothing."""
    rank = {"blockquote": 0, "expandable_blockquote": 0, "pre": 2, "code": 2}.get(entity.type, 1)
    return (entity.offset, -entity.length, rank)


def _indices(text: str) -> list[int]:
    """For each unit the index of its character; a last one for the end."""
    indices = []
    for at, letter in enumerate(text):
        indices += [at] * measure(letter)
    return [*indices, len(text)]
