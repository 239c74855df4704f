"""What Telegram tells that cannot be read, or not be kept: nothing else is lost by it."""

from pathlib import Path
from typing import Any

import pytest

from loopforge.core.room_vocabulary import Heard
from loopforge.errors import LedgerBusy
from tests.telegram.city import City
from tests.telegram.homes import Home, on_telegram, pair


async def heard(home: Home) -> list[str]:
    """What was heard in all rooms."""
    found = [event for room in await home.rooms() for event in await home.events(room)]
    return [str(event.body.text) for event in found if isinstance(event.body, Heard)]


async def test_an_update_that_cannot_be_read(
    tmp_path: Path, city: City, caplog: pytest.LogCaptureFixture
) -> None:
    """It is passed over, what comes after it is heard, and no word of it is logged."""
    maya, ana = await pair(city)
    await city.fault("getUpdates", "spoil")
    await city.say(ana, maya, "a secret word")
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.say(ana, maya, "hello")
        await city.heard(await city.private(ana, maya), by=maya)
        assert await heard(home) == ["hello"]
    assert "an update (message) cannot be read: TypeError" in caplog.text
    assert "secret" not in caplog.text


async def test_a_command_that_cannot_be_done_at_once(
    tmp_path: Path, city: City, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a busy ledger it is told again, and done then."""
    maya, ana = await pair(city)
    async with on_telegram(tmp_path, maya, city.base) as home:
        carry_out, troubles = home.app.front.commands.carry_out, [LedgerBusy("busy")]

        async def troubled(*given: Any, **more: Any) -> str:
            if troubles:
                raise troubles.pop()
            return await carry_out(*given, **more)

        monkeypatch.setattr(home.app.front.commands, "carry_out", troubled)
        await city.command(ana, maya, "stop")
        (answer,) = await city.heard(await city.private(ana, maya), by=maya)
        assert await heard(home) == []
    assert answer.text.startswith("Stopped.")


async def test_a_line_that_cannot_be_kept_at_once(
    tmp_path: Path,
    city: City,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """With a busy ledger it is told again; whatever else goes wrong stops no other line."""
    maya, ana = await pair(city)
    async with on_telegram(tmp_path, maya, city.base) as home:
        hear, troubles = (
            home.app.front.rooms.hear,
            [LedgerBusy("busy"), RuntimeError("a secret word")],
        )

        async def troubled(room: str, line: Heard) -> Any:
            text = str(line.text)
            if text == "one" and len(troubles) == 2:
                raise troubles.pop(0)
            if text == "two" and troubles:
                raise troubles.pop(0)
            return await hear(room, line)

        monkeypatch.setattr(home.app.front.rooms, "hear", troubled)
        for words in ("one", "two", "three"):
            await city.say(ana, maya, words)

        async def both() -> bool:
            return await heard(home) == ["one", "three"]

        await home.until(both)
    assert troubles == []
    assert "taken in by half: RuntimeError in troubled" in caplog.text
    assert "secret" not in caplog.text


async def test_an_account_that_was_deleted_since(
    tmp_path: Path, city: City, caplog: pytest.LogCaptureFixture
) -> None:
    """Telegram has no name for it any more; what it said, and who mentions it, is heard."""
    maya, ana = await pair(city)
    ghost = await city.person("")
    lab = await city.supergroup("Lab", [ana, ghost, maya], admins=[maya])
    user = {"id": ghost.id, "is_bot": False, "first_name": ""}
    mention = {"type": "text_mention", "offset": 0, "length": 6, "user": user}
    async with on_telegram(tmp_path, maya, city.base) as home:
        line = await city.say(ghost, lab, "I am gone")
        await city.react(ghost, line, "🤔")
        await city.say(ana, lab, "@Ghost who is that?", entities=[mention])

        async def both() -> bool:
            return await heard(home) == ["I am gone", "@Ghost who is that?"]

        await home.until(both)
    assert "by half" not in caplog.text
