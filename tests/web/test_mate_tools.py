"""A mate's tools as switches on its page, and what its file says then."""

import re

import pytest

from loopforge.mates.mate_editing import select_tool_entries, with_tools
from tests.web.conftest import Guest, Town

HEAD = "---\nname: Maya\n{tools}role: r # as ever\n---\nYou are Maya.\n"


@pytest.mark.parametrize(
    "before",
    ["", "tools: [clock]\n", "tools:\n  - clock\n  - 'x_*'\n", "tools: [clock,\n  dice]\n"],
)
def test_only_the_tools_of_a_file_are_changed(before: str) -> None:
    """Whatever way they stood there, they stand in one line now, and all else is as it was."""
    text = HEAD.format(tools=before)
    made = with_tools(text, ["clock", "github_*"])
    assert 'tools: [clock, "github_*"]\n' in made
    assert made.replace('tools: [clock, "github_*"]\n', "") == HEAD.format(tools="")
    assert with_tools(made, []) == HEAD.format(tools="")


@pytest.mark.parametrize(
    ("entries", "wanted", "tools"),
    [
        (["clock"], {"clock", "shell"}, ["clock", "shell"]),
        (["*"], {"clock", "shell", "git_log"}, ["*"]),
        (["*"], {"clock", "git_log"}, ["clock", "git_log"]),
        (["git_*", "far_away"], {"git_log", "clock"}, ["git_*", "far_away", "clock"]),
        (["git_*", "clock"], set(), []),
    ],
)
def test_what_is_wanted_is_what_a_file_says(
    entries: list[str], wanted: set[str], tools: list[str]
) -> None:
    """A pattern stays while all it fits are wanted; a tool that is not here just now stays."""
    assert select_tool_entries(entries, ["clock", "shell", "git_log"], wanted) == tools


def base_in(page: str) -> str:
    """What the file came to when the page was made."""
    found = re.search(r'name="base" value="([^"]*)"', page)
    assert found
    return found[1]


async def test_the_owner_switches_tools(site: Town, owner: Guest) -> None:
    """Ticked ones are in its file; a page that is out of date changes nothing; guests see none."""
    page = (await owner.get("/mates/maya")).text
    base = base_in(page)
    assert 'value="shell">' in page
    done = await owner.post("/mates/maya/tools", {"base": base, "tools": ["clock", "shell"]})
    assert 'value="clock" checked>' in done.text
    assert 'value="shell" checked>' in done.text
    assert site.app.roster.get("maya").tools == ("clock", "shell")
    late = await owner.post("/mates/maya/tools", {"base": base, "tools": ["calculator"]})
    assert "changed" in late.text
    assert site.app.roster.get("maya").tools == ("clock", "shell")
    bare = await owner.post("/mates/maya/tools", {"base": base_in(late.text)})
    assert "checked" not in bare.text.partition('id="tools"')[2]
    assert "tools:" not in (site.path / "mates" / "maya.md").read_text()
    room = await site.room(owner, "Tools", "maya")
    ben = await site.guest("ben", room, by=owner)
    assert "Save its tools" not in (await ben.get("/mates/maya")).text
    refused = await ben.post("/mates/maya/tools", {"base": base, "tools": ["shell"]})
    assert refused.status_code in (403, 404)
