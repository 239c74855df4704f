"""The transcript: what was said, as a column that grows at its foot and can be read upwards.

Entries, marks and notices are widgets; the Transcript keeps them in order, keeps only so many, and
asks for earlier ones when somebody scrolls to the top. Drafts stand below everything else until
the line itself comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

MOST = 500
"""Widgets kept while somebody reads the newest lines."""
FEWEST = 300
"""Widgets left after some were let go."""


class Mark(Widget):
    """A rule across the transcript with a word in it: a day, a boundary, the beginning."""

    def __init__(self, label: str, *, line: str = "─", classes: str = "", when: date | None = None):
        super().__init__(classes=classes)
        self.when = when
        self._label, self._line = label, line

    def render(self) -> Content:
        """The rule, as wide as there is room."""
        room = max(self.size.width - len(self._label) - 2, 2)
        left = room // 2
        return Content(f"{self._line * left} {self._label} {self._line * (room - left)}")


class Notice(Static):
    """Something the room or this terminal says by itself."""

    def __init__(self, text: str, *, classes: str = "") -> None:
        super().__init__(Content(text), classes=f"notice {classes}")


class Entry(Horizontal):
    """One line of somebody: when and which number at the left, who and what at the right.

    `key` is the event's id, or what stands for it while there is none; `seq` its number, 0 for
    none. `follows`: the same one spoke just before, so that the heading is left out. `who` is the
    handle of a mate that is speaking.
    """

    def __init__(
        self,
        *,
        key: str,
        colour: str,
        heading: Content,
        seq: int = 0,
        time: str = "",
        number: str = "",
        follows: bool = False,
        who: str = "",
        classes: str = "",
    ) -> None:
        super().__init__(classes=f"entry {'follows' if follows else 'opens'} {classes}")
        self.key, self.seq, self.who = key, seq, who
        self._heading, self._time, self._number = heading, time, number
        self._follows = follows
        self._quote: Content | None = None
        self._text = Content("")
        self._after: list[Content] = []
        self._gutter = Static(self._margin(), classes="gutter")
        self._main = Static(classes="main")
        self._main.styles.border_left = ("outer", colour)

    def compose(self) -> ComposeResult:
        """The margin and the line."""
        yield self._gutter
        yield self._main

    def fill(self, text: Content, quote: Content | None = None) -> Entry:
        """Set what is said, and what it answers."""
        self._text, self._quote = text, quote
        self._draw()
        return self

    def add(self, more: Content) -> None:
        """Put something below the line (a reaction, why it was taken back)."""
        self._after.append(more)
        self._draw()

    def _margin(self) -> Content:
        lines = [self._number] if self._follows else [self._time, self._number]
        return Content("\n".join(lines))

    def _draw(self) -> None:
        heading = Content.assemble(
            self._heading,
            (f"  {self._time} {self._number}".rstrip(), "$quiet") if self.narrow else "",
        )
        parts = [] if self._follows and not self.narrow else [heading]
        if self._quote is not None:
            parts.append(self._quote)
        parts.append(self._text)
        parts += self._after
        self._main.update(Content("\n").join(part for part in parts if part.plain))

    @property
    def narrow(self) -> bool:
        """Whether there is too little room for a margin."""
        return self.is_attached and self.app.has_class("-narrow")

    def on_mount(self) -> None:
        """Now it is known how much room there is."""
        self._draw()

    def redraw(self) -> None:
        """The room changed."""
        self._draw()


class Transcript(VerticalScroll, can_focus=False):
    """The column. New things go to its foot, drafts below them."""

    class WantsEarlier(Message):
        """Somebody reads at the top; is there more?"""

    class Moved(Message):
        """It was scrolled."""

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self.complete = False
        self._log = Vertical(id="log")
        self._live = Vertical(id="live")
        self._asked = False

    def compose(self) -> ComposeResult:
        """What was said, and what is being said."""
        yield self._log
        yield self._live

    def on_mount(self) -> None:
        """Stay at the foot until somebody scrolls up."""
        self.anchor()

    @property
    def at_foot(self) -> bool:
        """Whether the newest line can be seen."""
        return self.max_scroll_y - self.scroll_y < 2

    def append(self, widgets: Sequence[Widget]) -> None:
        """Put these at the foot, in order."""
        if widgets:
            self._log.mount_all(widgets)

    def begin(self, entry: Widget) -> None:
        """Somebody begins to speak: stand below everything."""
        self._live.mount(entry)

    async def prepend(self, widgets: Sequence[Widget]) -> None:
        """Put these at the top, and keep what is being read where it is."""
        self._asked = False
        if not widgets:
            return
        below = self.virtual_size.height - self.scroll_y
        await self._log.mount_all(widgets, before=0)
        self.call_after_refresh(self._keep_reading, below)

    def _keep_reading(self, below: float) -> None:
        self.scroll_to(y=self.virtual_size.height - below, animate=False, immediate=True)

    def trim(self) -> int:
        """Let the oldest go if there are too many and nobody reads them.

        The number of the first line that stays, or 0 if nothing went.
        """
        kept = list(self._log.children)
        if len(kept) <= MOST or not self.at_foot:
            return 0
        gone, kept = kept[:-FEWEST], kept[-FEWEST:]
        self.complete = False
        self._log.remove_children(gone)
        return next((one.seq for one in kept if isinstance(one, Entry) and one.seq), 0)

    @property
    def first(self) -> Widget | None:
        """What stands at the top."""
        return self._log.children[0] if self._log.children else None

    def entries(self) -> list[Entry]:
        """Every line there is, drafts too."""
        return [*self._log.query(Entry), *self._live.query(Entry)]

    def watch_scroll_y(self, old: float, new: float) -> None:
        """Ask for earlier lines near the top."""
        super().watch_scroll_y(old, new)
        self.post_message(self.Moved())
        if new < old and new < 4 and not self.complete and not self._asked:
            self._asked = True
            self.post_message(self.WantsEarlier())
