"""A stranger's policy, tool and settings, installed beside Loopforge, are used like the built-in ones."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopforge.core.events import Erased, Event
from loopforge.errors import BadSettings
from loopforge.home import example
from loopforge.io.platforms.surface_plugin import surfaces_of
from loopforge.setting_defaults import Settings
from loopforge.settings import load_settings
from loopforge.sinks.sink_plugin import EventOutlet, sinks_of
from tests.rooms.conftest import living

MODULE = """
from loopforge import AgentActionPlan, call
from loopforge.core.policy import Mind
from loopforge.core.room_vocabulary import Say
from loopforge.runtime.ports import Tool


def parrot(seen):
    result = yield from call("bell", {})
    text = f"{seen.lines[-1].text} ({result.outcome} {result.value})"
    return AgentActionPlan(intent="talk", mode="context", acts=(Say(text=text),))


MIND = Mind("parrot/1", lambda prompts: parrot)


class Bell:
    tool = Tool(name="bell", summary="Rings.")

    def make(self, home):
        async def ring(call):
            return "ding"

        return ring


bell = Bell()
"""
DECLARED = """
from dataclasses import dataclass
from loopforge.io.platforms.surface_plugin import SurfacePlugin
from loopforge.runtime.plugins.setting_declarations import setting


@dataclass(frozen=True, kw_only=True)
class BellSettings:
    port: int = setting(7000, "Where the bell listens.", least=0, most=65_535)


SURFACE = SurfacePlugin(title="The bell", make=lambda parts: None, settings=BellSettings)
"""


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[None]:
    """A distribution with one policy and one tool, on the import path."""
    about = tmp_path / "stranger-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1\n")
    (about / "entry_points.txt").write_text(
        "[loopforge.policies]\nparrot = stranger_parrot:MIND\n"
        "[loopforge.tools]\nbell = stranger_parrot:bell\n"
        "[loopforge.surfaces]\nbell = stranger_bell:SURFACE\n"
    )
    (tmp_path / "stranger_parrot.py").write_text(MODULE)
    (tmp_path / "stranger_bell.py").write_text(DECLARED)
    sys.path.insert(0, str(tmp_path))
    yield
    sys.path.remove(str(tmp_path))
    for name in ("stranger_parrot", "stranger_bell"):
        sys.modules.pop(name, None)


async def test_a_strangers_policy_and_tool_are_used(stranger: None, tmp_path: Path) -> None:
    """A room can choose an installed policy; it may call the tools its mate's file grants."""
    async with living(tmp_path / "home") as home:
        mate = home.path / "mates" / "maya.md"
        mate.write_text(mate.read_text().replace("[clock]", "[bell]"))
        await home.enter("ana")
        await home.does("ana", "policy", "parrot")
        await home.hears("ana", "@maya hello")
        assert (await home.lines())[-1] == "maya: @maya hello (returned ding)"


def test_a_strangers_settings_are_in_the_one_table(stranger: None, tmp_path: Path) -> None:
    """They are read, checked, refused and shown like ours, under the plugin's name."""
    home = tmp_path / "home"
    home.mkdir()
    file = home / "loopforge.toml"

    def port(text: str, **environ: str) -> object:
        file.write_text(text)
        return surfaces_of(load_settings(home, environ=environ))["bell"].options.port

    assert port("") == 7000
    assert port("bell_port = 7001") == 7001
    assert port("bell_port = 7001", LOOPFORGE_BELL_PORT="7002") == 7002
    with pytest.raises(BadSettings, match="must be a whole number from 0 to 65,535"):
        port("bell_port = 70000")
    with pytest.raises(BadSettings, match=r"Did you mean `bell_port`\?"):
        port("bell_prot = 7001")
    assert "The bell" in example()
    assert "#bell_port = 7000" in example()


@pytest.mark.parametrize("text", ["import nothing_like_it", "raise SystemExit('no bell here')"])
def test_a_plugin_that_cannot_be_loaded_is_named(stranger: None, tmp_path: Path, text: str) -> None:
    """Whose package is broken is said, and what to do; also where it wants to end the program."""
    (tmp_path / "stranger_bell.py").write_text(text)
    with pytest.raises(BadSettings, match=r"'bell' of stranger cannot be loaded .* uninstall"):
        load_settings(tmp_path, environ={})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('setting(7000, "Where the bell listens.", least=0, most=65_535)', "7000"),
        ("settings=BellSettings", "settings=int"),
        ("SURFACE = SurfacePlugin", "SURFACE = dict"),
    ],
)
def test_a_plugin_whose_settings_are_none_is_named(
    stranger: None, tmp_path: Path, old: str, new: str
) -> None:
    """In a sentence that says what settings are; a plain field of a dataclass is none."""
    (tmp_path / "stranger_bell.py").write_text(DECLARED.replace(old, new))
    with pytest.raises(BadSettings, match=r"'bell' of loopforge.surfaces declares no settings \("):
        load_settings(tmp_path, environ={})


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            'Mind("parrot/1", lambda prompts: parrot)',
            "parrot",
            r"'parrot' of loopforge.policies is no mind, .* uninstall",
        ),
        ("parrot/1", "/1", "'parrot' of loopforge.policies is no mind"),
        ("parrot/1", "talk/9", "are called 'talk'. Give one another"),
        ("lambda prompts: parrot", "lambda prompts: 1 / 0", "'parrot' of loopforge.policies fails"),
        (
            "lambda prompts: parrot",
            "lambda prompts: exit(3)",
            "'parrot' of loopforge.policies fails",
        ),
        (
            "        async def ring",
            "        1 / 0\n\n        async def ring",
            "'bell' of loopforge.tools",
        ),
        ('name="bell"', 'name="ring it!"', "'bell' of loopforge.tools calls its tool 'ring it!'"),
        ('name="bell"', 'name="clock"', "called 'clock'. Give one another"),
        ('name="bell"', 'name="recall"', "called 'recall'. Give one another"),
        *(
            ("bell = Bell()", f"bell = {tool}", "is no tool: ")
            for tool in ("5", "Bell.make", "dict")
        ),
    ],
)
async def test_what_cannot_be_used_is_named(
    stranger: None, tmp_path: Path, old: str, new: str, why: str
) -> None:
    """In a sentence that says what to do; nothing takes the place of another unseen."""
    assert old in MODULE
    (tmp_path / "stranger_parrot.py").write_text(MODULE.replace(old, new))
    with pytest.raises(BadSettings, match=why):
        async with living(tmp_path / "home"):
            pass


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
PAGE = (Path(__file__).parents[1] / "docs" / "surfaces.md").read_text("utf-8")
SHELF = next(
    code for code in PAGE.split("```python\n")[1:] if code.startswith('"""loopforge_shelf')
)
SHELF = SHELF.partition("```")[0]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("async def close", "async def end", "has neither `had` and `put` nor `most`, `send` and"),
        ("return Shelf(home / choice.path)", "return 5", "has neither `had` and `put` nor"),
        ("most = 50", "most = 0", "takes 0 events at once"),
    ],
)
def test_what_is_no_sink_is_named(
    stranger: None, tmp_path: Path, old: str, new: str, why: str
) -> None:
    """At the start, in a sentence; it was tried again for ever, and only the log said so."""
    assert old in SHELF
    settings = shelved(tmp_path, SHELF.replace(old, new))
    with pytest.raises(BadSettings, match=f"'shelf' of loopforge.sinks makes no sink: it {why}"):
        sinks_of(settings)


async def test_the_sink_of_the_documents_takes_what_happens(stranger: None, tmp_path: Path) -> None:
    """As it stands in docs/surfaces.md: lines of events, in the file that its setting names."""
    (one,) = sinks_of(shelved(tmp_path, SHELF))
    assert isinstance(one.sink, EventOutlet)
    body = Erased(refs=(), by="ana")
    await one.sink.send(
        [
            Event(stream="task:7", seq=n, id=str(n), at=NOON, actor="ana", cause="", body=body)
            for n in (1, 2)
        ]
    )
    lines = "task:7 1 ledger.erased\ntask:7 2 ledger.erased\n"
    assert (tmp_path / "shelf.txt").read_text() == lines


def shelved(home: Path, module: str) -> Settings:
    """The settings of a home that wants the sink of this module."""
    entries = home / "stranger-1.dist-info" / "entry_points.txt"
    entries.write_text("[loopforge.sinks]\nshelf = stranger_bell:SINK\n")
    (home / "stranger_bell.py").write_text(module)
    (home / "loopforge.toml").write_text('shelf_path = "shelf.txt"\n')
    return load_settings(home, environ={})


def test_a_plugin_with_the_name_of_another_is_named(stranger: None, tmp_path: Path) -> None:
    """Which of two would win is not left to the order of folders."""
    entries = tmp_path / "stranger-1.dist-info" / "entry_points.txt"
    entries.write_text("[loopforge.sinks]\njsonl = stranger_parrot:bell\n")
    with pytest.raises(BadSettings, match=r"both have a plugin 'jsonl' .* Uninstall one"):
        load_settings(tmp_path, environ={})
