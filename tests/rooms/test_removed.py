"""Lines of mates that a platform's keepers took away: gone for people, for mates, and for good."""

from __future__ import annotations

from datetime import UTC
from itertools import chain, repeat
from pathlib import Path

import pytest

from loopforge.chat.why.plain_summary import story
from loopforge.chat.why.record_building import gather
from loopforge.core.line_revision import Revised
from loopforge.core.room_vocabulary import LineDeleted, Said
from loopforge.errors import Unknown
from tests.rooms.conftest import living
from tests.rooms.test_revised import forgotten, shown, text_of

pytestmark = pytest.mark.anyio


async def test_a_mates_line_that_keepers_took_away(tmp_path: Path) -> None:
    """No reader, no search, no mate and no file holds a word of it; a person may not do that."""
    answers = chain(["The vault opens with rhubarb-4711."], repeat("So it is."))
    async with living(tmp_path, lambda _: next(answers)) as home:
        await home.hears("ana", "@maya tell me")
        said = next(event for event in await home.events() if isinstance(event.body, Said))
        front = home.app.front
        with pytest.raises(Unknown):
            await front.rooms.delete(home.room, home.people["ana"], said.id)
        await front.rooms.delete(home.room, "", said.id)
        now = await shown(home, said)
        assert isinstance(now, Revised)
        assert now.revision.deleted
        assert text_of(now).text is None
        assert said.id not in (await front.rooms.state(home.room)).lines
        with pytest.raises(Unknown):
            await front.rooms.delete(home.room, "", said.id)
        assert [type(e.body) for e in await home.events()].count(LineDeleted) == 1
        await forgotten(home)
        assert home.holding(b"rhubarb") == []
        assert not await front.search(home.room, "rhubarb", 5)
        for sentence in story(await gather(home.app.ledger, said.id), UTC):
            assert "rhubarb" not in sentence
        await home.hears("ana", "@maya what did you say?")
        assert "rhubarb" not in str(home.models.asked[-1].messages)
        assert (await home.app.ledger.verify()).findings == ()
