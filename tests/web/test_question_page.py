"""A mate asks first, in the browser: what people read, their answer, and who may give it."""

import re
from pathlib import Path

from loopforge.core.effect_states import EffectApproved, EffectDenied
from tests.rooms.conftest import write_mates
from tests.rooms.oven import installed
from tests.rooms.test_asking_first import cook
from tests.rooms.test_tools import MATE
from tests.web.conftest import Guest, Town, town, words


async def kinds(site: Town, room: str, kind: type) -> int:
    """How many events of a kind the room has."""
    return sum(isinstance(event.body, kind) for event in await site.events(room))


async def test_a_question_is_answered_on_its_page(tmp_path: Path) -> None:
    """It shows what would run; a no goes with its reason; it is answered once; strangers see none."""
    write_mates(tmp_path, (), maya=MATE.format(name="Maya"))
    with installed(asks=True, harmless=False):
        async with town(tmp_path, cook) as site:
            olu: Guest = await site.owner()
            room = await site.room(olu, "Ovens", "maya")
            ben = await site.guest("ben", room, by=olu)
            ana = await site.guest("ana", by=olu)
            await olu.post(f"/rooms/{room}/settings", {"act": "rights", "who": ben.person})
            await olu.says(room, "@maya bake me a cake")
            await site.rest(room)
            shown = (await olu.get(f"/rooms/{room}")).text
            link = re.search(rf'href="(/rooms/{room}/questions/1)"', shown)
            assert link
            asked = words(await olu.get(link[1]))
            assert re.search(
                'It wants to use oven for [Oo]lu with exactly this: {"degrees":180}', asked
            ), asked
            assert (await ana.get(link[1])).status_code == 404
            refused = await ben.post(link[1], {"answer": "yes"})
            assert refused.status_code == 400
            assert await kinds(site, room, EffectApproved) == 0
            back = await olu.post(link[1], {"answer": "no", "why": "too hot"})
            assert back.url.path == f"/rooms/{room}"
            await site.rest(room)
            assert "olu said no to question 1: too hot" in words(await ben.get(f"/rooms/{room}"))
            assert await kinds(site, room, EffectDenied) == 1
            late = await olu.post(link[1], {"answer": "yes"})
            assert (late.status_code, "No question is open here" in words(late)) == (404, True)
            assert "Nobody is asked any more" in words(await ben.get(link[1]))
            assert (await olu.get(f"/rooms/{room}/questions/2")).status_code == 404
