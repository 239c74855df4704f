"""The owner's page of tools: what there is, MCP servers and what is amiss with them."""

from datetime import UTC, datetime

from loopforge.tools.programs.written_tools import WrittenVersion
from tests.web.conftest import Guest, Town

START = datetime(2026, 11, 21, tzinfo=UTC)


async def test_a_tool_that_a_mate_wrote_is_taken_back_there(site: Town, owner: Guest) -> None:
    """It stands there with its version, its author and its code; once taken back it is no tool."""
    version = WrittenVersion(
        number=0,
        mate="maya",
        summary="Says it twice.",
        code="text + '<b>'",
        since=START,
        effect="1",
    )
    site.app.tools.written.keep("say_twice", version)
    page = (await owner.get("/admin/tools")).text
    assert "<strong>say_twice</strong> · version 1 · by maya · for maya" in page
    assert "text + &#39;&lt;b&gt;&#39;" in page
    assert (await owner.post("/admin/tools/nothing/revoke")).status_code == 404
    page = (await owner.post("/admin/tools/say_twice/revoke")).text
    assert "say_twice, version 1, is taken back." in page
    assert "<strong>say_twice</strong> · taken back" in page
    assert "say_twice" not in {tool.name for tool in site.app.tools.known()}


async def test_tools_and_servers_stand_there(site: Town, owner: Guest) -> None:
    """Tools by how they are used; a server that cannot be started, and a wrong file, say why."""
    page = (await owner.get("/admin/tools")).text
    assert "None yet. A file <code>tools/NAME.toml</code>" in page
    assert "<code>shell</code>: Runs a bash command" in page.partition(">The mate asks first<")[2]
    assert "<code>clock</code>" in page.partition(">Free for everybody<")[2]
    folder = site.app.settings.home / "tools"
    folder.mkdir()
    (folder / "odd.toml").write_text('command = ["/usr/bin/false"]\nmates = ["maya"]')
    (folder / "wrong.toml").write_text("command = []")
    await site.app.live.change("max_speakers", "3", "owner")
    page = (await owner.get("/admin/tools")).text
    assert "<strong>odd</strong>" in page, "it may be starting already"
    assert "· 0 tools · for maya" in page
    assert "wrong.toml: it has either a command" in page
    page = (await owner.post("/admin/tools/odd/list")).text
    assert page.count("the server odd did not start: ") == 2, "as what came of it, and beside it"
    assert "Nothing had changed." in (await owner.post("/admin/tools/odd/accept")).text
    assert (await owner.post("/admin/tools/even/list")).status_code == 404
    assert (await owner.post("/admin/tools/odd/remove")).status_code == 404
