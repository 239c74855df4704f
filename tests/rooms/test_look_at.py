"""Looking at pictures: a model that sees is asked, and who has none is told so."""

import io
import json
from pathlib import Path

from PIL import Image

from loopforge.artifacts.file_intake import FileLimits, ingest_file
from loopforge.core.effect_states import EffectFailed, EffectReturned
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from tests.drawing_mate import PICTURE
from tests.rooms.conftest import Home, living, write_mates
from tests.said_now import said_now

MAYA = "---\nname: Maya\nrole: r\ntools: [look_at]\n---\nYou are Maya."


def looking(question: Question) -> ScriptedAnswer | str:
    """A mind that looks at what is named, and a model that sees how dark a picture is."""
    texts = said_now(question)
    if "You look at a picture" in texts[0]:
        return f"It is grey. {texts[0].partition('The question: ')[2]} [{len(question.pictures)}]"
    last = [nth for nth, text in enumerate(texts) if "@maya look" in text]
    if not last:
        return ScriptedAnswer(data={"say": "Yes?"})
    told = "".join(text for text in texts[last[-1] :] if "[result of " in text)
    if told:
        return ScriptedAnswer(data={"say": told})
    wanted = texts[last[-1]].split("@maya look ")[1]
    return ScriptedAnswer(data={"say": "", "tool": "look_at", "arguments": wanted.split("\n")[0]})


async def looked(home: Home, **arguments: str) -> str:
    """What maya was told of a picture."""
    await home.hears("ana", f"@maya look {json.dumps(arguments)}")
    await home.finishes()
    ends = await home.bodies(EffectReturned) + await home.bodies(EffectFailed)
    return str(ends[-1].value)


async def give(home: Home, name: str, data: bytes) -> str:
    """Ana gives a picture to the room; its handle."""
    limits = FileLimits(size=10_000_000, text=1000)
    file = await ingest_file(home.app.artifacts, name, data, limits)
    await home.hears("ana", "see", files=(file,))
    return str(file.hash)[:8]


async def test_a_model_that_sees_answers(tmp_path: Path) -> None:
    """The picture goes to it by its hash, with the question; its words come back as material."""
    write_mates(tmp_path, (), maya=MAYA)
    async with living(tmp_path, looking) as home:
        home.models.vision = True
        await home.enter("ana")
        handle = await give(home, "slugs.png", PICTURE)
        told = await looked(home, file=handle, question="How dark is it?")
        assert "It is grey. How dark is it? [1]" in told
        assert told.startswith("(Seen on slugs.png by ")
        seen = next(one for one in home.models.asked if "You look at" in one.messages[0][1])
        assert seen.pictures[0].hash.startswith(handle)
        newest = await looked(home)
        assert "What is on this picture?" in newest


async def test_without_eyes_it_says_so(tmp_path: Path) -> None:
    """Where no model of the home sees, the mind is told what the owner could do; none is asked."""
    write_mates(tmp_path, (), maya=MAYA)
    async with living(tmp_path, looking) as home:
        await home.enter("ana")
        handle = await give(home, "slugs.png", PICTURE)
        assert "no model of this home sees pictures" in await looked(home, file=handle)
        assert not any("You look at" in one.messages[0][1] for one in home.models.asked)


async def test_what_is_no_picture_is_not_looked_at(tmp_path: Path) -> None:
    """A text, a picture that is too large, and a room without any are answered in words."""
    write_mates(tmp_path, (), maya=MAYA)
    async with living(tmp_path, looking) as home:
        home.models.vision = True
        await home.enter("ana")
        assert "there is no picture in this room" in await looked(home)
        handle = await give(home, "notes.txt", b"buy bread")
        assert "notes.txt is no picture (text/plain)" in await looked(home, file=handle)
        held = io.BytesIO()
        Image.new("L", (9000, 10)).save(held, "PNG")
        handle = await give(home, "long.png", held.getvalue())
        assert "long.png is too large to be looked at" in await looked(home, file=handle)
