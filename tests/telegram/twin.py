"""A twin of Telegram's Bot API on loopback.

In a test (the fixtures `twin` and `city` are in conftest.py; any other folder's conftest.py may
import them):

    async def test_it(twin: Twin, city: City) -> None:
        aria = await city.bot("Aria", "aria_bot", reads_all=True)
        ana = await city.person("Ana", "ana")
        app = (Application.builder().token(aria.token)
               .base_url(twin.base + "/bot").base_file_url(twin.base + "/file/bot").build())
        ...
        lab = await city.supergroup("Lab", [ana, aria], forum=True)
        topic = await city.topic(ana, lab, "Plans")
        line = await city.say(ana, lab, "hello @aria_bot", topic=topic)
        await city.say(ana, aria, "in private", document=("a.txt", b"bytes"))
        await city.fault("sendMessage", "after")      # done, but the client gets 502
        answer, = await city.heard(lab, by=aria)      # waits for the first line of the bot
        assert answer.reply == line.key
        assert await city.doubled() == []
        calls = await city.calls("sendMessage")

In a process of its own, so that the process under test (or the twin's client) may be killed:

    async with elsewhere() as (base, city): ...       # tests.telegram.elsewhere; the same City

which runs `python -m tests.telegram.twin`; that prints one line of JSON {"base": "http://..."},
takes commands as POST {base}/control/{command} with a JSON object, and ends with its stdin.
"""
