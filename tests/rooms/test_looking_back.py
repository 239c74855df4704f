"""What was said and given in a room is found again, by those who may see it."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from loopforge.artifacts.file_intake import store_file
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from tests.rooms.conftest import Home, living
from tests.said_now import using_what_is_asked

MATE = "---\nname: Maya\nrole: gardener\ntools: [room_history, skim_file, '*_files']\n---\nYou are Maya."


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    """A home whose maya looks things up for whoever asks."""
    (tmp_path / "mates").mkdir(parents=True)
    (tmp_path / "mates" / "maya.md").write_text(MATE)
    async with living(tmp_path, using_what_is_asked) as home:
        yield home


async def test_lines_are_found_by_words_by_whom_and_by_when(home: Home) -> None:
    """Each with its time and its address, the newest last; the question itself is none."""
    first = await home.hears("ana", "The slugs ate the hostas")
    await home.hears("bo", "Slugs again!")
    await home.clock.advance(timedelta(days=2).total_seconds())
    await home.hears("ana", "Copper keeps slugs away")
    told = await home.uses("ana", "room_history", words="slugs", who="Ana")
    assert "2026-11-21 09:0" in told
    assert f"ana: The slugs ate the hostas (/rooms/commons?at={first.seq}#l-{first.seq})" in told
    assert told.index("hostas") < told.index("Copper")
    assert "again" not in told
    told = await home.uses("ana", "room_history", since="2026-11-22", who="ana", words="copper")
    assert "Copper keeps" in told
    told = await home.uses("ana", "room_history", until="2026-11-21", limit=2, who="bo")
    assert "bo: Slugs again!" in told
    assert "since has to be before until" in await home.uses(
        "ana", "room_history", since="2026-11-23", until="2026-11-21"
    )
    assert "say what to look for" in await home.uses("ana", "room_history")


async def test_what_one_who_is_present_may_not_see_is_not_told(home: Home) -> None:
    """Cy came later: while he is there, what was said before is found for nobody."""
    await home.hears("ana", "The key lies under the hosta")
    assert "under the hosta" in await home.uses("ana", "room_history", words="the key lies")
    await home.app.front.bring(home.room, home.people["ana"], "cy", "Cy")
    told = await home.uses("ana", "room_history", words="the key lies under")
    assert "No such line was found" in told


async def test_words_are_found_in_all_files(home: Home) -> None:
    """With the file, the line, and what is around; what has no text is named."""
    keeper = home.app.artifacts
    diary = await store_file(keeper, "diary.txt", b"Monday\nThe SLUGS came\nover the wall\nTuesday")
    page = b"<html><body><h1>Hostas</h1><p>Slugs climb no copper wall.</p></body></html>"
    web = await store_file(keeper, "hostas.html", page)
    blank = await store_file(keeper, "blank.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 40)
    await home.hears("ana", "look", files=(diary, web, blank))
    told = await home.uses("ana", "search_files", words="slugs wall")
    assert f"diary.txt ({str(diary.hash)[:8]}), line 2, character 7:" in told
    assert "Monday The SLUGS came over the wall" in told
    assert "hostas.html" in told
    assert "no text could be read in: blank.png" in told
    told = await home.uses("ana", "search_files", words="slugs", name="HOSTAS")
    assert "diary" not in told
    assert "in no file" in await home.uses("ana", "search_files", words="Monday copper")


async def test_a_long_file_is_given_in_short(home: Home) -> None:
    """Headings, and beginnings over the whole of it; how much is left out is said."""
    story = "".join(
        f"Chapter {nth}\n\nIn year {nth} the slugs came over the wall and ate. {'Ha! ' * 99}\n\n"
        for nth in range(60)
    )
    file = await store_file(home.app.artifacts, "story.txt", story.encode())
    await home.hears("ana", "look", files=(file,))
    told = await home.uses("ana", "skim_file", file="story.txt")
    assert f"story.txt has {len(story):,} characters in 120 paragraphs." in told
    assert "The rest is left out here" in told
    assert "Chapter 0" in told
    assert "Chapter 59" in told
    assert "In year 59 the slugs came over the wall and ate." in told
    last = int(re.findall(r"At ([\d,]+): Chapter 59", told)[0].replace(",", ""))
    assert story[last:].startswith("Chapter 59")
    short = await store_file(home.app.artifacts, "note.txt", b"Slugs. All of them.")
    await home.hears("ana", "look", files=(short,))
    assert "this is all of it" in await home.uses("ana", "skim_file", file="note.txt")


async def test_what_a_mate_heard_is_recalled_by_what_it_is_about(home: Home) -> None:
    """Every mate that has tools has it; also from another room of the same people, said so."""
    await home.hears("ana", "My sister bakes rye bread on Sundays")
    told = await home.uses("ana", "recall", about="who in the family bakes bread?")
    assert "2026-11-21 09:0" in told
    assert "ana (/rooms/commons?at=" in told
    assert "rye bread on Sundays" in told
    room = await home.app.rooms.open(home.people["ana"], "ana", "", ["maya"])
    asked = Words('@maya use recall {"about": "bakes bread", "limit": 1}')
    home.room = room
    line = Heard(person=home.people["ana"], text=asked, surface="web")
    await home.app.rooms.hear(room, line)
    await home.rest()
    assert "in another room, /rooms/commons?at=" in (await home.lines())[-1]


async def test_what_one_who_is_present_did_not_hear_is_not_recalled(home: Home) -> None:
    """Nor is it said that there is something."""
    await home.hears("ana", "The zarquon key lies under the hosta")
    await home.app.front.bring(home.room, home.people["ana"], "cy", "Cy")
    told = await home.uses("ana", "recall", about="where is the zarquon key?")
    assert "under the hosta" not in told
