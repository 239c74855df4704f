"""The tools that mates can be given: built in, described by files, of MCP servers; what is amiss.

The owner asks a server anew for its tools, and takes those that it describes otherwise than before.
"""

from typing import Any

from litestar import Response, get, post
from litestar.response import Template

from loopforge.errors import Unknown
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.admin.first_steps import redirect_with_note
from loopforge.web.rendering.tool_groups import group_tools
from loopforge.web.server.flash_messages import FlashMessages
from loopforge.web.server.page_context import Asked, Fields, PageContext, render_page

PLACE = "/admin/tools"


@get(PLACE)
async def tools(request: Asked, site: PageContext, owner: Visitor, told: str = "") -> Template:
    """All of them, how it stands with the servers, and what was done."""
    notes: FlashMessages = request.app.state["notes"]
    servers = site.tools.servers.views()
    written = site.tools.written.known()
    theirs = {tool.name for one in servers for tool in one.tools} | {one.name for one in written}
    kinds = group_tools(tool for tool in site.tools.known() if tool.name not in theirs)
    flaws = (*site.tools.flaws, *site.tools.written.flaws)
    said = notes.read(owner.person, told)
    more: dict[str, Any] = {"servers": servers, "kinds": kinds, "flaws": flaws, "told": said}
    more["written"] = written
    return render_page("admin-tools.html", owner, here="admin", section="tools", **more)


@post("/admin/tools/{name:str}/revoke", status_code=200)
async def revoke_tool(
    request: Asked, site: PageContext, owner: Visitor, name: str, data: Fields
) -> Response[str]:
    """Take back a tool that a mate wrote."""
    del data
    number = site.tools.written.take_back(name).number
    return redirect_with_note(request, owner, f"{name}, version {number}, is taken back.", PLACE)


@post("/admin/tools/{name:str}/{verb:str}")
async def change_server(
    request: Asked, site: PageContext, owner: Visitor, name: str, verb: str, data: Fields
) -> Response[str]:
    """Ask a server for its tools (`list`), or take them as it describes them now (`accept`)."""
    del data
    servers = site.tools.servers
    if name not in {one.name for one in servers.views()} or verb not in ("list", "accept"):
        raise Unknown("There is no such MCP server here any more.")
    if verb == "accept":
        taken = ", ".join(servers.accept(name))
        said = f"Taken as described now: {taken}." if taken else "Nothing had changed."
    else:
        await servers.learn(anew=True, only=name)
        one = next(view for view in servers.views() if view.name == name)
        said = one.flaws[0] if one.flaws else f"{name} has {len(one.tools)} tools."
    return redirect_with_note(request, owner, said, PLACE)
