"""Pictures of people and mates: given, looked at before they are kept, shown, and taken away."""

import io
import re

import pytest
from PIL import Image

from loopforge.artifacts.avatar_upload import SIDE
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from tests.web.conftest import Guest, Town

ADDRESS = re.compile(r"/pictures/[0-9a-f]{32}")


def photo(format: str = "JPEG", size: tuple[int, int] = (600, 400)) -> bytes:
    """A photograph whose camera wrote down where it was taken."""
    held = io.BytesIO()
    exif = Image.Exif()
    exif[0x010E], exif[0x9286] = "at home, 12 Mill Lane", "a secret comment"
    Image.linear_gradient("L").resize(size).convert("RGB").save(held, format, exif=exif)
    return held.getvalue()


async def give(guest: Guest, path: str, data: bytes, name: str = "me.jpg") -> tuple[int, str]:
    """Send a form with a picture; the status, and the page that it leads to."""
    answer = await guest.post(path, {}, files={"picture": (name, data)})
    return answer.status_code, answer.text


async def test_a_persons_picture(site: Town, owner: Guest) -> None:
    """It is small, holds pixels alone, stands where the person is shown, and goes when removed."""
    room = await site.talk(owner, "Kitchen", "hello")
    status, shown = await give(owner, "/you/picture", photo())
    assert status == 200
    found = ADDRESS.search(shown)
    assert found
    address = found[0]
    page = (await owner.get(f"/rooms/{room}")).text
    assert page.count(address) >= 3, "top right, in the list of people, beside the line"
    assert len(page.encode()) < 200_000
    answer = await owner.get(address)
    assert answer.headers["content-type"] == "image/webp"
    assert "private" in answer.headers["cache-control"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    kept = Image.open(io.BytesIO(answer.content))
    assert kept.size == (SIDE, SIDE)
    assert not kept.getexif()
    assert len(answer.content) < 15_000
    stranger = await site.stranger()
    assert (await stranger.get(address)).status_code == 401
    answer = await owner.post("/you/picture/remove")
    assert not ADDRESS.search(answer.text)
    assert (await owner.get(address)).status_code == 404
    assert address not in (await owner.get(f"/rooms/{room}")).text
    await site.app.keeper.sweep()
    assert await site.app.artifacts.hashes() == [], "nothing holds its bytes any more"


async def test_a_picture_goes_with_its_person(site: Town, owner: Guest) -> None:
    """Who is forgotten has no picture, and its bytes are swept away."""
    ana = await site.guest("ana", by=owner)
    await give(ana, "/you/picture", photo("PNG", (64, 200)), "me.png")
    assert site.app.accounts.pictures.of(f"person:{ana.person}")
    await site.app.ledger.erase(ErasureRequest(person=ana.person))
    await site.app.people.refresh()
    assert not site.app.accounts.pictures.of(f"person:{ana.person}")
    await site.app.keeper.sweep()
    assert await site.app.artifacts.hashes() == []


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "Choose a picture first"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "This is no picture"),
        (photo()[:900], "damaged"),
        (photo(size=(8, 8)), "needs 16 pixels"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0\1\0\0" * 2 + b"\x08\2\0\0\0", "too large"),
    ],
)
async def test_what_is_no_picture_is_refused(
    site: Town, owner: Guest, data: bytes, said: str
) -> None:
    """Drawings with scripts, broken files and bombs are told of in a sentence; nothing is kept."""
    status, shown = await give(owner, "/you/picture", data, "me.jpg" if data else "")
    assert status == 400
    assert said in shown
    assert await site.app.artifacts.hashes() == []


async def test_a_mates_picture(site: Town, owner: Guest) -> None:
    """The owner gives one, which everybody sees and a card takes along; a guest may not."""
    room = await site.room(owner, "Kitchen", "maya")
    ana = await site.guest("ana", room, by=owner)
    assert (await give(ana, "/mates/maya/picture", photo()))[0] == 404
    status, shown = await give(owner, "/mates/maya/picture", photo())
    assert status == 200
    found = ADDRESS.search(shown)
    assert found
    assert found[0] in (await ana.get(f"/rooms/{room}")).text
    card = Image.open(io.BytesIO((await ana.get("/mates/maya/export/png")).content))
    assert card.size == (SIDE, SIDE)
    card.load()
    assert {"chara", "ccv3"} <= card.info.keys()
    await owner.post("/mates/maya/picture/remove")
    assert not ADDRESS.search((await owner.get("/mates/maya")).text)


async def test_a_picture_outlives_a_restart(site: Town, owner: Guest) -> None:
    """What stands in the ledger is all: whoever reads it anew has the last picture alone."""
    from loopforge.people.accounts.avatar_records import AvatarRecords
    from loopforge.people.identity.person_registry import PersonRegistry

    await give(owner, "/you/picture", photo())
    await give(owner, "/you/picture", photo(size=(100, 100)))
    people = PersonRegistry(site.app.ledger, site.app.stamp)
    anew = AvatarRecords(site.app.ledger, people, site.app.stamp)
    await people.refresh()
    whose = f"person:{owner.person}"
    assert anew.of(whose) == site.app.accounts.pictures.of(whose) != ""
    await site.app.keeper.sweep()
    assert await site.app.artifacts.hashes() == [anew.of(whose)]


async def test_a_cards_picture_comes_along(site: Town, owner: Guest) -> None:
    """What a character card shows is the new mate's picture, once it is saved."""
    from loopforge.mates.cards.card_export import export_card

    card = export_card(site.app.roster.get("maya"), "png")
    shown = await owner.post("/mates/new/file", {}, files={"file": ("maya.png", card)})
    kept = re.search(r'name="portrait" value="([0-9a-f]{64})"', shown.text)
    assert kept
    text = "---\nname: Mira\n---\nYou are Mira.\n"
    saved = await owner.post("/mates/new", {"text": text, "portrait": kept[1]})
    assert ADDRESS.search(saved.text)
    assert site.app.accounts.pictures.of("mate:mira") == kept[1]
