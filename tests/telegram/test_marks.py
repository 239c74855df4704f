"""Marks on lines whose answers are late, lost, or from before a restart, on Telegram."""

import json
from pathlib import Path

from loopforge.io.platforms.surface_options import SurfaceOptions
from tests.telegram.city import City
from tests.telegram.homes import hall, on_telegram, pair

STILL = SurfaceOptions(streams=False)


async def signs(city: City) -> list[str]:
    """The reactions that bots put, in order; "" where one was taken off."""
    calls = await city.calls("setMessageReaction")
    reactions = [json.loads(call.params.get("reaction", "[]")) for call in calls if call.done]
    return ["".join(each["emoji"] for each in reaction) for reaction in reactions]


async def marked(city: City, *wanted: str) -> None:
    """Wait until these were put, and look that they were put in this order."""

    async def so_many() -> bool:
        return len(await signs(city)) >= len(wanted)

    await city.until(so_many)
    assert await signs(city) == list(wanted)


async def test_a_line_whose_answer_waits_says_so(tmp_path: Path, city: City) -> None:
    """While Telegram asks for patience the line bears the thinking face, then that of arrival."""
    maya, ana = await pair(city)
    async with on_telegram(tmp_path, maya, city.base, manners=STILL):
        await city.fault("sendMessage", "flood", retry_after=1)
        await city.fault("sendMessage", "hold")
        await city.say(ana, maya, "hello")
        await marked(city, "👀", "🤔")
        await city.release()
        await marked(city, "👀", "🤔", "👌")


async def test_the_emoji_of_a_mate_stays(tmp_path: Path, city: City) -> None:
    """A mate that answers by an emoji alone has it on the line, and no mark takes its place."""
    maya, ana = await pair(city)
    answer = {"say": "", "react": "👍", "mode": "context", "narrative": "I am glad."}
    async with on_telegram(tmp_path, maya, city.base, script=lambda _: answer, manners=STILL):
        await city.say(ana, maya, "thank you")
        await city.until(lambda: _put(city, "👍"))
        await city.say(ana, maya, "good night")
        await city.until(lambda: _put(city, "👍", times=2))
    assert [sign for sign in await signs(city) if sign not in ("👀", "")] == ["👍", "👍"]
    assert (await signs(city))[-1] == "👍"


async def _put(city: City, emoji: str, times: int = 1) -> bool:
    return (await signs(city)).count(emoji) >= times


async def test_a_line_whose_answer_is_lost_after_all(tmp_path: Path, city: City) -> None:
    """An answer that waited and is refused in the end marks its line as failed."""
    maya, ana = await pair(city)
    why = "Bad Request: message can't be shown"
    async with on_telegram(tmp_path, maya, city.base, manners=STILL):
        await city.fault("sendMessage", "flood", retry_after=1)
        await city.fault("sendMessage", "refuse", code=400, description=why)
        await city.say(ana, maya, "hello")
        await marked(city, "👀", "🤔", "💔")


async def test_a_line_from_before_a_restart_is_marked(tmp_path: Path, city: City) -> None:
    """What was said before the home ended, and arrives after it began anew, marks its line."""
    maya, ana, lab = await hall(city)
    async with on_telegram(tmp_path, maya, city.base, manners=STILL):
        await city.fault("sendMessage", "flood", retry_after=600)
        await city.say(ana, lab, "maya, hello")
        await marked(city, "👀", "🤔")
    async with on_telegram(tmp_path, maya, city.base, manners=STILL):
        await city.heard(lab, by=maya)
        await marked(city, "👀", "🤔", "👌")


async def test_a_mark_that_could_not_be_put(tmp_path: Path, city: City) -> None:
    """A mark that Telegram did not take is put when the next thing arrives there."""
    maya, ana = await pair(city)
    why = "Bad Request: message can't be shown"
    async with on_telegram(tmp_path, maya, city.base, manners=STILL):
        await city.fault("sendMessage", "refuse", code=400, description=why)
        await city.fault("sendMessage", "hold")
        await city.fault("setMessageReaction", "before", skip=1)
        await city.say(ana, maya, "hello")
        await city.until(lambda: refused(city))
        await city.release()
        await marked(city, "👀", "💔")


async def refused(city: City) -> bool:
    """Whether a mark was refused."""
    return any(call.fault for call in await city.calls("setMessageReaction"))
