"""Whoever is the first in a room is greeted, once, by name, in each mate's own words."""

from pathlib import Path

from loopforge.core.room_vocabulary import ConversationBegan, Said
from loopforge.core.turn_events import Asked
from tests.rooms.conftest import living, write_mates

GREETINGS = {
    "maya": "Hello, {person}! What broke?",
    "merlin": "Ah, {person}. We meet tomorrow.",
}


def with_greetings(path: Path) -> None:
    """Maya and Merlin have a greeting in their file, Zuzu has none."""
    write_mates(path)
    for handle, greeting in GREETINGS.items():
        file = path / "mates" / f"{handle}.md"
        file.write_text(file.read_text().replace("---\n", f'---\ngreeting: "{greeting}"\n', 1))


async def test_the_first_is_greeted_once_by_name(tmp_path: Path) -> None:
    """No model is asked; why they said it stands in the record; nobody is greeted again."""
    with_greetings(tmp_path)
    async with living(tmp_path) as home:
        ana = await home.app.people.meet("web", "Ana")
        await home.app.rooms.come_in("commons", ana.id, "Ana")
        await home.rest()
        said = ["Hello, Ana! What broke?", "Ah, Ana. We meet tomorrow."]
        assert [str(line.text) for line in await home.bodies(Said)] == said
        assert not [e for e in await home.events() if isinstance(e.body, Asked)]
        assert len(await home.bodies(ConversationBegan)) == 1
        ben = await home.app.people.meet("web", "Ben")
        await home.app.rooms.come_in("commons", ben.id, "Ben")
        await home.app.rooms.come_in("commons", ana.id, "Ana")
        await home.rest()
        assert len(await home.said()) == 2


async def test_nobody_is_greeted_where_somebody_spoke(tmp_path: Path) -> None:
    """The room has a life already."""
    with_greetings(tmp_path)
    async with living(tmp_path) as home:
        await home.says("ben", "just looking")
        await home.rest()
        before = len(await home.said())
        ana = await home.app.people.meet("web", "Ana")
        await home.app.rooms.come_in("commons", ana.id, "Ana")
        await home.rest()
        assert len(await home.said()) == before
