"""Derived texts: what is kept because of something that is to be forgotten, and goes along with it.

A view that knows what rests on which events (a memory on the lines that it was made of) says so
when texts are erased. In the transaction of the erasure, so that nothing is left over between.
"""

from collections.abc import Collection, Mapping
from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct
from sqlalchemy.engine import Connection

Reach = Literal["", "all", "sole", "none"]
"""How much of what is derived goes along; see `ErasureRequest`."""


class ForgottenGrounds(Struct, frozen=True, kw_only=True):
    """What is to be forgotten, seen from what rests on it.

    `events` are those whose words go, `people` all selves of a person who is forgotten, with their
    `names`; `stream` is one that goes as a whole.
    """

    events: Collection[str] = ()
    people: Collection[str] = ()
    names: Collection[str] = ()
    stream: str = ""


@runtime_checkable
class DerivedTexts(Protocol):
    """A view that knows what rests on what."""

    def derived(
        self, connection: Connection, grounds: ForgottenGrounds, *, sole: bool
    ) -> Mapping[str, Collection[str]]:
        """The refs of texts that rest on these grounds, by stream.

        With `sole`, only of what rests on nothing else.
        """
