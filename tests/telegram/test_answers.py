"""Answers to commands on Telegram: a long one is a message and a file; what met one is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.telegram.city import City
from tests.telegram.homes import on_telegram
from tests.telegram.twin import Twin

pytestmark = pytest.mark.anyio


async def test_why_is_one_message_and_a_file(tmp_path: Path, twin: Twin, city: City) -> None:
    """However long the record of a line is, it comes as its beginning and a file with all of it."""
    maya = await city.bot("Maya", "maya_bot")
    ana = await city.person("Ana", "ana")
    async with on_telegram(tmp_path, {"TELEGRAM_TOKEN_MAYA": maya.token}, twin.base):
        chat = await city.private(ana, maya)
        await city.say(ana, maya, "hello " * 600)
        await city.heard(chat, by=maya)
        await city.command(ana, maya, "why")
        _, words, upload = await city.heard(chat, by=maya, count=3)
        assert words.text.endswith("…")
        assert upload.paper is not None
        assert upload.paper.size > len(words.text)
        assert len(await city.lines(chat, by=maya)) == 3


async def test_what_an_answer_met_is_said(
    tmp_path: Path, twin: Twin, city: City, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a group it is said why an answer for one person alone did not get to them."""
    monkeypatch.setenv("PTB_TIMEDELTA", "1")
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana = await city.person("Ana", "ana")
    lab = await city.supergroup("Lab", [ana, maya])
    async with on_telegram(tmp_path, {"TELEGRAM_TOKEN_MAYA": maya.token}, twin.base):
        chat = await city.private(ana, maya)
        await city.say(ana, lab, "maya, hello")
        await city.heard(lab, by=maya)
        await city.fault("sendMessage", "flood", retry_after=9, chat=chat)
        await city.command(ana, lab, "why")
        said = (await city.heard(lab, by=maya, count=2))[1].text
        assert said.startswith("The answer could not be sent to you: Telegram asks for 9 s")
