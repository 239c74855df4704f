"""Pictures in a living room: who sees them, which, what is recorded, and what forgetting takes."""

from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PIL import Image

from loopforge.app import build_policies
from loopforge.chat.why.turn_replay import replay_turn
from loopforge.core.context_window import PICTURE_TOKENS
from loopforge.core.events import Event, encode_body
from loopforge.core.room_vocabulary import File, Heard
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.turn_events import Asked, Perceived
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.mates.prompt_files import PromptFiles
from loopforge.runtime.ports import Question
from tests.models.server import serving
from tests.rooms.conftest import Home, living
from tests.rooms.test_files import give
from tests.still import while_answering


def drawn(sides: tuple[int, int] = (64, 48), colour: str = "olive", kind: str = "PNG") -> bytes:
    """A real picture."""
    written = BytesIO()
    Image.new("RGB", sides, colour).save(written, format=kind)
    return written.getvalue()


def talk(home: Home) -> Question:
    """What a mate asked last in order to answer."""
    return [one for one in home.models.asked if one.schema and "say" in one.schema["properties"]][
        -1
    ]


def shown(question: Question) -> list[tuple[str, str]]:
    """The pictures of a question: the line each stands behind, and its type."""
    return [
        (question.messages[one.message][1].partition("“")[2].partition("”")[0], one.media)
        for one in question.pictures
    ]


async def test_a_model_that_can_see_is_shown_the_picture(home: Home) -> None:
    """The picture stands behind its own line, by the hash of its bytes."""
    home.models.vision = True
    heard = await give(home, "@maya look", ("bed.png", drawn()))
    question = home.models.asked[0]
    assert shown(question) == [("bed.png", "image/png")]
    assert question.pictures[0].hash == str(heard.files[0].hash)
    text = question.messages[question.pictures[0].message][1]
    assert f"the picture that came with the line above: image/png, {len(drawn()):,} bytes" in text
    assert "64 x 48 pixels" in text


async def test_others_are_told_what_is_attached(home: Home) -> None:
    """A model that cannot see learns name, type, bytes and sides, and is shown nothing."""
    await give(home, "@maya look", ("bed.png", drawn()))
    question = home.models.asked[0]
    assert question.pictures == ()
    told = f"the file “bed.png”: [a file that came with the line above: image/png, {len(drawn()):,} bytes"
    assert f"{told}, 64 x 48 pixels; it cannot be read here]" in str(question.messages)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_four_kinds_are_shown(home: Home, kind: str) -> None:
    """PNG, JPEG, GIF and WebP are pictures, whatever the file is called."""
    home.models.vision = True
    await give(home, "@maya look", ("bed", drawn(kind=kind)))
    assert shown(home.models.asked[0]) == [("bed", f"image/{kind.lower()}")]


async def test_the_newest_four_are_shown(home: Home) -> None:
    """Of five, the oldest is told; a fifth one that comes later takes the oldest one's place."""
    home.models.vision, home.models.window = True, 65_536
    four = [(f"{nth}.png", drawn((nth, nth))) for nth in range(1, 5)]
    await give(home, "@maya four", *four)
    assert [name for name, _ in shown(home.models.asked[0])] == [name for name, _ in four]
    await give(home, "@maya one more", ("5.gif", drawn(kind="GIF")))
    asked = talk(home)
    assert [name for name, _ in shown(asked)] == ["2.png", "3.png", "4.png", "5.gif"]
    assert "the file “1.png”: [a file that came with the line above" in str(asked.messages)
    assert "the file “1.png”: [the picture" not in str(asked.messages)


async def test_what_is_too_large_or_says_no_sides_is_told(home: Home) -> None:
    """Over 5 MB, over 8,000 pixels a side, or with a broken head, a picture is only described."""
    home.models.vision = True
    heavy, broken = drawn() + bytes(5_000_000), b"\x89PNG\r\n\x1a\n" + bytes(400)
    await give(home, "@maya a", ("heavy.png", heavy), ("broken.png", broken), ("ok.png", drawn()))
    await give(home, "@maya b", ("long.png", drawn((8001, 1))))
    assert shown(talk(home)) == [("ok.png", "image/png")]
    for name in ("heavy.png", "broken.png", "long.png"):
        assert f"“{name}”: [a file that came" in str(talk(home).messages)


async def test_pictures_together_have_a_bound(home: Home) -> None:
    """Of four that are 4 MB each, the newest three go out: no more than 12 MB together."""
    home.models.vision, home.models.window = True, 65_536
    heavy = [(f"{nth}.png", drawn((nth, 9)) + bytes(3_900_000)) for nth in range(1, 5)]
    await give(home, "@maya look", *heavy)
    assert [name for name, _ in shown(home.models.asked[0])] == ["2.png", "3.png", "4.png"]


async def test_a_picture_takes_room_in_the_window(home: Home) -> None:
    """What is shown is counted by a stated estimate, and only where it is shown."""
    await give(home, "@maya look", ("bed.png", drawn()))
    home.models.vision = True
    await give(home, "@maya and again")
    turns = await home.bodies(Perceived)
    blind, seeing = [turn.tokens for turn in turns if turn.mate == "maya"]
    assert PICTURE_TOKENS < seeing - blind < PICTURE_TOKENS + 200


async def test_the_bytes_go_from_the_home_to_the_model(tmp_path: Path) -> None:
    """From a room of a whole home, a picture's bytes arrive at a server that speaks OpenAI's way."""
    async with serving() as server:
        eyes = {"base_url": f"{server.url}/v1", "vision": True}
        given: dict[str, Any] = {"models": {"eyes": eyes}, "tiers": {"1": ["eyes"]}}
        async with living(tmp_path, None, **given) as home:
            while_answering(home.clock, lambda: server.waiting)
            await give(home, "@maya look", ("bed.png", drawn()))
    asked = [one.body for one in server.asked if one.path.endswith("/chat/completions")]
    assert b64encode(drawn()).decode() in str(asked[0]["messages"])


# ---------------------------------------------------------------- the record


async def asked_of(home: Home) -> list[Event]:
    """Every question of a mate that was recorded."""
    events = await home.events()
    return [e for e in events if isinstance(e.body, Asked) and e.body.purpose == "talk"]


async def test_the_record_holds_the_hash_and_never_the_bytes(home: Home) -> None:
    """A prompt is stored with the picture's name and hash as private words, and its type."""
    home.models.vision = True
    heard = await give(home, "@maya look", ("bed.png", drawn()))
    (event,) = await asked_of(home)
    assert isinstance(event.body, Asked)
    (picture,) = [one for piece in event.body.prompt.more for one in piece.pictures]
    assert (picture.media, picture.size) == ("image/png", len(drawn()))
    assert picture.hash.ref == heard.files[0].hash.ref
    assert not picture.hash.public
    assert not picture.name.public
    stored = encode_body(event.body)
    assert str(heard.files[0].hash).encode() not in stored
    assert b"bed.png" not in stored


async def test_a_turn_with_a_picture_replays(home: Home) -> None:
    """The exchange is the same, to the letter; after an erasure it says erased."""
    home.models.vision = True
    await give(home, "@maya look", ("bed.png", drawn()))
    policies = build_policies(PromptFiles(home.path / "prompts"))
    (event,) = await asked_of(home)
    assert (await replay_turn(home.app.ledger, policies, event.id)).outcome == "same"
    line = next(e for e in await home.events() if isinstance(e.body, Heard))
    await home.app.ledger.erase(ErasureRequest(events=(line.id,), by="owner"))
    assert (await replay_turn(home.app.ledger, policies, event.id)).outcome == "erased"


async def test_the_flight_record_names_the_picture(home: Home) -> None:
    """In the prompt to the letter, a picture stands as what it is."""
    home.models.vision = True
    await give(home, "@maya look", ("bed.png", drawn()))
    (event,) = await asked_of(home)
    assert "[picture: bed.png]" in await home.app.front.why(event.id)


async def test_a_forgotten_picture_is_shown_to_nobody(home: Home) -> None:
    """After an erasure no prompt names it, its bytes are gone, and the chain still verifies."""
    home.models.vision = True
    heard = await give(home, "@maya look", ("bed.png", drawn()))
    line = next(e for e in await home.events() if isinstance(e.body, Heard))
    hash = str(heard.files[0].hash)
    await home.app.ledger.erase(ErasureRequest(events=(line.id,), by="owner"))
    await home.app.keeper.sweep()
    await give(home, "@maya what did you see?")
    asked = talk(home)
    assert asked.pictures == ()
    assert "bed.png" not in str(asked.messages)
    assert not await home.app.artifacts.has(hash)
    assert (await home.app.ledger.verify()).findings == ()


def test_old_lines_and_prompts_are_written_as_before() -> None:
    """A file without sides and a message without pictures have the bytes they always had."""
    file = File(name=public_words("a.png"), size=3, text=public_words(""), media="image/png")
    heard = encode_body(Heard(person="p", text=public_words("look"), files=(file,)))
    assert heard == (
        b'{"type":"room.heard","person":"p","text":"=look","files":'
        b'[{"name":"=a.png","size":3,"text":"=","media":"image/png"}]}'
    )
    prompt: dict[str, Any] = {"more": [{"role": "user", "words": ["=hi"]}]}
    stored = msgspec.json.encode(
        {"type": "turn.asked", "turn": "t", "nth": 1, "purpose": "talk", "prompt": prompt}
    )
    body = msgspec.json.Decoder(Asked, dec_hook=lambda kind, text: Words(text[1:], public=True))
    assert encode_body(body.decode(stored)) == stored
