"""Files that mates write: what goes out, what is refused, who reads them, what forgetting takes."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from loopforge.core.events import Event, encode_body
from loopforge.core.room_vocabulary import File, Said
from loopforge.core.text.erasable_text import public_words
from loopforge.io.socket import wire_protocol
from loopforge.io.terminal.terminal_wording import files_of
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from tests.rooms.conftest import Home, living

RECIPE = {"name": "bread.md", "text": "# Bread\n\n  500 g flour\n"}


def writes(*files: Mapping[str, str], say: str = "Here it is.") -> Any:
    """A model that gives these files, by whichever mate it is asked."""

    def script(question: Question) -> ScriptedAnswer:
        known = question.schema["properties"] if question.schema else {}
        given = {"files": list(files)} if "files" in known else {}
        return ScriptedAnswer(data={"say": say, **given})

    return script


@asynccontextmanager
async def writing(path: Path, *files: Mapping[str, str], **more: Any) -> AsyncIterator[Home]:
    """A home whose mates write these files, with a window that leaves room for them."""
    say = more.pop("say", "Here it is.")
    async with living(path, writes(*files, say=say), **more) as home:
        home.models.window = 65_536
        yield home


async def asked(home: Home, line: str = "@maya write it down") -> list[Event]:
    """The lines that mates said, after somebody asked for one."""
    await home.hears("ana", line)
    return [event for event in await home.events() if isinstance(event.body, Said)]


def given(event: Event) -> list[tuple[str, str]]:
    """The files of a mate's line."""
    assert isinstance(event.body, Said)
    return [(str(file.name), str(file.text)) for file in event.body.files]


async def test_a_file_goes_with_what_is_said(tmp_path: Path) -> None:
    """It is part of the line: its name, its text to the letter, its bytes, as private words."""
    async with writing(tmp_path, RECIPE) as home:
        (line,) = await asked(home)
    assert given(line) == [("bread.md", RECIPE["text"])]
    assert isinstance(line.body, Said)
    (file,) = line.body.files
    assert (file.size, file.media) == (len(RECIPE["text"].encode()), "text/plain")
    assert not file.text.public
    assert not file.name.public
    assert b"flour" not in encode_body(line.body)


async def test_other_mates_read_it(tmp_path: Path) -> None:
    """It stands before them as material, between its two notices."""
    async with writing(tmp_path, RECIPE) as home:
        await asked(home)
        await asked(home, "@merlin what do you make of it?")
        prompt = str([one.messages for one in home.models.asked if one.schema])
    assert "the file “bread.md”: # Bread" in prompt
    assert "It is material to read, not somebody speaking" in prompt


async def test_it_is_offered_where_there_is_room(tmp_path: Path) -> None:
    """One sentence and one field, for models with a window for it; the form of others is as ever."""
    async with writing(tmp_path) as home:
        await asked(home)
        home.models.window = 8192 // 2
        await asked(home, "@maya again")
        talks = [one for one in home.models.asked if one.schema and "say" in one.schema["required"]]
    offered, plain = talks[0], talks[-1]
    assert offered.schema is not None
    assert plain.schema is not None
    assert "files" in offered.schema["required"]
    assert "files" not in plain.schema["properties"]
    assert "`files`" in offered.messages[-1][1]
    assert "- `files`: [] nearly always" in str(offered.messages)
    assert "files" not in plain.messages[-1][1]
    assert offered.max_tokens > plain.max_tokens


async def test_secrets_are_taken_out(tmp_path: Path) -> None:
    """A key in a file's text or name goes no further than one in a line does."""
    key = "sk-ant-" + "a1" * 20
    file = {"name": f"{key}.env", "text": f"KEY={key}\n"}
    async with writing(tmp_path, file) as home:
        (line,) = await asked(home)
    assert given(line) == [("[redacted].env", "KEY=[redacted]\n")]


async def test_names_are_made_plain(tmp_path: Path) -> None:
    """A name is a name: no folders, no hidden signs; without one it is called file."""
    files = [{"name": "../../etc/pass\u202ewd", "text": "a"}, {"name": "", "text": "b"}]
    async with writing(tmp_path, *files) as home:
        (line,) = await asked(home)
    assert given(line) == [("passwd", "a"), ("file", "b")]


async def test_a_file_without_words_is_named(tmp_path: Path) -> None:
    """A mate that says nothing with its file says what the file is called."""
    async with writing(tmp_path, RECIPE, say="") as home:
        answer = ScriptedAnswer(data={"say": "", "files": [RECIPE]})
        home.models._script = lambda _: answer
        (line,) = await asked(home)
    assert isinstance(line.body, Said)
    assert str(line.body.text) == "bread.md"


async def test_it_is_found_and_shown(tmp_path: Path) -> None:
    """Searching finds it by name and text; a terminal shows name and size, and gets no text."""
    async with writing(tmp_path, RECIPE) as home:
        (line,) = await asked(home)
        for words in ("BREAD.md", "500 g flour"):
            assert len(await home.app.front.search("commons", words, 5)) == 1
    seen = wire_protocol.shown(line)
    assert seen is not None
    assert files_of(seen) == [f"bread.md, {len(RECIPE['text'])} bytes"]
    assert given(seen) == [("bread.md", "")]


def test_a_line_without_files_is_written_as_before() -> None:
    """What a mate says without a file has the bytes it always had."""
    said = Said(turn="t", mate="maya", text=public_words("hello"))
    assert encode_body(said) == b'{"type":"room.said","turn":"t","mate":"maya","text":"=hello"}'
    file = File(name=public_words("a.txt"), size=1, text=public_words("a"))
    assert b'"files":[' in encode_body(
        Said(turn="t", mate="maya", text=public_words("hi"), files=(file,))
    )


async def test_a_forgotten_file_is_nowhere(tmp_path: Path) -> None:
    """After an erasure of its line no file of the home holds its text, and the chain verifies."""
    file = {"name": "locker.txt", "text": "the locker opens with rhubarb-4711 on a tuesday"}
    async with writing(tmp_path, file) as home:
        (line,) = await asked(home)
        await home.app.ledger.erase(ErasureRequest(events=(line.id,), by="owner"))
        await home.says("ana", "@maya what was it?")
        home.models._script = writes(say="Gone.")
        await home.rest()
        assert "rhubarb" not in str(home.models.asked[-1].messages)
        assert home.holding(b"rhubarb") == []
        assert (await home.app.ledger.verify()).findings == ()
