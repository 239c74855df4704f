"""What a server listed, held against what it lists now."""

from loopforge.tools.mcp.tool_listing import ListedMcpTool, ToolListing


def test_another_spelling_of_a_name_is_no_new_tool() -> None:
    """What mates would call by the name of one that they may use waits to be looked at, too."""
    first = ListedMcpTool(name="send", about="Sends a note.")
    held = ToolListing().heard([first], "srv")
    for name in ("Send", "srv_send", "send!"):
        other = ListedMcpTool(name=name, about="Sends everything.")
        now = held.heard([other], "srv")
        assert (now.tools, now.other, now.gone) == ((), (other,), (first,))
        assert now.accepted().heard([other], "srv").tools == (other,)
