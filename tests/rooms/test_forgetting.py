"""Forgetting while a room is alive: nothing keeps the words, and talk goes on."""

import gc
from typing import Any

import pytest

from loopforge.chat.speaking import addressee_detection, name_mentions
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text import topics
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger_opening import open_ledger_of
from tests.rooms.conftest import Home
from tests.rooms.test_memory_items import keep


async def test_a_forgotten_line_is_gone_from_minds_and_files(home: Home) -> None:
    """After an erasure neither the next prompt nor any file of the home holds the words."""
    await home.hears("ana", "@maya my locker opens with rhubarb-4711")
    await home.hears("ana", "@merlin a fine day")
    line = next(e for e in await home.events() if isinstance(e.body, Heard))
    await home.app.ledger.erase(ErasureRequest(events=(line.id,), by="owner"))
    await home.hears("ana", "@maya what did I tell you?")
    assert "rhubarb" not in str(home.models.asked[-1].messages)
    assert not await home.app.front.search("commons", "rhubarb", 5)
    assert "rhubarb" not in "\n".join(await home.lines())
    assert home.holding(b"rhubarb") == []
    assert (await home.app.ledger.verify()).findings == ()


async def test_a_forgotten_person_is_somebody_new_when_they_come_back(home: Home) -> None:
    """A person whose texts were erased has no name left; entering again makes a new person."""
    await home.hears("annelise", "@maya I grow turnips in Lucerne")
    person = home.people["annelise"]
    await home.app.ledger.erase(ErasureRequest(person=person, by="owner"))
    assert home.holding(b"annelise", b"turnips") == []
    await home.enter("annelise")
    assert home.people["annelise"] != person
    scene = await home.app.front.rooms.scene("commons")
    assert "[forgotten]" in [name for _, name in scene.people]
    assert (await home.app.ledger.verify()).findings == ()


async def test_a_running_home_forgets_what_another_process_erased(home: Home) -> None:
    """An erasure from the command line reaches the memory of the host that is running."""
    await home.hears("ana", "@maya the cellar floods at rhubarb-4711")
    line = next(e for e in await home.events() if isinstance(e.body, Heard))
    async with open_ledger_of(home.app.settings) as other:
        await other.erase(ErasureRequest(events=(line.id,), by="owner"))
    await home.app.ledger.follow()
    state = await home.app.rooms.state("commons")
    assert "rhubarb" not in " ".join(str(words) for words in state.words())
    await home.hears("ana", "@maya what did I say?")
    assert "rhubarb" not in str(home.models.asked[-1].messages)


@pytest.mark.parametrize("more", [{}, {"subject": Words("Annelise's evenings")}])
async def test_a_memory_that_once_named_a_forgotten_person_goes(
    home: Home, more: dict[str, Any]
) -> None:
    """In an earlier wording, or in its subject: no correction that is taken back names them."""
    await home.hears("annelise", "hello")
    line = await home.hears("bo", "she drinks again")
    text = "She drinks again" if more else "Annelise drinks again"
    item = await keep(home, text, line, about=(home.people["bo"],), **more)
    other = await keep(home, "Bo sings", line)
    await home.app.memory.store.correct(item, "She is well", by=home.people["bo"])
    await home.app.ledger.erase(ErasureRequest(person=home.people["annelise"], by="owner"))
    store = home.app.memory.store
    assert [(await store.item(one)).state for one in (item, other)] == ["forgotten", "held"]
    query = "SELECT text FROM texts WHERE stream = 'memory:maya'"
    texts = await home.app.ledger.look(lambda c: c.exec_driver_sql(query).scalars().all())
    assert "Bo sings" in texts
    assert "Annelise" not in str(texts)


async def test_names_that_were_looked_for_are_not_kept(home: Home) -> None:
    """What was compared with a line to see whom it calls goes with the person, at once."""

    def kept() -> list[str]:
        names = (addressee_detection._call_names, name_mentions.forms_of, name_mentions.key)
        caches = (*names, topics.stem)
        return [str(gc.get_referents(cache)) for cache in caches]

    await home.hears("annelise", "@maya turnipps for annelisse")
    await home.hears("ana", "annelise, are you there?")
    assert all("annel" in each for each in kept())
    await home.app.ledger.erase(ErasureRequest(person=home.people["annelise"], by="owner"))
    assert not any("annel" in each for each in kept())
