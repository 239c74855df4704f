"""Pictures that people give, and voice notes that they record, in a real browser.

A Chromium without a microphone is given one that hums: what it records is a real WebM.
"""

import json
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import expect

from loopforge.core.room_vocabulary import Heard
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from tests.browser.people import Crowd, guest_of, owner_of
from tests.browser.test_shape import RULES, found
from tests.held_clock import HeldClock
from tests.rooms.test_voice_notes import hears
from tests.web.conftest import town
from tests.web.test_avatar_pages import photo

pytestmark = pytest.mark.patient
MICROPHONE = """(() => {
  window.hum = async () => {
    const sound = new AudioContext(), source = sound.createOscillator();
    const to = sound.createMediaStreamDestination();
    source.connect(to);
    source.start();
    return to.stream;
  };
  MediaDevices.prototype.getUserMedia = (wish) => {
    if (JSON.stringify(wish) !== '{"audio":true}') throw new TypeError(JSON.stringify(wish));
    return window.hum();
  };
})()"""
DENIED = "void (window.hum = async () => { throw new DOMException('no', 'NotAllowedError'); })"
PLAYS = """async () => {
  const sound = document.querySelector('.files audio');
  sound.muted = true;
  await sound.play();
  return sound.error === null;
}"""
WINDOWS: tuple[tuple[int, Literal["light", "dark"]], ...] = (
    (1280, "light"),
    (1280, "dark"),
    (320, "dark"),
    (320, "light"),
)
SAID = "Maya, is the sourdough ready?"


async def test_pictures_and_voice_notes(tmp_path: Path, crowd: Crowd) -> None:
    """A picture is there for everybody at once; a note is recorded, sent, written down, answered, played."""
    ears = {"LOOPFORGE_TRANSCRIPTION_MODEL": "ears"}
    pace = HeldClock()
    models = ScriptedModels(hears(ScriptedAnswer(text=SAID, wait=1)), clock=pace)
    async with town(tmp_path, models=models, environ=ears) as site, crowd:
        olu = await owner_of(site, crowd)
        room = await olu.makes_room("Bakery", "maya")
        ben = await guest_of(room, olu, crowd)
        page = olu.page
        await olu.opens("/you")
        photograph = {"name": "me.jpg", "mimeType": "image/jpeg", "buffer": photo()}
        await page.set_input_files("#picture-file", photograph)  # type: ignore[arg-type]
        await olu.clicks("Use this picture")
        await expect(page.get_by_role("button", name="Remove your picture")).to_be_visible()
        await expect(ben.page.locator(".standing .people image")).to_have_count(1)

        await olu.context.add_init_script(MICROPHONE)
        await olu.opens(f"/rooms/{room}")
        await olu.is_in()
        await olu.clicks("Record a voice note")
        await expect(page.locator(".recording .count")).to_have_text("0:01")
        await olu.clicks("Discard")
        await expect(page.locator("#waiting .file")).to_have_count(0)
        await olu.clicks("Record a voice note")
        await expect(page.locator(".recording .count")).to_have_text("0:01")
        assert await found(olu, RULES) == []
        await olu.clicks("Done")
        await expect(page.locator("#waiting .file .name")).to_have_text("voice-note.webm")
        await olu.clicks("Send", exact=True)
        await expect(ben.page.locator(".heard .hearing")).to_have_text("Being written down …")
        assert await found(ben, RULES) == []
        pace.let_go()
        await expect(ben.page.locator(".words.transcribed")).to_have_text(SAID)
        await expect(ben.page.locator(".hearing")).to_have_count(0)
        await olu.hears("Maya")
        assert await ben.page.evaluate(PLAYS)
        (note,) = [e.body for e in await site.events(room) if isinstance(e.body, Heard)]
        assert [(str(file.name), file.media) for file in note.files] == [
            ("voice-note.webm", "audio/webm")
        ]
        await page.evaluate(DENIED)
        await olu.clicks("Record a voice note")
        await expect(page.locator("#problem")).to_contain_text("was not allowed to hear you")
        for width, scheme in WINDOWS:
            await page.set_viewport_size({"width": width, "height": 800})
            await page.emulate_media(color_scheme=scheme)
            for path in (f"/rooms/{room}", "/you", "/mates/maya"):
                await olu.opens(path)
                wrong = [*await olu.sideways(), *await found(olu, RULES)]
                assert wrong == [], json.dumps([path, width, scheme, wrong])
