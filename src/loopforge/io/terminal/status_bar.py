"""The bar above the transcript: which room this is, and how much energy it has."""

from textual.content import Content
from textual.widget import Widget

from loopforge.chat.room.room_snapshot import RoomSnapshot
from loopforge.io.terminal.terminal_wording import energy_bar
from loopforge.io.terminal.typed_lines import one_line


class RoomBar(Widget):
    """The line at the top: which room, its title, its energy, whether it is stopped."""

    def __init__(self) -> None:
        super().__init__(id="bar")
        self.scene = RoomSnapshot(room="")

    def show(self, scene: RoomSnapshot) -> None:
        """Draw another scene."""
        self.scene = scene
        self.refresh()

    def render(self) -> Content:
        """Left who we are, right how much is left."""
        scene, width = self.scene, self.size.width
        if not scene.room:
            return Content.assemble((" ✦ ", "$primary"), ("Loopforge", "bold"))
        right = self._energy(wide=width >= 60)
        room = Content.assemble((" ✦ ", "$primary"), (scene.room, "bold $primary"))
        space = width - right.cell_length - room.cell_length - 6
        title = one_line(scene.title, max(space, 0)) if space > 8 else ""
        left = Content.assemble(room, (f"  {title}", "$foreground") if title else "")
        gap = max(width - left.cell_length - right.cell_length - 1, 1)
        return Content.assemble(left, " " * gap, right)

    def _energy(self, *, wide: bool) -> Content:
        scene = self.scene
        bar = energy_bar(scene.energy, scene.capacity)
        full = bar.count("▮")
        stopped = ("■ stopped  ", "bold $error") if scene.stopped else ""
        colour = "$success" if scene.energy * 3 > scene.capacity else "$warning"
        if scene.stopped or not scene.energy:
            colour = "$quiet"
        parts: list[str | tuple[str, str]] = [stopped]
        if wide:
            parts.append(("energy ", "$quiet"))
        parts += [(bar[:full], colour), (bar[full:], "$faint")]
        if wide:
            parts.append((f" {scene.energy}/{scene.capacity}", "$quiet"))
        return Content.assemble(*parts)
