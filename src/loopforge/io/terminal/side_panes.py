"""What stands beside the transcript and over it: the people who are here, pages, and its bar."""

import re
from collections.abc import Iterator
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from loopforge.chat.room.room_snapshot import MateCard, RoomSnapshot, kaomoji_for
from loopforge.core.mates.mate_colours import colour_code, default_colour
from loopforge.core.mates.pixel_portrait import portrait_pixels
from loopforge.io.terminal.terminal_wording import energy_bar
from loopforge.io.terminal.typed_lines import one_line, safe_for_terminal

ROOMY = 110
"""Columns from which on the side stands open by itself."""


def mate_colour(card: MateCard) -> str:
    """A mate's own colour ("#rrggbb", or a name such as teal), or one made for it."""
    return colour_code(card.colour) or default_colour(card.handle)


def mate_face(card: MateCard) -> str:
    """A mate's own face, or one made for it."""
    return one_line(card.face, 7) or kaomoji_for(card.handle)


def drawn(seed: str, colour: str) -> Content:
    """A portrait as four rows of eight half blocks."""
    pixels = portrait_pixels(seed, colour)
    rows = []
    for upper, lower in zip(pixels[::2], pixels[1::2], strict=True):
        cells: list[str | tuple[str, str]] = []
        for above, below in zip(upper, lower, strict=True):
            if above is None and below is None:
                cells.append(" ")
            elif above is None:
                cells.append(("▄", f"{below}"))
            elif below is None:
                cells.append(("▀", f"{above}"))
            else:
                cells.append(("▀", f"{above} on {below}"))
        rows.append(Content.assemble(*cells))
    return Content("\n").join(rows)


class Side(VerticalScroll, can_focus=False):
    """Who is here: mates with their portraits, people, and where this room lives."""

    def __init__(self) -> None:
        super().__init__(id="side")
        self._shown: object = None

    def show(
        self, scene: RoomSnapshot, here: tuple[str, ...], busy: dict[str, str], *, hosting: bool
    ) -> None:
        """Draw who is here; `busy` says of mates, by handle, what they are doing."""
        key = (scene.mates, scene.people, scene.you, here, tuple(busy.items()), hosting)
        if key == self._shown:
            return
        self._shown = key
        self.remove_children()
        self.mount(Static("MATES", classes="side-head"))
        self.mount_all(self._mate(card, busy.get(card.handle, "")) for card in scene.mates)
        self.mount(Static("PEOPLE", classes="side-head"))
        self.mount(Static(self._people(scene, here), classes="side-people"))
        if hosting:
            text = "This terminal runs the home. When it closes, another one takes over."
            self.mount(Static(text, classes="side-foot"))

    @staticmethod
    def _mate(card: MateCard, doing: str) -> Widget:
        colour = mate_colour(card)
        about = Content.assemble(
            (safe_for_terminal(card.name), f"bold {colour}"),
            (f"\n@{card.handle}", "$quiet"),
            (
                f"\n{doing}" if doing else f"\n{safe_for_terminal(card.role)}",
                "italic" if doing else "$foreground",
            ),
        )
        picture = Static(drawn(card.handle, colour), classes="portrait")
        return Horizontal(picture, Static(about, classes="side-about"), classes="side-mate")

    @staticmethod
    def _people(scene: RoomSnapshot, here: tuple[str, ...]) -> Content:
        lines = []
        for id, name in sorted(scene.people, key=lambda one: (one[0] not in here, one[1])):
            you = (" you", "$quiet") if id == scene.you else ""
            if id in here:
                lines.append(
                    Content.assemble(("● ", "$success"), (name, default_colour(name)), you)
                )
            else:
                lines.append(Content.assemble(("○ ", "$faint"), (name, "$quiet"), you))
        return Content("\n").join(lines)


class WelcomePane(Vertical):
    """The first screen: who is here, what to type, which model answers."""

    def __init__(self, scene: RoomSnapshot) -> None:
        super().__init__(classes="welcome")
        self._scene = scene

    def compose(self) -> ComposeResult:
        """Portraits, then words."""
        scene = self._scene
        yield Static(
            Content.assemble("You are in ", (scene.room, "bold $primary"), "."),
            classes="welcome-head",
        )
        with Horizontal(classes="welcome-mates"):
            for card in scene.mates[:6]:
                yield self._card(card)
        yield Static(self._listed(), classes="welcome-list")
        yield Static(key_hints(), classes="welcome-hints")
        if scene.notice:
            yield Static(Content(safe_for_terminal(scene.notice)), classes="welcome-notice")

    @staticmethod
    def _card(card: MateCard) -> Widget:
        colour = mate_colour(card)
        return Vertical(
            Static(drawn(card.handle, colour), classes="portrait"),
            Static(Content.assemble((safe_for_terminal(card.name), f"bold {colour}"))),
            Static(Content.assemble((one_line(card.role, 44), "$quiet"))),
            classes="welcome-card",
        )

    def _listed(self) -> Content:
        lines = [
            Content.assemble(
                (f"{mate_face(card)} ", mate_colour(card)),
                (safe_for_terminal(card.name), f"bold {mate_colour(card)}"),
                (f"  {one_line(card.role, 60)}", "$quiet"),
            )
            for card in self._scene.mates
        ]
        return Content("\n").join(lines)


def key_hints() -> Content:
    """What to type, in one breath."""
    rows = (
        ("Enter", "says what you typed"),
        ("@", "names one of them"),
        ("/why", "shows why something was said"),
        ("/help", "has the rest"),
    )
    parts: list[str | tuple[str, str]] = []
    for n, (key, does) in enumerate(rows):
        parts += [" · " if n else "", (key, "bold $primary"), f" {does}"]
    return Content.assemble(*parts)


_COLUMNS = re.compile(r"( *)(\S+(?: \S+)*):?  +(?=\S)")


def paged(text: str, *, narrow: bool) -> Iterator[Widget]:
    """Text for a page: of lines in two columns the first is set off; narrow, they are stacked."""
    parts: list[str | tuple[str, str]] = []
    for line in safe_for_terminal(text).split("\n"):
        if line.startswith("── "):
            parts.append((f"{line}\n", "bold $secondary"))
            continue
        columns = _COLUMNS.match(line)
        if columns is None or len(columns[2]) > 28:
            parts.append(f"{line}\n")
            continue
        first, rest = line[: columns.end()], line[columns.end() :]
        if narrow:
            parts += [(f"{first.rstrip()}\n", "bold $primary"), f"{rest}\n"]
            continue
        if parts:
            yield Static(_lines(parts))
            parts = []
        name = Static(Content.assemble((first, "bold $primary")), classes="page-name")
        yield Horizontal(name, Static(Content(rest), classes="page-rest"), classes="page-row")
    if parts:
        yield Static(_lines(parts))


def _lines(parts: list[str | tuple[str, str]]) -> Content:
    """Without the end of the last line: what follows stands in a row of its own."""
    return Content.assemble(*parts)[:-1]


class PageBody(VerticalScroll):
    """What is read on a page; the usual keys scroll it, and those of pagers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("k", "scroll_up", show=False),
        Binding("j", "scroll_down", show=False),
        Binding("b", "page_up", show=False),
        Binding("space", "page_down", show=False),
        Binding("g", "scroll_home", show=False),
        Binding("G", "scroll_end", show=False),
    ]


class OverlayPage(ModalScreen[str]):
    """Something long, to be read at leisure. It ends with "", or with what a key stands for."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,ctrl+c", "dismiss('')", "Close")
    ]
    KEYS = "Esc closes"

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        """A frame with a title and room to scroll."""
        with Vertical(id="page") as frame:
            frame.border_title = one_line(self._title, 70)
            frame.border_subtitle = self.KEYS
            with PageBody(id="page-body"):
                yield from paged(self._text, narrow=self.app.size.width < 64)

    def on_key(self, event: events.Key) -> None:
        """A letter that means nothing here is the next one of a line; the page came over it."""
        if event.is_printable and event.key not in self.active_bindings:
            self._give(event, events.Key(event.key, event.character))

    def on_paste(self, event: events.Paste) -> None:
        """What is pasted is for the line."""
        self._give(event, events.Paste(event.text))

    def _give(self, event: events.Event, again: events.Event) -> None:
        event.stop()
        if self.is_current:
            self.dismiss("")
        self.app.screen_stack[0].query_one("#pen").post_message(again)


class QuestionPage(OverlayPage):
    """What a mate asks leave for, and the keys that answer: the command that each stands for."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss('approve')", "Yes"),
        Binding("a", "dismiss('always')", "Yes, and not asked again"),
        Binding("n", "dismiss('deny')", "No"),
    ]
    KEYS = "y: yes · a: always here · n: no, and why · Esc: not now"


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
