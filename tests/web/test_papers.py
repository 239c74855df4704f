"""Files that mates wrote, in the browser: whom they are handed to, and how."""

from pathlib import Path

from loopforge.core.room_vocabulary import Said
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from tests.drawing_mate import MAYA, PICTURE, attaching, with_draw
from tests.rooms.conftest import write_mates
from tests.web.conftest import town

TEXT = "<script>alert(1)</script>\n500 g flour\n"
ANSWER = ScriptedAnswer(data={"say": "Here it is.", "files": [{"name": "bread.md", "text": TEXT}]})


async def test_a_mates_file_is_for_the_people_of_its_room(tmp_path: Path) -> None:
    """It is handed over as a file, to whoever may see the line; for all others it does not exist."""
    async with town(tmp_path, models=ScriptedModels(lambda _: ANSWER, window=65_536)) as site:
        owner = await site.owner()
        room = await site.talk(owner, "Tea", "@maya write it down")
        (said,) = [e for e in await site.events(room) if isinstance(e.body, Said)]
        path = f"/rooms/{room}/files/{said.id}/0"
        assert path in (await owner.get(f"/rooms/{room}")).text
        file = await owner.get(path)
        assert (file.status_code, file.text) == (200, TEXT)
        assert file.headers["content-type"] == "application/octet-stream"
        assert file.headers["content-disposition"] == "attachment; filename*=UTF-8''bread.md"
        late = await site.guest("late", room, by=owner)
        elsewhere = await site.guest("eve", await site.room(owner, "Elsewhere"), by=owner)
        for stranger in (late, elsewhere):
            assert (await stranger.get(path)).status_code == 404
        assert (await owner.get(f"/rooms/{room}/files/{said.id}/1")).status_code == 404
        await site.app.ledger.erase(ErasureRequest(events=(said.id,), by="owner"))
        assert (await owner.get(path)).status_code == 404


async def test_an_attached_picture_is_seen_in_the_room(tmp_path: Path) -> None:
    """It stands under the words as a picture, byte for byte, for those who may see the line."""
    write_mates(tmp_path, (), maya=MAYA)
    async with town(tmp_path, models=ScriptedModels(attaching(), window=65_536)) as site:
        with_draw(site.app)
        owner = await site.owner()
        room = await site.talk(owner, "Tea", "@maya draw the slugs")
        said = [e for e in await site.events(room) if isinstance(e.body, Said)][-1]
        path = f"/rooms/{room}/files/{said.id}/0"
        assert f'<img src="{path}" alt="slugs.png"' in (await owner.get(f"/rooms/{room}")).text
        shown = await owner.get(path)
        assert (shown.content, shown.headers["content-type"]) == (PICTURE, "image/png")
        late = await site.guest("late", room, by=owner)
        assert (await late.get(path)).status_code == 404
