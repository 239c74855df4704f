"""Plots of a room's tables: from a file that somebody gave to a picture in the room."""

import io
import json
from pathlib import Path

from PIL import Image

from loopforge.artifacts.file_intake import FileLimits, ingest_file
from loopforge.core.effect_states import EffectReturned
from loopforge.core.room_vocabulary import Said
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from tests.documents import table
from tests.drawing_mate import handles
from tests.rooms.conftest import Home, living, write_mates
from tests.said_now import said_now

MAYA = "---\nname: Maya\nrole: r\ntools: [plot]\n---\nYou are Maya."
BEDS = b"bed;slugs\nnorth;12\nsouth;40\n"


def drawing(question: Question) -> ScriptedAnswer:
    """A mind that plots the file that was named last, and attaches the plot or says what failed."""
    texts = said_now(question)
    last = [nth for nth, text in enumerate(texts) if "@maya draw" in text]
    if not last:
        return ScriptedAnswer(data={"say": "Yes?"})
    told = "".join(text for text in texts[last[-1] :] if "[result of " in text)
    if not told:
        file = texts[last[-1]].split("@maya draw ")[1].split()[0]
        wanted = json.dumps({"kind": "bar", "file": file})
        return ScriptedAnswer(data={"say": "", "tool": "plot", "arguments": wanted})
    return ScriptedAnswer(data={"say": told, "attach": handles(told)})


async def drawn(home: Home, line: str) -> Said:
    """What maya says to a line, once the plot is there."""
    await home.hears("ana", line)
    await home.finishes()
    return (await home.bodies(Said))[-1]


async def test_a_table_of_the_room_becomes_a_picture_in_it(tmp_path: Path) -> None:
    """CSV and a sheet of Excel alike; the mind is told what is on it, and never sees a byte."""
    write_mates(tmp_path, (), maya=MAYA)
    async with living(tmp_path, drawing) as home:
        limits = FileLimits(size=100_000, text=100_000)
        await home.enter("ana")
        for name, data in (("beds.csv", BEDS), ("beds.xlsx", table(rows=5))):
            file = await ingest_file(home.app.artifacts, name, data, limits)
            await home.says("ana", "look", files=(file,))
            await home.rest()
            said = await drawn(home, f"@maya draw {name}")
            (picture,) = said.files
            assert str(picture.name) == "beds-bar.png"
            image = Image.open(io.BytesIO(await home.app.artifacts.get(str(picture.hash))))
            assert (image.format, image.size) == ("PNG", (1200, 750))
        (first, *_) = await home.bodies(EffectReturned)
        assert "slugs: 2 bars, 12 to 40, mean 26" in str(first.value)


async def test_what_is_no_table_is_said(tmp_path: Path) -> None:
    """The mind is told why, and which columns there are."""
    write_mates(tmp_path, (), maya=MAYA)
    async with living(tmp_path, drawing) as home:
        said = await drawn(home, "@maya draw nothing.csv")
        assert "No file 'nothing.csv' is here." in str(said.text)
        assert said.files == ()
